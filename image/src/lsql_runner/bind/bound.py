"""A program in which every name, type and format is known. The planner reads nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from lsql_runner.bind.catalog import Serde, TopicSchema
from lsql_runner.bind.expr import Expr
from lsql_runner.bind.settings import ProgramSettings
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


ALL_FACETS = frozenset({"topic", "partition", "offset", "ts", "headers", "raw_key"})


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """Windows aligned to 1970 UTC: `[n * advance, n * advance + size)`. A TUMBLE has advance = size."""

    kind: OneOf["TUMBLE", "HOP"]
    size_ms: int
    advance_ms: int


@dataclass(frozen=True, slots=True)
class Grouping:
    """What an aggregate SELECT groups by and computes. Where no field is named the record's raw key is the group."""

    keys: tuple[tuple[str, Expr], ...]
    window: WindowSpec | None
    grace_ms: int
    calls: tuple[tuple[str, str, Expr | None, DataType], ...]
    """Slot, aggregate, argument (None for COUNT(*)), type of the result."""


@dataclass(frozen=True, slots=True)
class BoundTopic:
    schema: TopicSchema

    @property
    def shape(self) -> Shape:
        return Shape(self.schema.key, self.schema.value, ALL_FACETS)


@dataclass(frozen=True, slots=True)
class BoundSelect:
    source: BoundTopic | BoundSelect
    laterals: tuple[tuple[str, Expr], ...]
    where: Expr | None
    grouping: Grouping | None
    event_time: Expr
    """LONG, milliseconds since 1970 UTC: what windows go by, and the timestamp of the output record."""
    key: Part
    value: Part
    shape: Shape


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
    """Whether a tombstone says which row is to go."""
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
