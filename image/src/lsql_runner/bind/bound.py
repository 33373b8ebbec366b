"""BoundProgram: a program with all names, types and formats resolved. It is the only input of the planner."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal as OneOf

from lsql_runner.bind.expr import AggregateCall, ColumnRef, Expr, StructValue
from lsql_runner.bind.settings import ProgramSettings
from lsql_runner.formats.catalog import Serde, TopicSchema
from lsql_runner.formats.table import row_of
from lsql_runner.types import DataType, Field, Map, Struct


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The key or value of the source record, byte for byte."""


@dataclass(frozen=True, slots=True)
class UnnamedValue:
    """One value without a field name: `AS _value`, `AS _key`. The value NULL makes the record a tombstone."""

    expr: Expr


@dataclass(frozen=True, slots=True)
class Fields:
    """A struct. With `extends`, it has all fields of the source, and `fields` replaces some or adds more. The fields of
    a StructValue in `fields` do so in the struct or map that the source has there; another field is replaced."""

    fields: tuple[tuple[str, Expr], ...]
    extends: bool = False


Part = Unchanged | UnnamedValue | Fields
"""A part of an output record: its key or its value."""


def keeps_source(part: Part) -> bool:
    """Whether the part contains all fields of the source, including fields that its type does not declare."""
    return isinstance(part, Unchanged) or (isinstance(part, Fields) and part.extends)


def extended_type(source: Struct, fields: tuple[tuple[str, Expr], ...]) -> Struct:
    """The type of a struct after a Fields has replaced or added fields."""
    new = {name: _set_field(name, expr, source.field(name)) for name, expr in fields}
    return Struct((*(f for f in source.fields if f.name not in new), *new.values()))


def _set_field(name: str, expr: Expr, source: Field | None) -> Field:
    match expr, source:
        case StructValue(), Field(type=Map()):
            return replace(source, nullable=False)  # with entries of the type that the others have
        case StructValue(fields), Field(type=Struct(kept), nullable=nullable):
            # A struct that was NULL has only the new fields.
            struct = Struct(tuple(replace(f, nullable=f.nullable or nullable) for f in kept))
            return Field(name, extended_type(struct, fields), nullable=False)
    return Field(name, expr.type, expr.nullable)


def type_inside(kind: DataType, name: str) -> DataType | None:
    """The type of a field of a struct, or of the entries of a map; None if there is none."""
    match kind:
        case Struct():
            field = kind.field(name)
            return None if field is None else field.type
        case Map(value):
            return value
    return None


def extended_structs(source: Struct | Map, fields: tuple[tuple[str, Expr], ...]) -> Struct:
    """The source's structs and maps in which a Fields sets fields or entries, each with such structs inside.

    They include structs that the type of the source does not declare.
    """
    members = []
    for name, expr in fields:
        inside = type_inside(source, name) or Struct(())
        if isinstance(expr, StructValue) and isinstance(inside, Struct | Map):
            members.append(Field(name, extended_structs(inside, expr.fields)))
    return Struct(tuple(members))


def part_exprs(part: Part) -> tuple[Expr, ...]:
    """The expressions that a part computes."""
    match part:
        case UnnamedValue(expr):
            return (expr,)
        case Fields(fields):
            return tuple(expr for _, expr in fields)
    return ()


@dataclass(frozen=True, slots=True)
class Shape:
    """The records of a SELECT or topic: their key, their value, and the metadata that is available."""

    key: Serde
    value: Serde
    metadata: frozenset[str]
    """A subset of ALL_METADATA. `raw_key` is available while the key has the bytes of the source record."""
    undeclared: frozenset[tuple[str, ...]] = field(default=frozenset(), kw_only=True)
    """Paths, such as `("value",)` or `("value", "amount")`: the parts in JSON that LSQL_TOPICS does not declare, and
    the fields computed from such parts. Operators accept values at and below these paths, although they can be NULL."""
    shortened: frozenset[tuple[str | int, ...]] = field(default=frozenset(), kw_only=True)
    """Paths, such as `("address", "country")`, that a WITH query selects without an alias: its value has the field
    `country`, and a SELECT that reads the query can use both."""

    def is_undeclared(self, column: str, path: tuple[str | int, ...]) -> bool:
        """Whether a column, or a field inside it, is at or below one of the undeclared paths."""
        full = (column, *path)
        return any(full[: len(prefix)] == prefix for prefix in self.undeclared)


ALL_METADATA = frozenset({"topic", "partition", "offset", "ts", "headers", "raw_key"})


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """Windows aligned to 1970 UTC: `[n * advance, n * advance + size)`. For TUMBLE, advance equals size.

    Sessions are not aligned. Their size is the gap: the longest time between two records of a session.
    """

    kind: OneOf["TUMBLE", "HOP", "SESSION"]
    size_ms: int
    advance_ms: int

    @property
    def is_session(self) -> bool:
        return self.kind == "SESSION"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """The group keys and aggregates of a SELECT. Without keys, records are grouped by the bytes of the record key."""

    keys: tuple[tuple[str, Expr], ...]
    window: WindowSpec | None
    grace_ms: int
    calls: tuple[tuple[str, AggregateCall], ...]
    """The aggregates, each with the column of its result."""
    final: bool
    """Whether a window has one result, when it ends, instead of one after each change."""


@dataclass(frozen=True, slots=True)
class BoundTopic:
    schema: TopicSchema

    @property
    def shape(self) -> Shape:
        parts = {"key": self.schema.key, "value": self.schema.value}
        if self.schema.origin == "declared":
            return Shape(self.schema.key, self.schema.value, ALL_METADATA)
        undeclared = frozenset((name,) for name, part in parts.items() if row_of(part.format).is_sampled)
        return Shape(self.schema.key, self.schema.value, ALL_METADATA, undeclared=undeclared)


JoinKind = OneOf["INNER", "LEFT", "RIGHT", "FULL"]


JoinValues = tuple[Expr, ...]
"""The values that one input of a join compares, over its columns."""


@dataclass(frozen=True, slots=True)
class RowKey:
    """The key of rows: an expression over their columns."""

    expr: Expr
    serde: Serde
    columns: frozenset[str]
    """The columns that contain the key; empty if the key is computed."""

    def is_exactly(self, values: JoinValues) -> bool:
        """Whether the values are the key and nothing else."""
        match values:
            case (ColumnRef(path=()) as ref,):
                return ref.name in self.columns
        return values == (self.expr,)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundJoin:
    """A join of two sources. The columns of source n of the FROM, counted from 0, are called `<column>_<n>`."""

    left: BoundTopic | BoundSelect | BoundJoin
    right: BoundTopic | BoundSelect
    kind: JoinKind
    left_is_table: bool
    right_is_table: bool
    left_keys: JoinValues
    right_keys: JoinValues
    """The values that must be equal: left_keys[i] = right_keys[i]. Both have the same type."""
    by_left_key: bool
    by_right_key: bool
    """Whether the values of that input are exactly the key of its rows."""
    residual: Expr | None
    """The conditions that are not equalities, over the columns of both inputs; only for inner joins."""
    within_ms: int | None
    """For two streams: the maximum difference between the times of two joined records."""
    grace_ms: int
    """For two streams: how late a record may be."""
    number: int
    """The position of the right source in the FROM."""
    key: RowKey
    """The key of the result."""

    @property
    def is_table(self) -> bool:
        return self.left_is_table and self.right_is_table

    @property
    def emits_unmatched_late(self) -> bool:
        """Whether the join emits records without a match, after the time in which a match can arrive."""
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
    """Whether the source is a table: the latest record of a key replaces the others. Else each record is an event."""
    having: Expr | None = None
    """A condition over the columns of the groups."""
    keeps_tombstones: bool = False
    """Whether the result of a tombstone is a tombstone, whatever the value computes: so it is in a legacy SELECT
    without STREAM. In other SELECTs of a stream its fields are NULL."""

    @property
    def is_table(self) -> bool:
        """Whether the result is a table: the SELECT has an aggregate or reads a table."""
        return self.grouping is not None or self.reads_table


@dataclass(frozen=True, slots=True)
class BoundInsert:
    target: str
    key: Serde
    value: Serde
    select: BoundSelect


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkTarget:
    """The target of an INSERT INTO a sink."""

    sink: str
    """The name of the configured sink."""
    kind: str
    """`postgresql` or `redis`."""
    name: str
    """The target as the program writes it."""
    table: str
    """The table of PostgreSQL, or the prefix of keys in Redis."""
    mode: OneOf["insert", "upsert"]
    columns: tuple[tuple[str, DataType], ...]
    key: tuple[str, ...]
    """The columns that identify a row; empty if no column does."""
    deletes: bool
    """Whether the sink deletes rows: for tombstones, or when the table of the program loses them."""
    creates: bool
    """Whether the sink creates a missing table."""
    batch_rows: int
    store: str
    """The storage type of Redis, `STRING` or `HASH`; empty for other sinks."""

    @property
    def delivery(self) -> str:
        """If a batch runs twice: `exactly_once` writes its rows once, `idempotent` overwrites them by their key."""
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
