"""The plan: frozen nodes, each with the columns it gives. One that asks for a column that is not there cannot be made.

Columns: `key`, `value`, `ts` (LONG, milliseconds since 1970 UTC), `topic`, `partition`, `offset`, `headers`;
`raw_key`, `raw_value` where the bytes as they came are still right; `lateral_<alias>` and `position_<n>`, its place in
the array; above an aggregate `group_<name>`, `agg_<n>`, `window_start` and, of a session, `window_end` (LONG,
milliseconds); above a join those of its n-th source as `<column>_<n>`.

The rows of a table are upserts: the newest of a key counts, and one that is not there any more is a row too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lsql_runner.bind.bound import JoinKind, Part, WindowSpec, keeps_source, part_exprs
from lsql_runner.bind.expr import AggregateCall, Expr, source_column
from lsql_runner.bind.functions.table import AGGREGATES
from lsql_runner.bind.grouping import group_column
from lsql_runner.bind.operators import HEADERS
from lsql_runner.bind.scope import lateral_column
from lsql_runner.formats.catalog import TopicSchema
from lsql_runner.plan.columns import ColumnTypes, InvalidPlan, check_columns
from lsql_runner.types import BYTES, INT, LONG, STRING, Array, DataType, describe


@dataclass(frozen=True, slots=True)
class ReadTopic:
    """Every record of a topic."""

    schema: TopicSchema

    @property
    def columns(self) -> ColumnTypes:
        return {
            "raw_key": BYTES,
            "raw_value": BYTES,
            "key": self.schema.key.type,
            "value": self.schema.value.type,
            "topic": STRING,
            "partition": INT,
            "offset": LONG,
            "ts": LONG,
            "headers": HEADERS,
        }


@dataclass(frozen=True, slots=True)
class Filter:
    input: PlanNode
    condition: Expr
    of_table: bool = False
    """The rows below are a table's: one that the condition does not hold for is not there."""

    def __post_init__(self) -> None:
        check(self.input, self.condition)

    @property
    def columns(self) -> ColumnTypes:
        return self.input.columns


@dataclass(frozen=True, slots=True)
class Unnest:
    """One row for each element of an array (LATERAL); none for a null or empty one."""

    input: PlanNode
    alias: str
    array: Expr

    def __post_init__(self) -> None:
        check(self.input, self.array)
        if not isinstance(self.array.type, Array):
            raise InvalidPlan(f"cannot unnest {describe(self.array.type)}")

    @property
    def columns(self) -> ColumnTypes:
        assert isinstance(self.array.type, Array)
        return {**self.input.columns, self.position: INT, lateral_column(self.alias): self.array.type.element}

    @property
    def position(self) -> str:
        """The column that holds the element's place in its array."""
        return f"{_POSITION}{len(_positions(self.input.columns))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """One row for each group (and window) that a batch changed. Without keys the record's raw key is the group."""

    input: PlanNode
    keys: tuple[tuple[str, Expr], ...]
    window: WindowSpec | None
    grace_ms: int
    event_time: Expr
    calls: tuple[tuple[str, AggregateCall], ...]
    """The aggregates in the order in which the state has them, each with the column that it goes to."""
    store: str
    of_table: bool = False
    """The rows below are a table's: one that changes or goes is taken out of its group again."""
    final: bool = False
    """A window has one result, when it is over."""

    def __post_init__(self) -> None:
        check(self.input, self.event_time, *(expr for _, expr in self.keys), *self.arguments)
        if not self.keys and "raw_key" not in self.input.columns:
            raise InvalidPlan("grouping by the record's key needs its bytes")

    @property
    def columns(self) -> ColumnTypes:
        groups = {group_column(name): expr.type for name, expr in self.keys} or {"raw_key": BYTES}
        window = {} if self.window is None else {"window_start": LONG}
        if self.window is not None and self.window.is_session:
            window["window_end"] = LONG
        return {**groups, **window, **{slot: call.type for slot, call in self.calls}, "ts": LONG}

    @property
    def arguments(self) -> tuple[Expr, ...]:
        """What the aggregates are taken of."""
        return tuple(call.arg for _, call in self.calls if call.arg is not None)

    @property
    def place(self) -> tuple[str, ...]:
        """The columns below that order records of one event time; none where no aggregate goes by the order."""
        if not any(AGGREGATES[call.function].by_place for _, call in self.calls):
            return ()
        below = self.input.columns
        return (*(name for name in ("partition", "offset") if name in below), *_positions(below))


@dataclass(frozen=True, slots=True)
class Having:
    """The groups that a condition holds for; one for which it no longer holds is gone."""

    input: Aggregate
    condition: Expr
    store: str

    def __post_init__(self) -> None:
        check(self.input, self.condition)

    @property
    def columns(self) -> ColumnTypes:
        return self.input.columns


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinSide:
    """One side of a join: what is read, by what it is joined, and the columns of it that somebody above reads."""

    input: PlanNode
    keys: tuple[Expr, ...]
    carried: tuple[tuple[str, DataType], ...]
    is_table: bool
    by_key: bool
    """Whether it is joined by its own key, as it is."""
    number: int | None
    """Which source of the FROM it is; None for the join of all before."""

    @property
    def columns(self) -> ColumnTypes:
        """Every column of the input by the name that it has in the join."""
        below = self.input.columns
        return {name: below[own] for name, own in self.names.items()}

    @property
    def names(self) -> dict[str, str]:
        """By the name that a column has in the join, the one that it has in the input."""
        if self.number is None:
            return {name: name for name in self.input.columns}
        return {source_column(name, self.number): name for name in self.input.columns}


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """Rows of two sources side by side. Streams go by time as well, at most `within_ms` apart."""

    left: JoinSide
    right: JoinSide
    kind: JoinKind
    residual: Expr | None
    within_ms: int | None
    grace_ms: int
    key: Expr
    raw_key: str | None
    """The column with the bytes that may be passed on as the key of the result."""
    store: str
    clock: str | None = None
    """Of two streams: what lets their time go on while they have no records, for final results above."""

    def __post_init__(self) -> None:
        for side in (self.left, self.right):
            check_columns(side.columns, *side.keys)
        check_columns(self._carried, self.key, *([] if self.residual is None else [self.residual]))

    @property
    def _carried(self) -> ColumnTypes:
        return dict((*self.left.carried, *self.right.carried))

    @property
    def is_table(self) -> bool:
        return self.left.is_table and self.right.is_table

    @property
    def delay_ms(self) -> int | None:
        """Of two streams: how far the time by which records are late is behind the newest; None of others."""
        return None if self.within_ms is None else self.within_ms + self.grace_ms

    @property
    def waits(self) -> bool:
        """Of two streams: whether a record that nothing fits goes out alone, which is known when its time is over."""
        return self.delay_ms is not None and self.kind != "INNER"

    @property
    def moves_rows(self) -> bool:
        """Of two tables: whether a row may go in one place and come in another, under the same key."""
        return self.is_table and not (self.left.by_key and self.right.by_key and self.kind == "INNER")

    @property
    def columns(self) -> ColumnTypes:
        raw = {} if self.raw_key is None else {"raw_key": BYTES}
        # A stream's record that met a table is still where it was.
        place = {"partition": INT, "offset": LONG} if self.left.is_table != self.right.is_table else {}
        return {**self._carried, **raw, **place, "key": self.key.type, "ts": LONG}


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Records made of the rows below. `ts` is their timestamp; facets of the record below pass through."""

    input: PlanNode
    key: Part
    value: Part
    ts: Expr
    key_type: DataType
    value_type: DataType
    windowed: bool
    """The window's start goes into the key."""
    of_table: bool = False
    """The rows below are a table's."""

    def __post_init__(self) -> None:
        check(self.input, self.ts, *part_exprs(self.key), *part_exprs(self.value))
        for part, raw in ((self.key, "raw_key"), (self.value, "raw_value")):
            if (
                keeps_source(part)
                and raw not in self.input.columns
                and raw.removeprefix("raw_") not in self.input.columns
            ):
                raise InvalidPlan(f"{raw} cannot pass through: it is not below")

    @property
    def columns(self) -> ColumnTypes:
        below = self.input.columns
        found: dict[str, DataType] = {"key": self.key_type, "value": self.value_type, "ts": LONG}
        for part, raw in ((self.key, "raw_key"), (self.value, "raw_value")):
            if raw in below and keeps_source(part):
                found[raw] = BYTES
        return found | {name: below[name] for name in passed_through(below)}


_POSITION = "position_"
_PASSED = ("topic", "partition", "offset", "headers", "window_start", "window_end")


def _positions(columns: Iterable[str]) -> tuple[str, ...]:
    """The columns of places in arrays, the outermost LATERAL first."""
    return tuple(name for name in columns if name.startswith(_POSITION))


def passed_through(columns: Iterable[str]) -> tuple[str, ...]:
    """Of the columns below a projection those that it gives as they are."""
    names = tuple(columns)
    return (*(name for name in _PASSED if name in names), *_positions(names))


PlanNode = ReadTopic | Filter | Unnest | Aggregate | Having | Join | Project
Stateful = Aggregate | Having | Join


def check(below: PlanNode, *exprs: Expr) -> None:
    """Check that every column an expression reads is given below, with the type it expects.

    Raises:
        InvalidPlan: listing what there is.
    """
    check_columns(below.columns, *exprs)
