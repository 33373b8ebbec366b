"""The nodes of a plan, each with its output columns. Constructors check that the input has the columns that are read.

Columns: `key`, `value`, `ts` (LONG, milliseconds since 1970 UTC), `topic`, `partition`, `offset`, `headers`;
`raw_key` and `raw_value` while the original bytes are still valid; `lateral_<alias>` and `position_<n>`, the index of
the element in its array; above an aggregate `group_<name>`, `agg_<n>`, `window_start` and, for a session, `window_end`
(LONG, milliseconds); above a join the columns of the n-th source as `<column>_<n>`.

The rows of a table are upserts: a row replaces the previous row with its key. A deletion is also a row.
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
from lsql_runner.formats.catalog import JSON_FORMAT, Serde, TopicSchema
from lsql_runner.formats.table import row_of
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
    """The input is a table: rows for which the condition is not true are deleted."""

    def __post_init__(self) -> None:
        _check_input(self.input, self.condition)

    @property
    def columns(self) -> ColumnTypes:
        return self.input.columns


@dataclass(frozen=True, slots=True)
class Unnest:
    """One row for each element of an array (LATERAL); none if the array is null or empty."""

    input: PlanNode
    alias: str
    array: Expr

    def __post_init__(self) -> None:
        _check_input(self.input, self.array)
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
    """A row for each group (and window) that a batch changed. Without keys, records are grouped by their raw key."""

    input: PlanNode
    keys: tuple[tuple[str, Expr], ...]
    window: WindowSpec | None
    grace_ms: int
    event_time: Expr
    calls: tuple[tuple[str, AggregateCall], ...]
    """The aggregates in the order of the state, each with its output column."""
    store: str
    of_table: bool = False
    """The input is a table: a changed or deleted row is removed from its group."""
    final: bool = False
    """A window has one result, which is emitted when the window ends."""
    clock: str | None = None
    """For windows of records: the name of the clock that advances the time while there are no records."""

    def __post_init__(self) -> None:
        _check_input(self.input, self.event_time, *(expr for _, expr in self.keys), *self.arguments)
        if not self.keys and "raw_key" not in self.input.columns:
            raise InvalidPlan("grouping by the record key needs the column raw_key")

    @property
    def columns(self) -> ColumnTypes:
        window = {} if self.window is None else {"window_start": LONG}
        if self.is_session:
            window["window_end"] = LONG
        return {**self.groups, **window, **{slot: call.type for slot, call in self.calls}, "ts": LONG}

    @property
    def is_session(self) -> bool:
        return self.window is not None and self.window.is_session

    @property
    def groups(self) -> ColumnTypes:
        """The columns that identify a group. Without group keys, it is the record key: its bytes if equal keys can have
        equal bytes, else its value."""
        if self.keys:
            return {group_column(name): expr.type for name, expr in self.keys}
        is_decoded = compares_decoded(key_serde(self.input))
        return {"key": self.input.columns["key"]} if is_decoded else {"raw_key": BYTES}

    @property
    def arguments(self) -> tuple[Expr, ...]:
        """The arguments of the aggregates."""
        return tuple(call.arg for _, call in self.calls if call.arg is not None)

    @property
    def order_columns(self) -> tuple[str, ...]:
        """The input columns that order records of equal event time; empty if no aggregate depends on the order."""
        if not any(AGGREGATES[call.function].depends_on_order for _, call in self.calls):
            return ()
        below = self.input.columns
        return (*(name for name in ("partition", "offset") if name in below), *_positions(below))


@dataclass(frozen=True, slots=True)
class Having:
    """The groups for which a condition is true. A group is deleted when its condition is no longer true."""

    input: Aggregate
    condition: Expr
    store: str

    def __post_init__(self) -> None:
        _check_input(self.input, self.condition)

    @property
    def columns(self) -> ColumnTypes:
        return self.input.columns


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinSide:
    """One side of a join: its input, its join keys, and the columns that nodes above the join read (`carried`)."""

    input: PlanNode
    keys: tuple[Expr, ...]
    carried: tuple[tuple[str, DataType], ...]
    is_table: bool
    by_key: bool
    """The join key is exactly the record key of this side."""
    number: int | None
    """The position of the source in FROM, from 0; None for a join of several sources."""

    @property
    def columns(self) -> ColumnTypes:
        """The types of all input columns, by the names of the columns in the join."""
        below = self.input.columns
        return {name: below[input_name] for name, input_name in self.names.items()}

    @property
    def names(self) -> dict[str, str]:
        """The names of columns in the input, by their names in the join."""
        if self.number is None:
            return {name: name for name in self.input.columns}
        return {source_column(name, self.number): name for name in self.input.columns}


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """The join of two sources. The times of joined records of two streams differ by at most `within_ms`."""

    left: JoinSide
    right: JoinSide
    kind: JoinKind
    residual: Expr | None
    within_ms: int | None
    grace_ms: int
    key: Expr
    raw_key: str | None
    """The column with the bytes of the key of the result, if a source has them."""
    store: str
    clock: str | None = None
    """For two streams: the name of the clock that advances the time of a side without records."""
    in_spans: bool = False
    """For two streams: it keeps their rows in spans of time. Its result has no watermark of its own."""

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
        """For two streams: the delay of the watermark behind the newest time; None for other joins."""
        return None if self.within_ms is None else self.within_ms + self.grace_ms

    @property
    def input_names(self) -> tuple[str, str]:
        """The names of the left and the right side, unique in the query."""
        return f"{self.store}-left", f"{self.store}-right"

    @property
    def is_lookup(self) -> bool:
        """Whether a stream is joined with a table by the table's key: a record matches one row at most."""
        table = self.left if self.left.is_table else self.right
        return self.left.is_table != self.right.is_table and table.by_key

    @property
    def keeps(self) -> tuple[bool, bool]:
        """Whether rows of the left and of the right side without a match are in the result."""
        return self.kind in ("LEFT", "FULL"), self.kind in ("RIGHT", "FULL")

    @property
    def emits_unmatched(self) -> bool:
        """For two streams: whether records without a match are emitted, when the watermark has passed them."""
        return self.delay_ms is not None and self.kind != "INNER"

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
    """The key contains the window."""
    of_table: bool = False
    """The input is a table."""
    as_table: bool = False
    """The records of a stream are read as a table, whose rows are the newest record of each key."""
    keeps_tombstones: bool = False
    """A record without a value has none in the result: the value is not computed."""

    def __post_init__(self) -> None:
        _check_input(self.input, self.ts, *part_exprs(self.key), *part_exprs(self.value))
        for part, raw in ((self.key, "raw_key"), (self.value, "raw_value")):
            if (
                keeps_source(part)
                and raw not in self.input.columns
                and raw.removeprefix("raw_") not in self.input.columns
            ):
                raise InvalidPlan(f"{raw} cannot pass through: the input does not have it")

    @property
    def columns(self) -> ColumnTypes:
        below = self.input.columns
        types: dict[str, DataType] = {"key": self.key_type, "value": self.value_type, "ts": LONG}
        for part, raw in ((self.key, "raw_key"), (self.value, "raw_value")):
            if raw in below and keeps_source(part):
                types[raw] = BYTES
        return types | {name: below[name] for name in passed_columns(below)}


_POSITION = "position_"
_PASSED = ("topic", "partition", "offset", "headers", "window_start", "window_end")


def _positions(columns: Iterable[str]) -> tuple[str, ...]:
    """The columns with array indexes, the outermost LATERAL first."""
    return tuple(name for name in columns if name.startswith(_POSITION))


def passed_columns(columns: Iterable[str]) -> tuple[str, ...]:
    """The input columns that a projection passes on unchanged."""
    names = tuple(columns)
    return (*(name for name in _PASSED if name in names), *_positions(names))


PlanNode = ReadTopic | Filter | Unnest | Aggregate | Having | Join | Project
Stateful = Aggregate | Having | Join


def key_serde(node: PlanNode) -> Serde:
    """The serde of a node's raw key, the same as for the source topic."""
    match node:
        case ReadTopic(schema):
            return schema.key
        case Join(left=left, right=right, raw_key=raw_key):
            return key_serde(right.input if raw_key in right.columns else left.input)
    return key_serde(node.input)


def compares_decoded(key: Serde) -> bool:
    """Whether keys are decoded to compare them. Windowed keys are not: their value lacks the window."""
    return row_of(key.format).key_identity == "decoded" and not key.format.is_windowed


def encoded_columns(node: PlanNode) -> frozenset[str]:
    """The columns that are still JSON: each expression decodes its fields, numbers as DOUBLE or as NUMBER."""
    match node:
        case ReadTopic(schema):
            parts = (("key", schema.key), ("value", schema.value))
            return frozenset(name for name, part in parts if part.format == JSON_FORMAT)
        case Project():
            kept = (("key", node.key), ("value", node.value))
            return encoded_columns(node.input) & {name for name, part in kept if keeps_source(part)}
        case Filter() | Unnest():
            return encoded_columns(node.input)
    return frozenset()


def _check_input(below: PlanNode, *exprs: Expr) -> None:
    """Check that the input of a node has every column that the expressions read, with the expected type.

    Raises:
        InvalidPlan: the message lists the columns that exist.
    """
    check_columns(below.columns, *exprs, encoded=encoded_columns(below))
