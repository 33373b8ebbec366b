"""The processor as its REST API sees it. The supervisor is one; tests of the API bring their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from lsql_runner.runtime.health import Health
from lsql_runner.runtime.last_hour import Sample
from lsql_runner.runtime.status import Status


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """A state store of the plan, whether it holds rows yet or not."""

    name: str
    query: str
    key_type: str
    value_type: str


@dataclass(frozen=True, slots=True)
class Identity:
    """What does not change while the process lives."""

    app_id: str
    sql: str
    user: str
    version: str
    guarantee: str
    """`at_least_once` or `exactly_once`: what the sink promises."""
    runners: int = 1
    started_at_ms: int = 0


@dataclass(frozen=True, slots=True)
class Described:
    """What is known once the program is bound to its topics; empty before."""

    stores: tuple[StoreInfo, ...] = ()
    topology: dict[str, Any] = field(default_factory=dict)
    """`{"nodes": [{"id", "kind", "label", "detail"}], "edges": [{"from", "to"}]}`."""
    plan: str = ""
    """The plan as `lsql explain` prints it."""


class Processor(Protocol):
    """One processor."""

    @property
    def identity(self) -> Identity: ...

    @property
    def described(self) -> Described: ...

    def status(self) -> Status: ...

    def health(self) -> Health: ...

    def last_hour(self, now_ms: int) -> tuple[Sample, ...]:
        """A sample for each ten seconds of the last hour, oldest first; none from before the process began."""

    def stop(self, by: str) -> None:
        """Ask for a stop: the batch under way ends, position and state are kept. Returns at once.

        Raises:
            LsqlError: TRANSITION_REFUSED.
        """

    def start(self, by: str) -> None:
        """Ask for a start after a stop or a failure. Returns at once.

        Raises:
            LsqlError: TRANSITION_REFUSED.
        """
