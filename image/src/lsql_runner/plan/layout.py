"""The layout of the state of a query: what decides how its bytes are read, without what its values mean.

A query with the same layout can continue a state although it has another filter, grace, condition, or argument of an
aggregate: from then on its records are counted in the new way, and the values from before stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from lsql_runner.bind.expr import AggregateCall
from lsql_runner.plan.fingerprint import QueryFingerprint, described_nodes
from lsql_runner.plan.meaning import Calls, ColumnMeanings, Value, canonical, meaning

_CONDITIONS_OF = frozenset({"having", "lookup", "join", "inner-join", "outer-join"})
"""Operators whose state does not depend on their condition. A join of tables deletes the result of a pair whose rows
change, and only finds it by the same condition."""
_GROUPS = frozenset({"aggregate", "sessions"})
"""Operators that keep only results. Groups of a table also keep the arguments of each row, with their types."""
SUMS = frozenset({"SUM", "AVG"})
"""Aggregates that keep a sum. Its form depends on the type of the argument, if errors of groups are handled, and on the
digits of decimals."""
_BELOW = ("input", "left", "right")
"""The nodes below a node."""
_MERGED_IF_NEVER_NULL = "COUNT"
"""Spark counts an argument that is never NULL like COUNT(*), and keeps one number for both."""


def layout(query: QueryFingerprint) -> str:
    """What must be equal if a query is to continue the state of another query."""
    return _described(query, query.state["of"])


def layout_without_aggregates(query: QueryFingerprint) -> str:
    """What must be equal if the state of another query can be converted to that of a query."""
    return _described(query, _without_aggregates(query.state["of"]))


def _described(query: QueryFingerprint, node: Value) -> str:
    state = query.state
    # The clocks of final results and of joins of streams continue from the watermark by the grace.
    has_clock = any(node.get("final") or node.get("within_ms") is not None for node in described_nodes(state))
    return canonical([query.sources, state["write_errors"], _layout(node, state["write_errors"] != "fail", has_clock)])


def _without_aggregates(node: Value) -> Value:
    kept = {**node, "aggregates": [], "order": []} if node.get("operator") == "aggregate" else dict(node)
    return kept | {below: _without_aggregates(kept[below]) for below in _BELOW if below in kept}


def _layout(node: Value, handles_errors: bool, has_clock: bool) -> Value:
    if "filter" in node:
        return _layout(node["input"], handles_errors, has_clock)
    operator = node.get("operator")
    kept = dict(node)
    if operator in _CONDITIONS_OF:
        del kept["conditions"]
    if operator in _GROUPS:
        kept["aggregates"] = sorted(_slot(each, handles_errors) for each in node["aggregates"])
        if not has_clock:
            del kept["grace_ms"]
    for below in _BELOW:
        if below in kept:
            kept[below] = _layout(kept[below], handles_errors, has_clock)
    return kept


def _slot(aggregate: Value, handles_errors: bool) -> str:
    """What an aggregate keeps for a group, as text."""
    name, function, argument, limit, kind = aggregate
    depends = (
        (handles_errors and function in SUMS)
        or function == _MERGED_IF_NEVER_NULL
        or (function == "AVG" and kind != "double")  # the sum has the digits of the argument
    )
    return canonical([name, function, limit, kind, argument if depends else None])


def in_order_of(stored: Sequence[Value], calls: Calls, columns: ColumnMeanings, handles_errors: bool) -> Calls | None:
    """The aggregates of a group in the order of a stored state of the same layout.

    Args:
        stored: the aggregates of the state, as they are described.
        calls: the aggregates of the group, as many.
        columns: the meaning of the columns that they read.
        handles_errors: whether the errors of groups are handled.

    Returns:
        None if it is not clear which aggregate continues which values: two that keep the same have both changed, or one
        of two equal ones.
    """
    old = [canonical(each) for each in stored]
    free = [(canonical(meaning(call, columns)), (slot, call)) for slot, call in calls]
    new = [text for text, _ in free]
    if sorted(new) != sorted(old) and (len(set(new)) < len(new) or len(set(old)) < len(old)):
        return None  # Spark keeps equal aggregates once
    ordered: list[tuple[str, AggregateCall] | None] = []
    for text in old:
        same = next((each for each in free if each[0] == text), None)
        ordered.append(None if same is None else same[1])
        if same is not None:
            free.remove(same)
    changed: dict[str, tuple[str, AggregateCall]] = {}
    for _, (slot, call) in free:
        place = _slot(meaning(call, columns), handles_errors)
        if place in changed:
            return None
        changed[place] = (slot, call)
    return tuple(each or changed[_slot(was, handles_errors)] for each, was in zip(ordered, stored, strict=True))
