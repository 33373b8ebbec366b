"""A program in which every name, type and format is known. The planner reads nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from lsql_runner.bind.catalog import JSON_FORMAT, Serde, TopicSchema, windowed
from lsql_runner.bind.expr import AggregateCall, Expr
from lsql_runner.bind.settings import ProgramSettings


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
    exempt: frozenset[str] = frozenset()
    """Of `key`, `value`: those whose fields nobody declared. They may be null, and nobody could say that one is not."""


_UNDECLARED = (JSON_FORMAT, windowed(JSON_FORMAT))
"""Formats whose fields are only known from a sample, where they are not declared."""

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
    calls: tuple[tuple[str, AggregateCall], ...]
    """The aggregates, each with the column that it goes to."""


@dataclass(frozen=True, slots=True)
class BoundTopic:
    schema: TopicSchema

    @property
    def shape(self) -> Shape:
        parts = {"key": self.schema.key, "value": self.schema.value}
        undeclared = self.schema.origin != "declared"
        exempt = frozenset(name for name, part in parts.items() if undeclared and part.format in _UNDECLARED)
        return Shape(self.schema.key, self.schema.value, ALL_FACETS, exempt)


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
class BoundProgram:
    inserts: tuple[BoundInsert, ...]
    settings: ProgramSettings
    warnings: tuple[str, ...] = field(default=())
