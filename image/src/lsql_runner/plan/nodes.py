"""The nodes of a plan, each with its output columns. A node that reads a column that its input has not is refused.

Columns: `key`, `value`, `ts` (LONG, milliseconds since 1970 UTC), `topic`, `partition`, `offset`, `headers`;
`raw_key` and `raw_value` while the original bytes are still valid; `lateral_<alias>` and `position_<n>`, the index of
the element in its array; above an aggregate `group_<name>`, `agg_<n>`, `window_start` and, for a session, `window_end`
(LONG, milliseconds); above a join the columns of the n-th source as `<column>_<n>`.

The rows of a table are upserts: the newest row of a key counts. A deletion is a row, too.
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
    """The input is a table: a row for which the condition is not true is deleted."""

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
        """The column with the index of the element in its array."""
        return f"{_POSITION}{len(_positions(self.input.columns))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """One row for each group (and window) that a batch changed. Without keys, records are grouped by their raw key."""

    input: PlanNode
    keys: tuple[tuple[str, Expr], ...]
    window: WindowSpec | None
    grace_ms: int
    event_time: Expr
    calls: tuple[tuple[str, AggregateCall], ...]
    """The aggregates in the order in which the state has them, each with the column that it goes to."""
    store: str
    of_table: bool = False
    """The input is a table: a row that changes or is deleted leaves its group."""
    final: bool = False
    """A window has one result, when it ends."""

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
        """The arguments of the aggregates."""
        return tuple(call.arg for _, call in self.calls if call.arg is not None)

    @property
    def place(self) -> tuple[str, ...]:
        """The input columns that order records of one event time; empty if no aggregate depends on the order."""
        if not any(AGGREGATES[call.function].depends_on_order for _, call in self.calls):
            return ()
        below = self.input.columns
        return (*(name for name in ("partition", "offset") if name in below), *_positions(below))


@dataclass(frozen=True, slots=True)
class Having:
    """The groups for which a condition is true. A group for which it is no longer true is deleted."""

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
    """One side of a join: its input, the values that it is joined by, and the columns that are read above the join."""

    input: PlanNode
    keys: tuple[Expr, ...]
    carried: tuple[tuple[str, DataType], ...]
    is_table: bool
    by_key: bool
    """Whether it is joined by exactly its own key."""
    number: int | None
    """The position of the source in the FROM; None for the join of all sources before."""

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
    """Joined rows of two sources. Rows of two streams are at most `within_ms` apart."""

    left: JoinSide
    right: JoinSide
    kind: JoinKind
    residual: Expr | None
    within_ms: int | None
    grace_ms: int
    key: Expr
    raw_key: str | None
    """The column with the bytes of the result's key, if a source has them."""
    store: str
    clock: str | None = None
    """For two streams: the clock that advances their time while they have no records, for final results above."""

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
        """For two streams: how far their watermark is behind the newest time; None for other joins."""
        return None if self.within_ms is None else self.within_ms + self.grace_ms

    @property
    def waits(self) -> bool:
        """For two streams: whether a record without a match is emitted, which is known when its time has passed."""
        return self.delay_ms is not None and self.kind != "INNER"

    @property
    def moves_rows(self) -> bool:
        """For two tables: whether one key may be deleted by one pair and inserted by another in one batch."""
        return self.is_table and not (self.left.by_key and self.right.by_key and self.kind == "INNER")

    @property
    def columns(self) -> ColumnTypes:
        raw = {} if self.raw_key is None else {"raw_key": BYTES}
        # A record of a stream joined with a table keeps its partition and offset.
        place = {"partition": INT, "offset": LONG} if self.left.is_table != self.right.is_table else {}
        return {**self._carried, **raw, **place, "key": self.key.type, "ts": LONG}


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Records computed from the input. `ts` is their timestamp; topic, partition, offset and headers pass through."""

    input: PlanNode
    key: Part
    value: Part
    ts: Expr
    key_type: DataType
    value_type: DataType
    windowed: bool
    """The key contains the start of the window."""
    of_table: bool = False
    """The input is a table."""

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
    """The columns with indexes into arrays, the outermost LATERAL first."""
    return tuple(name for name in columns if name.startswith(_POSITION))


def passed_through(columns: Iterable[str]) -> tuple[str, ...]:
    """The input columns of a projection that it passes on unchanged."""
    names = tuple(columns)
    return (*(name for name in _PASSED if name in names), *_positions(names))


PlanNode = ReadTopic | Filter | Unnest | Aggregate | Having | Join | Project
Stateful = Aggregate | Having | Join


def check(below: PlanNode, *exprs: Expr) -> None:
    """Check that the input has every column that an expression reads, with the expected type.

    Raises:
        InvalidPlan: with the columns that exist.
    """
    check_columns(below.columns, *exprs)
