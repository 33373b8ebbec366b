"""The properties that a checkpoint depends on, as data. A start compares them with the next program's.

The description of a query's state contains the operators with their layouts, keys and windows, and the meaning of the
filters and conditions below them. It does not contain the position of the query in the program, nor the expressions
that are computed from results.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lsql_runner.bind.bound import WindowSpec
from lsql_runner.bind.expr import ColumnRef
from lsql_runner.formats.catalog import Serde
from lsql_runner.formats.table import row_of
from lsql_runner.plan.meaning import (
    ColumnMeanings,
    Value,
    canonical,
    column_meanings,
    condition_meanings,
    in_order,
    meaning,
)
from lsql_runner.plan.nodes import (
    Aggregate,
    Filter,
    Having,
    Join,
    JoinSide,
    PlanNode,
    Project,
    ReadTopic,
    Unnest,
    key_serde,
)
from lsql_runner.plan.queries import Plan, Query, WriteTopic
from lsql_runner.plan.tree import needs_consolidation, nodes, row_key
from lsql_runner.types import describe

VERSION = 1
"""The version of the description. Increment it if the form of the description or of the values of `meaning` changes."""

LAYOUTS = {
    "aggregate": 2,
    "sessions": 1,
    "table-aggregate": 1,
    "having": 1,
    "lookup": 1,
    "table-join": 1,
    "outer-table-join": 1,
    "inner-join": 1,
    "outer-join": 1,
    "join": 2,
}
"""The version of the state layout of each operator. Increment it if the engine changes a layout, and add golden states:
tests/streams/golden_states has a state for each layout of each released version."""


class VersionMismatch(Exception):
    """A fingerprint with another version of the description."""

    def __init__(self, version: int) -> None:
        super().__init__(version)
        self.version = version


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertFingerprint:
    """An INSERT into a topic. It has no effect on state: it tells which INSERT of the next program is the same."""

    name: str
    target: str
    sources: tuple[str, ...]
    content: str
    """What its records depend on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryFingerprint:
    """A query: its name, which is also the name of its checkpoint folder, and what its state depends on."""

    name: str
    targets: tuple[str, ...]
    """The targets, which distinguish queries with the same state."""
    sources: tuple[str, ...]
    """The source topics in the order in which the engine numbers them."""
    stores: tuple[str, ...] = ()
    """The names of its stateful operators, from the target down."""
    state: Value = None
    """The properties that the state depends on, its aggregates in their stored order; None for a stateless query."""
    inserts: tuple[InsertFingerprint, ...] | None = ()
    """The INSERTs into topics, then those whose dead letters it writes; None if an earlier release saved none."""

    @property
    def content(self) -> str:
        """What must be equal if another query is to continue the state, and its values keep their meaning."""
        return canonical([self.sources, None if self.state is None else in_any_order(self.state)])


@dataclass(frozen=True, slots=True)
class Fingerprint:
    queries: tuple[QueryFingerprint, ...]

    @property
    def stateful(self) -> tuple[QueryFingerprint, ...]:
        """The queries that keep state."""
        return tuple(query for query in self.queries if query.state is not None)

    def query(self, name: str) -> QueryFingerprint | None:
        return next((query for query in self.queries if query.name == name), None)

    def as_json(self) -> dict[str, Any]:
        queries = [
            {
                "name": query.name,
                "targets": list(query.targets),
                "sources": list(query.sources),
                "stores": list(query.stores),
                "state": query.state,
                "inserts": [asdict(insert) for insert in query.inserts or ()],
            }
            for query in self.queries
        ]
        return {"version": VERSION, "queries": queries}

    @staticmethod
    def from_json(value: dict[str, Any]) -> Fingerprint:
        """The fingerprint from the result of `as_json`.

        Raises:
            VersionMismatch: the value has another version of the description, or was written before versions existed.
            KeyError, TypeError, AttributeError: the value is not a fingerprint.
        """
        version = value.get("version", 0)
        if version != VERSION:
            raise VersionMismatch(version)
        return Fingerprint(
            tuple(
                QueryFingerprint(
                    name=q["name"],
                    targets=tuple(q["targets"]),
                    sources=tuple(q["sources"]),
                    stores=tuple(q["stores"]),
                    state=q["state"],
                    inserts=_inserts(q.get("inserts")),
                )
                for q in value["queries"]
            )
        )


NOTHING = Fingerprint(())


def _inserts(values: list[dict[str, Any]] | None) -> tuple[InsertFingerprint, ...] | None:
    if values is None:
        return None
    return tuple(InsertFingerprint(**{**each, "sources": tuple(each["sources"])}) for each in values)


def fingerprint(plan: Plan) -> Fingerprint:
    """The fingerprint of a plan."""
    return Fingerprint(tuple(_query(query) for query in plan.queries))


def _query(query: Query) -> QueryFingerprint:
    sources = tuple(source.topic for source in query.sources)
    targets = tuple(write.name for write in query.writes)
    stores = tuple(store.store for store in query.stores)
    topic_writes = (write for write in (*query.writes, *query.dead_letters_of) if isinstance(write, WriteTopic))
    inserts = tuple(insert_fingerprint(write) for write in topic_writes)
    if not stores:
        return QueryFingerprint(name=query.name, targets=targets, sources=sources, inserts=inserts)
    (write,) = query.writes
    # With another policy than `fail`, sums are stored exactly, and HAVING stores the error of a group.
    policy = write.errors.write if isinstance(write, WriteTopic) else "fail"
    state = {"write_errors": policy, "of": _node(query.stores[0])}
    return QueryFingerprint(
        name=query.name, targets=targets, sources=sources, stores=stores, state=state, inserts=inserts
    )


def insert_fingerprint(write: WriteTopic) -> InsertFingerprint:
    """The fingerprint of an INSERT into a topic. The content has the names and types of all fields."""
    node, columns = write.input, column_meanings(write.input)
    parts = [("key", node.key_type), ("value", node.value_type)]
    records = [[describe(kind), meaning(ColumnRef(name, (), kind), columns)] for name, kind in parts]
    sources = tuple(dict.fromkeys(each.schema.topic for each in nodes(node) if isinstance(each, ReadTopic)))
    content = canonical([_node(node), records, meaning(node.ts, columns)])
    return InsertFingerprint(name=write.insert, target=write.topic, sources=sources, content=content)


def _node(node: PlanNode) -> Value:
    """The properties that the rows of a node depend on. Expressions include the projections below them."""
    match node:
        case ReadTopic(schema):
            return {"read": schema.topic}
        case Project(as_table=True):
            key = meaning(ColumnRef("key", (), node.key_type), column_meanings(node))
            return {"newest": key, "input": _node(node.input)}
        case Project():
            return _node(node.input)
        case Filter():
            return _filters(node)
        case Unnest(array=array):
            return {"unnest": meaning(array, column_meanings(node.input)), "input": _node(node.input)}
        case Having(condition=condition):
            conditions = condition_meanings(condition, column_meanings(node.input))
            return _operator("having", {"conditions": conditions}, node.input)
        case Aggregate():
            return _aggregate(node)
        case Join():
            return _join(node)


def _operator(name: str, values: dict[str, Value], below: PlanNode | None = None) -> Value:
    described = {"operator": name, "layout": LAYOUTS[name], **values}
    return described if below is None else described | {"input": _node(below)}


def _filters(node: Filter) -> Value:
    """Adjacent filters, also with projections between them, are described as one filter."""
    conditions: list[Value] = []
    below: PlanNode = node
    while isinstance(below, Filter) or (isinstance(below, Project) and not below.as_table):
        if isinstance(below, Filter):
            conditions += condition_meanings(below.condition, column_meanings(below.input))
        below = below.input
    return {"filter": in_order(conditions), "input": _node(below)}


def _aggregate(node: Aggregate) -> Value:
    columns = column_meanings(node.input)
    name = "table-aggregate" if node.of_table else "sessions" if node.is_session else "aggregate"
    values = {
        "keys": [[meaning(expr, columns), describe(expr.type)] for _, expr in node.keys]
        or _identity(key_serde(node.input)),
        "window": _window(node.window),
        "grace_ms": None if node.window is None else node.grace_ms,
        "event_time": meaning(node.event_time, columns),
        "final": node.final,
        "order": list(node.order_columns),
        "aggregates": [meaning(call, columns) for _, call in node.calls],
    }
    return _operator(name, values | (_rows(node.input) if node.of_table else {}), node.input)


def _identity(key: Serde) -> list[Value]:
    """How equal record keys are recognized; empty if by their bytes."""
    match row_of(key.format).key_identity:
        case "canonical":
            return [str(key.format)]
        case "decoded":
            return [str(key.format), describe(key.type)]
    return []


def _rows(table: PlanNode) -> dict[str, Value]:
    """The identity of the rows of a table, where it is not the bytes of their keys."""
    key = row_key(table)
    identity = [] if key is None else _identity(key)
    return {"rows": identity} if identity else {}


def _window(window: WindowSpec | None) -> Value:
    return None if window is None else [window.kind, window.size_ms, window.advance_ms]


def _join(node: Join) -> Value:
    columns = column_meanings(node)
    values = {
        "kind": node.kind,
        "within_ms": node.within_ms,
        "grace_ms": None if node.within_ms is None else node.grace_ms,
        "conditions": [] if node.residual is None else condition_meanings(node.residual, columns),
        "left": _side(node.left, columns),
        "right": _side(node.right, columns),
    }
    return _operator(_join_operator(node), values)


def _join_operator(node: Join) -> str:
    if node.within_ms is not None:
        return "join" if not node.in_spans else "inner-join" if node.kind == "INNER" else "outer-join"
    if not node.is_table:
        return "lookup"
    return "table-join" if node.kind == "INNER" or needs_consolidation(node) else "outer-table-join"


def _side(side: JoinSide, columns: ColumnMeanings) -> Value:
    return {
        **(_rows(side.input) if side.is_table else {}),
        "table": side.is_table,
        "by_key": side.by_key,
        "on": [[meaning(key, columns), describe(key.type)] for key in side.keys],
        "keeps": [[name, describe(kind)] for name, kind in side.carried],
        "input": _node(side.input),
    }


def in_any_order(described: Value) -> Value:
    """A description in which the aggregates of each operator are sorted."""
    if not isinstance(described, dict):
        return described
    values = {name: in_any_order(value) for name, value in described.items()}
    return values | {"aggregates": sorted(values["aggregates"], key=canonical)} if "aggregates" in values else values


def operators(state: Value) -> tuple[str, ...]:
    """The names of the operators in a description, from the top."""
    return tuple(node["operator"] for node in described_nodes(state) if "operator" in node)


def described_nodes(state: Value) -> list[dict[str, Value]]:
    """The nodes in a description, from the top: operators, filters and topics, each without the nodes below it."""
    nodes: list[dict[str, Value]] = []

    def visit(node: dict[str, Value]) -> None:
        nodes.append({name: value for name, value in node.items() if name not in ("input", "left", "right")})
        for side in ("left", "right"):
            if side in node:
                nodes[-1][side] = {name: value for name, value in node[side].items() if name != "input"}
        for below in (node, node.get("left"), node.get("right")):
            if below is not None and "input" in below:
                visit(below["input"])

    if state is not None:
        visit(state["of"])
    return nodes
