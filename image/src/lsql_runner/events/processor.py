"""What happens to a processor, as frozen data. Status, metrics and log are computed from these events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lsql_runner.errors import ErrorReport
from lsql_runner.events.batches import BatchEnded, Partition, StoreReport
from lsql_runner.events.state import State

__all__ = ["BatchEnded", "Partition", "StoreReport"]
"""Defined elsewhere, but events like the others for listeners."""


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The processor changed its state. `reason` is the error behind it (waiting, restarting, failed)."""

    at_ms: int
    old: State
    new: State
    reason: ErrorReport | None = None


@dataclass(frozen=True, slots=True)
class LateRecordsDropped:
    """Records of one batch that came after the grace of a window they belong to, one for each such window."""

    at_ms: int
    query: str
    count: int


@dataclass(frozen=True, slots=True)
class LagMeasured:
    """The end of each source partition on the brokers."""

    at_ms: int
    ends: dict[Partition, int]


@dataclass(frozen=True, slots=True)
class BrokerLost:
    at_ms: int
    error: ErrorReport


@dataclass(frozen=True, slots=True)
class BrokerFound:
    at_ms: int


@dataclass(frozen=True, slots=True)
class QueryDied:
    """A query or a start failed. `retry_in_s` is None where only a person can start it again."""

    at_ms: int
    error: ErrorReport
    retry_in_s: float | None


@dataclass(frozen=True, slots=True)
class JvmGone:
    at_ms: int
    error: ErrorReport


@dataclass(frozen=True, slots=True)
class TopicUse:
    """One topic of the program with its formats and types."""

    topic: str
    role: str
    """`source` or `target`."""
    key_format: str
    value_format: str
    key_type: str
    value_type: str
    schema_origin: str
    """Where formats and types come from: `declared`, `pinned`, `sampled`, or `program` for targets."""
    partitions: int | None = None


@dataclass(frozen=True, slots=True)
class SinkUse:
    """One table of a sink that the program writes to."""

    sink: str
    kind: str
    """`postgresql` or `redis`."""
    table: str
    mode: str
    """`insert` or `upsert`."""
    key: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    """Names and types."""
    deletes: bool
    """Whether rows are deleted, by tombstones or because a table no longer has them."""
    delivery: str
    """`exactly_once` or `idempotent`."""
    url: str


@dataclass(frozen=True, slots=True)
class ProgramPlanned:
    """The program was bound to its topics."""

    at_ms: int
    topics: tuple[TopicUse, ...]
    stores: tuple[str, ...]
    generation: int
    stateful: bool
    warnings: tuple[str, ...] = field(default=())
    starts: dict[str, dict[Partition, int]] = field(default_factory=dict)
    """By query: the next offset to read, where no batch of this process has ended yet."""
    sinks: tuple[SinkUse, ...] = ()


Event = (
    StateChanged
    | BatchEnded
    | LateRecordsDropped
    | LagMeasured
    | BrokerLost
    | BrokerFound
    | QueryDied
    | JvmGone
    | ProgramPlanned
)

Listener = Callable[[Event], None]
