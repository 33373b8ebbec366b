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
class Whole:
    """The part of the record as it came, byte for byte."""


@dataclass(frozen=True, slots=True)
class Single:
    """One value without a name: `AS _value`, `AS _key`; a constant null is a tombstone."""

    expr: Expr


@dataclass(frozen=True, slots=True)
class Fields:
    """A struct of named values. With `extends`, all fields of the source come first and these replace or follow."""

    fields: tuple[tuple[str, Expr], ...]
    extends: bool = False


Part = Whole | Single | Fields


def keeps_source(part: Part) -> bool:
    """Whether the source's own part is in it, with fields that its type need not name."""
    return isinstance(part, Whole) or (isinstance(part, Fields) and part.extends)


def part_exprs(part: Part) -> tuple[Expr, ...]:
    match part:
        case Single(expr):
            return (expr,)
        case Fields(fields):
            return tuple(expr for _, expr in fields)
    return ()


@dataclass(frozen=True, slots=True)
class Shape:
    """The records that a SELECT gives: its two parts, and which facets (`topic`, `offset` ...) still mean something."""

    key: Serde
    value: Serde
    facets: frozenset[str]
    """Of `topic`, `partition`, `offset`, `ts`, `headers`; `raw_key` while the key is the source's own bytes."""
    exempt: frozenset[str] = frozenset()
    """Of `key`, `value`: those whose fields nobody declared. They may be null, and nobody could say that one is not."""


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


@dataclass(frozen=True, slots=True)
class Grouping:
    """What an aggregate SELECT groups by and computes. Where no field is named the record's raw key is the group."""

    keys: tuple[tuple[str, Expr], ...]
    window: WindowSpec | None
    grace_ms: int
    calls: tuple[tuple[str, AggregateCall], ...]
    """The aggregates, each with the column that it goes to."""
    final: bool
    """A window has one result, when it is over, and not one after each change."""


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
"""What one side of a join is joined by, over its columns."""


@dataclass(frozen=True, slots=True)
class RowKey:
    """The key of rows: an expression over their columns."""

    expr: Expr
    serde: Serde
    columns: frozenset[str]
    """All columns that hold it; none where it has to be computed."""

    def is_joined_by(self, values: Values) -> bool:
        """Whether it is this key, as it is, that rows are joined by."""
        match values:
            case (ColumnRef(column, ()),):
                return column in self.columns
        return values == (self.expr,)


@dataclass(frozen=True, slots=True)
class BoundJoin:
    """Two sources side by side. The columns of the n-th source of a FROM, from 0, are called `<column>_<n>`."""

    left: BoundTopic | BoundSelect | BoundJoin
    right: BoundTopic | BoundSelect
    kind: JoinKind
    left_table: bool
    right_table: bool
    left_keys: Values
    right_keys: Values
    """What must be equal, pair by pair and of the same types; over the columns of its own side."""
    by_left_key: bool
    by_right_key: bool
    """Whether that is the key of that side's rows, as it is."""
    residual: Expr | None
    """What must hold besides, over the columns of both; of an inner join only."""
    within_ms: int | None
    """Of two streams: how far apart the times of two records may be."""
    grace_ms: int
    """Of two streams: how late a record may be."""
    number: int
    """Which source of the FROM the right one is."""
    key: RowKey
    """The key of what comes out."""

    @property
    def is_table(self) -> bool:
        return self.left_table and self.right_table

    @property
    def waits(self) -> bool:
        """Whether a record that nothing fits goes out alone, which is known when its time is over."""
        return self.within_ms is not None and self.kind != "INNER"


@dataclass(frozen=True, slots=True)
class BoundSelect:
    source: BoundTopic | BoundSelect | BoundJoin
    laterals: tuple[tuple[str, Expr], ...]
    where: Expr | None
    grouping: Grouping | None
    event_time: Expr
    """LONG, milliseconds since 1970 UTC: what windows go by, and the timestamp of the output record."""
    key: Part
    value: Part
    shape: Shape
    reads_table: bool = False
    """The source counts as a table: its newest row for each key, and not each row as an event."""
    having: Expr | None = None
    """Over the columns of the groups."""

    @property
    def is_table(self) -> bool:
        """Whether the result is one: of every aggregate, and of what only reads a table."""
        return self.grouping is not None or self.reads_table


@dataclass(frozen=True, slots=True)
class BoundInsert:
    target: str
    key: Serde
    value: Serde
    select: BoundSelect


@dataclass(frozen=True, slots=True)
class SinkTarget:
    """What an INSERT writes to outside of Kafka."""

    sink: str
    """Name of the configured sink."""
    kind: str
    """`postgresql` or `redis`."""
    name: str
    """The target as the program writes it."""
    table: str
    """What it is called in the sink: a table, or what the keys begin with."""
    mode: OneOf["insert", "upsert"]
    columns: tuple[tuple[str, DataType], ...]
    key: tuple[str, ...]
    """The columns that tell rows apart; empty where none do."""
    deletes: bool
    """Whether rows are deleted: by tombstones whose key is the row's, or because a table has the row no more."""
    creates: bool
    """Whether a missing table is made."""
    batch_rows: int
    store: str
    """How the sink stores a row, where it has several ways."""

    @property
    def delivery(self) -> str:
        """What a batch that is written again does: `exactly_once` by a mark beside the rows, or `idempotent` by key."""
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
