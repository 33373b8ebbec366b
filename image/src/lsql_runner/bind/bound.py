"""A program in which every name, type and format is known. The planner reads nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from lsql_runner.bind.expr import AggregateCall, ColumnRef, Expr
from lsql_runner.bind.settings import ProgramSettings
from lsql_runner.formats.catalog import Serde, TopicSchema
from lsql_runner.formats.table import row_of
from lsql_runner.types import DataType


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The unchanged part of the source record, byte for byte."""


@dataclass(frozen=True, slots=True)
class UnnamedValue:
    """One value without a name: `AS _value`, `AS _key`; a constant null is a tombstone."""

    expr: Expr


@dataclass(frozen=True, slots=True)
class Fields:
    """A struct of named values. With `extends`, all fields of the source come first and these replace or follow."""

    fields: tuple[tuple[str, Expr], ...]
    extends: bool = False


Part = Unchanged | UnnamedValue | Fields


def keeps_source(part: Part) -> bool:
    """Whether the part contains the part of the source, including fields that its type does not name."""
    return isinstance(part, Unchanged) or (isinstance(part, Fields) and part.extends)


def part_exprs(part: Part) -> tuple[Expr, ...]:
    match part:
        case UnnamedValue(expr):
            return (expr,)
        case Fields(fields):
            return tuple(expr for _, expr in fields)
    return ()


@dataclass(frozen=True, slots=True)
class Shape:
    """The records of a SELECT: their key and value, and which facets (`topic`, `offset` ...) they still have."""

    key: Serde
    value: Serde
    facets: frozenset[str]
    """Of `topic`, `partition`, `offset`, `ts`, `headers`; `raw_key` while the key is the source's own bytes."""
    exempt: frozenset[str] = frozenset()
    """`key` or `value` if its fields are not declared. A field may then be null without an error."""


ALL_FACETS = frozenset({"topic", "partition", "offset", "ts", "headers", "raw_key"})


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """Windows aligned to 1970 UTC: `[n * advance, n * advance + size)`. A TUMBLE has advance = size.

    A SESSION has no such grid: `size` is the gap, the longest time between two of its records; advance is the same.
    """

    kind: OneOf["TUMBLE", "HOP", "SESSION"]
    size_ms: int
    advance_ms: int

    @property
    def is_session(self) -> bool:
        return self.kind == "SESSION"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """The groups and aggregates of a SELECT. Without GROUP BY fields, records are grouped by their raw key."""

    keys: tuple[tuple[str, Expr], ...]
    window: WindowSpec | None
    grace_ms: int
    calls: tuple[tuple[str, AggregateCall], ...]
    """The aggregates, each with the column that it goes to."""
    final: bool
    """A window has one result, when it ends, instead of one after each change."""


@dataclass(frozen=True, slots=True)
class BoundTopic:
    schema: TopicSchema

    @property
    def shape(self) -> Shape:
        parts = {"key": self.schema.key, "value": self.schema.value}
        undeclared = self.schema.origin != "declared"
        exempt = frozenset(name for name, part in parts.items() if undeclared and row_of(part.format).is_sampled)
        return Shape(self.schema.key, self.schema.value, ALL_FACETS, exempt)


JoinKind = OneOf["INNER", "LEFT", "RIGHT", "FULL"]


Values = tuple[Expr, ...]
"""The values that one side is joined by, over its columns."""


@dataclass(frozen=True, slots=True)
class RowKey:
    """The key of rows: an expression over their columns."""

    expr: Expr
    serde: Serde
    columns: frozenset[str]
    """All columns that contain it; empty if it is computed."""

    def is_joined_by(self, values: Values) -> bool:
        """Whether rows are joined by exactly this key."""
        match values:
            case (ColumnRef(path=()) as ref,):
                return ref.name in self.columns
        return values == (self.expr,)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundJoin:
    """Two joined sources. The columns of the n-th source of a FROM, from 0, are called `<column>_<n>`."""

    left: BoundTopic | BoundSelect | BoundJoin
    right: BoundTopic | BoundSelect
    kind: JoinKind
    left_table: bool
    right_table: bool
    left_keys: Values
    right_keys: Values
    """Equal in pairs of the same type; each over the columns of its own side."""
    by_left_key: bool
    by_right_key: bool
    """Whether the side is joined by exactly the key of its rows."""
    residual: Expr | None
    """The rest of the condition, over the columns of both sides; for inner joins only."""
    within_ms: int | None
    """For two streams: the largest difference between the times of two joined records."""
    grace_ms: int
    """For two streams: how late a record may be."""
    number: int
    """The position of the right source in the FROM."""
    key: RowKey
    """The key of the result."""

    @property
    def is_table(self) -> bool:
        return self.left_table and self.right_table

    @property
    def waits(self) -> bool:
        """Whether a record without a match is emitted, which is known when its time has passed."""
        return self.within_ms is not None and self.kind != "INNER"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundSelect:
    source: BoundTopic | BoundSelect | BoundJoin
    laterals: tuple[tuple[str, Expr], ...]
    where: Expr | None
    grouping: Grouping | None
    event_time: Expr
    """LONG, milliseconds since 1970 UTC: the time for windows, and the timestamp of the output record."""
    key: Part
    value: Part
    shape: Shape
    reads_table: bool = False
    """The source is read as a table: the newest row of each key counts, instead of each row as an event."""
    having: Expr | None = None
    """Over the columns of the groups."""

    @property
    def is_table(self) -> bool:
        """Whether the result is a table: that of an aggregate, or of a SELECT that reads a table."""
        return self.grouping is not None or self.reads_table


@dataclass(frozen=True, slots=True)
class BoundInsert:
    target: str
    key: Serde
    value: Serde
    select: BoundSelect


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkTarget:
    """The target of an INSERT outside of Kafka."""

    sink: str
    """Name of the configured sink."""
    kind: str
    """`postgresql` or `redis`."""
    name: str
    """The target as the program writes it."""
    table: str
    """Its name in the sink: a table, or the prefix of the keys."""
    mode: OneOf["insert", "upsert"]
    columns: tuple[tuple[str, DataType], ...]
    key: tuple[str, ...]
    """The columns that identify a row; empty if none do."""
    deletes: bool
    """Whether rows are deleted: by tombstones, or because the table no longer has them."""
    creates: bool
    """Whether a missing table is created."""
    batch_rows: int
    store: str
    """The storage type of rows, for sinks that have several."""

    @property
    def delivery(self) -> str:
        """The effect of writing a batch twice: `exactly_once` by a mark beside the rows, `idempotent` by key."""
        return "exactly_once" if self.mode == "insert" else "idempotent"


@dataclass(frozen=True, slots=True)
class BoundSinkInsert:
    target: SinkTarget
    select: BoundSelect


@dataclass(frozen=True, slots=True)
class BoundProgram:
    inserts: tuple[BoundInsert | BoundSinkInsert, ...]
    settings: ProgramSettings
    warnings: tuple[str, ...] = field(default=())
