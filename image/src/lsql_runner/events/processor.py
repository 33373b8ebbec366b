"""What happens to a processor, as frozen facts. Status, metrics and logs are readers of these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lsql_runner.errors import ErrorReport
from lsql_runner.events.batches import BatchEnded, Partition, StoreReport
from lsql_runner.events.state import State

__all__ = ["BatchEnded", "Partition", "StoreReport"]
"""Not defined here, but events like the others to those who listen."""


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The processor moved. `reason` says why, where the new state needs one (waiting, restarting, failed)."""

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
    """The end of each source partition, as the brokers tell it."""

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
    """A query ended by itself. `retry_in_s` is None where only a person can start it again."""

    at_ms: int
    error: ErrorReport
    retry_in_s: float | None


@dataclass(frozen=True, slots=True)
class JvmGone:
    at_ms: int
    error: ErrorReport


@dataclass(frozen=True, slots=True)
class Warned:
    """Something the operator should know that stops nothing, as a setting without effect here."""

    at_ms: int
    text: str


@dataclass(frozen=True, slots=True)
class TopicUse:
    """One topic of the program as it was resolved."""

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
    """Whether rows are deleted, by tombstones or as a table's that are there no more."""
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
    | Warned
    | ProgramPlanned
)

Listener = Callable[[Event], None]
