"""The events of a processor, as frozen data. Status, metrics and log are computed from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal

from lsql_runner.errors import ErrorReport
from lsql_runner.events.audit import Audited
from lsql_runner.events.batches import BatchEnded, Partition, RecordsProcessed, StoreReport
from lsql_runner.events.leadership import LeadershipChanged
from lsql_runner.events.memory import MemoryMeasured, VolumeMeasured
from lsql_runner.events.state import State
from lsql_runner.events.workers import ScalingDecided, WorkersChanged

__all__ = [
    "BatchEnded",
    "MemoryMeasured",
    "Partition",
    "RecordsProcessed",
    "ScalingDecided",
    "StoreReport",
    "VolumeMeasured",
    "WorkersChanged",
]
"""Types of other modules that listeners import from here."""


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The state of the processor changed."""

    at_ms: int
    old: State
    new: State
    reason: ErrorReport | None = None
    """The error, if the processor waits, restarts or has failed."""


@dataclass(frozen=True, slots=True)
class LateRecordsDropped:
    """Late records of a batch: each is counted once for every window whose grace had ended, and once for a join."""

    at_ms: int
    query: str
    count: int


@dataclass(frozen=True, slots=True)
class LagMeasured:
    """The ends of the source partitions were read from the brokers."""

    at_ms: int
    ends: dict[Partition, int]


@dataclass(frozen=True, slots=True)
class BrokerLost:
    """A request to the brokers failed."""

    at_ms: int
    error: ErrorReport


@dataclass(frozen=True, slots=True)
class BrokerFound:
    """A request to the brokers succeeded after a failed one."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class QueryDied:
    """A query or a start failed."""

    at_ms: int
    error: ErrorReport
    retry_in_s: float | None
    """The time until the restart; None if a person must start the processor again."""


@dataclass(frozen=True, slots=True)
class JvmGone:
    """The JVM ended without a request."""

    at_ms: int
    error: ErrorReport


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicUse:
    """A topic of the program with its formats and types."""

    topic: str
    role: str
    """`source` or `target`."""
    key_format: str
    value_format: str
    key_type: str
    value_type: str
    schema_origin: str
    """The source of formats and types: `declared`, `pinned`, `registry`, `sampled`; for targets `program`."""
    partitions: int | None = None


@dataclass(frozen=True, slots=True)
class SinkColumn:
    """A column of a table of a sink."""

    name: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkUse:
    """A table of a sink to which the program writes."""

    sink: str
    kind: str
    """`postgresql` or `redis`."""
    table: str
    mode: str
    """`insert` or `upsert`."""
    key: tuple[str, ...]
    columns: tuple[SinkColumn, ...]
    deletes: bool
    """Whether rows are deleted: for tombstones and for deleted rows of a table."""
    delivery: str
    """`exactly_once` or `idempotent`."""
    url: str


QueryMode = Literal["continuous", "real_time", "batches"]
"""`continuous`: without state, each record when it arrives. `real_time`: with state, each record when it arrives."""


@dataclass(frozen=True, slots=True)
class QueryUse:
    """How a query of the program processes its records."""

    name: str
    mode: QueryMode
    only_in_batches: str | None = None
    """What its INSERT has that only batches process, if it keeps state."""
    _: KW_ONLY
    rebuild_ends: Mapping[Partition, int] = field(default_factory=dict)
    """While it builds its state again: the positions from which on it writes results."""
    blue: str | None = None
    """Of a green query: the blue one, which writes its results until the switch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramPlanned:
    """The program was planned for its topics."""

    at_ms: int
    topics: tuple[TopicUse, ...]
    stores: tuple[str, ...]
    generation: int
    stateful: bool
    continuous: bool = False
    """Whether queries without state process each record when it arrives."""
    warnings: tuple[str, ...] = field(default=())
    positions: dict[str, dict[Partition, int]] = field(default_factory=dict)
    """By query: the next offset to read of each source partition."""
    sinks: tuple[SinkUse, ...] = ()
    queries: tuple[QueryUse, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditRecorded:
    """Somebody has started, stopped or changed the processor, or tried to."""

    at_ms: int
    record: Audited


@dataclass(frozen=True, slots=True)
class SnapshotTaken:
    """A snapshot of the state was taken on schedule."""

    at_ms: int
    name: str
    size_bytes: int


BlueGreenPhase = Literal["building", "ready", "failed"]
"""`building`: green queries read records again. `ready`: they are less than two seconds, or two batches, behind.
`failed`: one has failed, and only the blue ones run."""


@dataclass(frozen=True, slots=True)
class BlueGreenChanged:
    """A blue-green change has come to another phase."""

    at_ms: int
    phase: BlueGreenPhase
    error: ErrorReport | None = None
    """Why it has failed."""


@dataclass(frozen=True, slots=True)
class WarningRaised:
    """The processor has noticed something that a person should know."""

    at_ms: int
    text: str


Event = (
    StateChanged
    | BatchEnded
    | RecordsProcessed
    | LateRecordsDropped
    | LagMeasured
    | BrokerLost
    | BrokerFound
    | QueryDied
    | JvmGone
    | ProgramPlanned
    | MemoryMeasured
    | VolumeMeasured
    | WorkersChanged
    | ScalingDecided
    | LeadershipChanged
    | WarningRaised
    | AuditRecorded
    | SnapshotTaken
    | BlueGreenChanged
)

Listener = Callable[[Event], None]
