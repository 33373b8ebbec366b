"""Detects two processors with one application id and different state, which would write every result twice.

Each commit of positions has metadata: the id of the topic that they belong to, and a claim, which says to which state
they belong, and which process writes them. While a processor is idle, it commits one position every few seconds. A
start that finds the claim of other state waits until this has not changed for some time. Processes with the same state
are kept apart by its lock.
"""

from __future__ import annotations

import json
import socket
import uuid
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.ports import GroupPositions

RENEWED_MS = 5_000
"""A running processor renews its claim at least this often."""
EXPIRES_MS = 15_000
"""A claim that has not changed for this time belongs to a processor that has ended without a stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Who commits the positions of a group."""

    state: str
    """The id of the state directory."""
    process: str
    """A random id of the process."""
    host: str
    since_ms: int
    """When the process began, in milliseconds since 1970 UTC."""
    at_ms: int
    """When the claim was made."""

    def yields_to(self, other: Claim) -> bool:
        """Whether the process of this claim began after the process of the other one."""
        return (self.since_ms, self.process) > (other.since_ms, other.process)


_TOPIC_ID = "topic_id"


def metadata_of(topic_id: str, claim: Claim | None) -> str:
    """The metadata of positions in a topic, some 200 bytes: brokers accept 4,096 (`offset.metadata.max.bytes`).

    Args:
        topic_id: of the topic; empty if it is not known.
        claim: of the process; None if it ends.
    """
    fields = {**({} if claim is None else asdict(claim)), **({_TOPIC_ID: topic_id} if topic_id else {})}
    return json.dumps(fields, separators=(",", ":")) if fields else ""


def claim_of(text: str) -> Claim | None:
    """The claim in the metadata of a position; None if it has none."""
    try:
        return Claim(**{name: value for name, value in _fields(text).items() if name != _TOPIC_ID})
    except TypeError:
        return None


def topic_id_of(text: str) -> str:
    """The id of the topic in the metadata of a position; empty if it has none."""
    topic_id = _fields(text).get(_TOPIC_ID)
    return topic_id if isinstance(topic_id, str) else ""


def _fields(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


class StateId(Protocol):
    """The id of a state directory; see `StateDir`."""

    def id(self) -> str | None: ...

    def new_id(self) -> str: ...


class GroupClaims:
    """The claims of the consumer group of a processor.

    Args:
        app_id: the application id, which is the group.
        brokers: the brokers.
        state: the state directory, which gets an id with the first claim.
        now_ms: the wall clock.
    """

    def __init__(self, app_id: str, brokers: GroupPositions, state: StateId, now_ms: Callable[[], int]) -> None:
        self._app_id = app_id
        self._brokers = brokers
        self._state = state
        self._now_ms = now_ms
        self._process = uuid.uuid4().hex
        self._since_ms = now_ms()
        self._seen: frozenset[Claim] = frozenset()
        self._seen_ms = now_ms()

    def own(self) -> Claim:
        """A new claim of this process."""
        return Claim(
            state=self._state.id() or self._state.new_id(),
            process=self._process,
            host=socket.gethostname(),
            since_ms=self._since_ms,
            at_ms=self._now_ms(),
        )

    def check_start(self, partitions: Iterable[Partition]) -> None:
        """Check that no processor with other state runs. The start is repeated after an error.

        Raises:
            LsqlError: APP_ID_IN_USE, until the claim of the other one has not changed for EXPIRES_MS; an error of the
                brokers or of the state directory.
        """
        others = self._others(partitions)
        if others - self._seen:
            self._seen, self._seen_ms = others, self._now_ms()
        if others and self._now_ms() - self._seen_ms < EXPIRES_MS:
            raise self._in_use(max(others, key=lambda claim: claim.at_ms))

    def check_running(self, partitions: Iterable[Partition]) -> None:
        """Check that no processor with other state has begun before this one, and runs.

        Raises:
            LsqlError: APP_ID_IN_USE; an error of the brokers or of the state directory.
        """
        own = self.own()
        for other in self._others(partitions) - self._seen:
            if own.yields_to(other):
                raise self._in_use(other)

    def _others(self, partitions: Iterable[Partition]) -> frozenset[Claim]:
        state = self._state.id()
        texts = set(self._brokers.group_metadata(self._app_id, partitions).values())
        return frozenset(claim for claim in map(claim_of, texts) if claim is not None and claim.state != state)

    def _in_use(self, other: Claim) -> LsqlError:
        return LsqlError("APP_ID_IN_USE", app=self._app_id, host=other.host)
