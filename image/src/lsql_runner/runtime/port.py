"""The protocol of a processor that the REST API uses. The supervisor implements it, and a fake in tests of the API."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from lsql_runner.container.budget import MemoryBudget
from lsql_runner.engine.port import StoredRows, StoreRead
from lsql_runner.errors import LsqlError
from lsql_runner.start.changed_program import ProgramVerdict
from lsql_runner.state.snapshots import Snapshot
from lsql_runner.status.health import Health
from lsql_runner.status.last_hour import Sample
from lsql_runner.status.model import Status

Action = Literal["stop", "start", "switch", "snapshot", "restore", "clone", "prune"]


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """A state store of the plan."""

    name: str
    query: str
    key_type: str
    value_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Properties of a processor that do not change while the process runs."""

    app_id: str
    sql: str
    user: str
    version: str
    guarantee: str
    """`at_least_once` or `exactly_once`."""
    runners: int = 1
    """The number of processes that run the program."""
    started_at_ms: int = 0
    memory: MemoryBudget | None = None
    """How the memory of the container is divided; None if the caller started the JVM."""


@dataclass(frozen=True, slots=True)
class ProgramDescription:
    """The plan of a program; empty before it is planned."""

    stores: tuple[StoreInfo, ...] = ()
    topology: dict[str, Any] = field(default_factory=lambda: {"nodes": [], "edges": []})
    """`{"nodes": [{"id", "kind", "label", "detail"}], "edges": [{"from", "to"}]}`."""
    plan: str = ""
    """The plan as `lsql explain` prints it."""


class Snapshots(Protocol):
    """The snapshots of the state of a processor. `by` is the user who asks.

    All methods raise LsqlError: as `state.snapshots`, which has a function for each; LEADER_UNKNOWN.
    """

    def all(self) -> list[Snapshot]: ...

    def take(self, name: str, by: str) -> Snapshot: ...

    def restore(self, name: str, by: str) -> Snapshot:
        """Let the next start continue from a snapshot.

        Raises:
            LsqlError: RESTORE_REFUSED, unless the processor is stopped or has failed.
        """

    def clone(self, name: str, app_id: str, by: str) -> Snapshot:
        """Let the first start of another processor, with its state beside this one, continue from a snapshot."""

    def prune(self, keep: int, by: str) -> list[Snapshot]: ...


class Processor(Protocol):
    """One processor."""

    @property
    def snapshots(self) -> Snapshots: ...

    @property
    def identity(self) -> Identity: ...

    @property
    def description(self) -> ProgramDescription: ...

    def status(self) -> Status: ...

    def health(self) -> Health: ...

    def last_hour(self, now_ms: int) -> tuple[Sample, ...]:
        """A sample for each ten seconds of the last hour, oldest first, from the start of the process on."""

    def stop(self, by: str) -> None:
        """Request a stop: the running batch ends, position and state are kept. Does not wait for it.

        Raises:
            LsqlError: TRANSITION_REFUSED.
        """

    def start(self, by: str) -> None:
        """Request a start after a stop or a failure. Does not wait for it.

        Raises:
            LsqlError: TRANSITION_REFUSED.
        """

    def switch(self, by: str) -> None:
        """Request that the green queries of a blue-green change take over. Does not wait for it.

        Raises:
            LsqlError: SWITCH_REFUSED, TRANSITION_REFUSED.
        """

    def verdict(self, sql: str) -> ProgramVerdict:
        """What the processor would do with its state if it were started with another program. Changes nothing."""

    def read_store(self, read: StoreRead) -> StoredRows | None:
        """See `engine.port.Engine.read_store`."""

    def save_soon(self, store: str) -> None:
        """See `engine.port.Engine.save_soon`."""

    def shared_secret(self) -> str:
        """A text that the processes with this state directory know while one of them leads; empty if there is none."""

    def audit_query(self, store: str, user: str) -> None:
        """Write to the audit log that a user reads rows of a store."""

    def audit_refusal(self, action: Action | Literal["query"], user: str, error: LsqlError) -> None:
        """Write to the audit log that a request of a user was refused before it reached the processor."""
