"""The reasons why a program cannot continue a state, with parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsql_runner.errors.details import Detail, DetailTable
from lsql_runner.plan.conversion import Conversion
from lsql_runner.plan.fingerprint import QueryFingerprint, described_nodes, in_any_order, operators
from lsql_runner.plan.meaning import Value

_REASONS = {
    "filter": "FILTER",
    "unnest": "LATERAL",
    "keys": "KEYS",
    "window": "WINDOW",
    "grace_ms": "GRACE",
    "event_time": "EVENT_TIME",
    "final": "FINAL",
    "aggregates": "AGGREGATES",
    "newest": "ROW_KEY",
    "rows": "ROW_KEY",
    "conditions": "CONDITIONS",
    "kind": "JOIN_KIND",
    "within_ms": "WITHIN",
}
"""The reason for each value of a description that differs."""


STATE_CHANGES = DetailTable(
    {
        "STATE_PARTITIONS": "state.partitions is {now}, and the state has {was} partitions",
        "REMOVED": "no INSERT continues the state of INSERT INTO {target}",
        "SOURCES": "INSERT INTO {target} reads {now} instead of {was}",
        "SOURCE_ORDER": "INSERT INTO {target} joins its sources in a different order",
        "OPERATORS": "the stateful operators of INSERT INTO {target} are {now} instead of {was}",
        "LAYOUT": "INSERT INTO {target} stores the state of {operator} in layout {now} instead of {was}",
        "ERROR_POLICY": "error.policy.write of INSERT INTO {target} is {now} instead of {was}",
        "FILTER": "INSERT INTO {target} has a different filter before its stateful operator",
        "LATERAL": "INSERT INTO {target} has a different LATERAL",
        "KEYS": "INSERT INTO {target} groups by different values",
        "ROW_KEY": "INSERT INTO {target} reads a table whose rows have a different key",
        "WINDOW": "INSERT INTO {target} has a different window",
        "GRACE": "INSERT INTO {target} has a different grace",
        "EVENT_TIME": "INSERT INTO {target} has a different event time",
        "FINAL": "INSERT INTO {target} has a different emit mode",
        "AGGREGATES": "INSERT INTO {target} has different aggregates",
        "AGGREGATES_ADDED": "INSERT INTO {target} has new aggregates ({functions})",
        "AGGREGATES_REMOVED": "INSERT INTO {target} does not have all aggregates any more ({functions})",
        "AGGREGATES_WIDENED": "INSERT INTO {target} has aggregates with a wider type ({functions})",
        "CONDITIONS": "INSERT INTO {target} has a different condition in HAVING or ON",
        "JOIN_KIND": "INSERT INTO {target} has a different type of join",
        "WITHIN": "INSERT INTO {target} has a different WITHIN",
        "JOIN_KEYS": "INSERT INTO {target} joins by different values",
        "RESULTS": "INSERT INTO {target} computes different results from the same state",
        "KEPT_FIELDS": "INSERT INTO {target} reads different fields of a joined source, or fields with different types",
    }
)
"""The values of the parameter `change` of STATE_INCOMPATIBLE."""


SAME_MEANING = frozenset({"RESULTS", "AGGREGATES_REMOVED", "AGGREGATES_WIDENED"})
"""The changes with which each value of a state keeps its meaning."""


def state_changes(lost: Sequence[QueryFingerprint], unmatched: Sequence[QueryFingerprint]) -> Iterator[Detail]:
    """The changes for each state that no query continues.

    Args:
        lost: pinned queries whose state no query continues.
        unmatched: queries that continue no state. A query with the same targets is compared with the pinned query.
    """
    remaining = list(unmatched)
    for old in lost:
        new = next((query for query in remaining if query.targets == old.targets), None)
        if new is None:
            yield _change("REMOVED", old)
        else:
            remaining.remove(new)
            yield from differences(old, new)


def differences(old: QueryFingerprint, new: QueryFingerprint) -> tuple[Detail, ...]:
    """How the state of a query differs from that of another query with the same targets."""
    return tuple(dict.fromkeys(_differences(old, new))) or (_change("SOURCE_ORDER", old),)


def conversion_changes(conversion: Conversion) -> tuple[Detail, ...]:
    """What a conversion changes, and what else differs: its filters, conditions and grace."""
    parts = (
        ("AGGREGATES_ADDED", conversion.added),
        ("AGGREGATES_REMOVED", conversion.removed),
        ("AGGREGATES_WIDENED", conversion.widened),
    )
    aggregates = (_change(code, conversion.old, functions=", ".join(names)) for code, names in parts if names)
    others = (each for each in differences(conversion.old, conversion.new) if each.code != "AGGREGATES")
    return (*aggregates, *others)


def _differences(old: QueryFingerprint, new: QueryFingerprint) -> Iterator[Detail]:
    if old.sources != new.sources:
        yield _change("SOURCES", old, was=", ".join(old.sources), now=", ".join(new.sources))
    was, now = old.state["write_errors"], new.state["write_errors"]
    if was != now:
        yield _change("ERROR_POLICY", old, was=was, now=now)
    before, after = operators(old.state), operators(new.state)
    if before != after:
        yield _change("OPERATORS", old, was=", ".join(before), now=", ".join(after))
        return
    if old.sources == new.sources:
        yield from _node_differences(old, _nodes(old), _nodes(new))


def _nodes(query: QueryFingerprint) -> list[Value]:
    return described_nodes(in_any_order(query.state))


def _node_differences(query: QueryFingerprint, old: list[Value], new: list[Value]) -> Iterator[Detail]:
    if _filters(old) != _filters(new):
        yield _change("FILTER", query)
    old, new = ([node for node in nodes if "filter" not in node] for nodes in (old, new))
    if [_parts(node) for node in old] != [_parts(node) for node in new]:
        newest = [[node["newest"] for node in nodes if "newest" in node] for nodes in (old, new)]
        yield _change("LATERAL" if newest[0] == newest[1] else "ROW_KEY", query)
        return
    for before, after in zip(old, new, strict=True):
        if before.get("layout") != after.get("layout"):
            yield _change("LAYOUT", query, operator=before["operator"], was=before["layout"], now=after["layout"])
        for name, reason in _REASONS.items():
            if before.get(name) != after.get(name):
                yield _change(reason, query)
        for side in ("left", "right"):
            yield from _side_differences(query, before.get(side, {}), after.get(side, {}))


def _filters(nodes: list[Value]) -> list[tuple[int, Value]]:
    """Each filter, with the number of other nodes above it."""
    filters = [(place, node["filter"]) for place, node in enumerate(nodes) if "filter" in node]
    return [(place - number, conditions) for number, (place, conditions) in enumerate(filters)]


def _parts(node: Value) -> list[str]:
    """The names of the values that every node of its kind has."""
    return [name for name in node if name != "rows"]


def _side_differences(query: QueryFingerprint, before: Value, after: Value) -> Iterator[Detail]:
    reasons = {"keeps": "KEPT_FIELDS", "rows": "ROW_KEY"}
    for name in {**before, **after}:
        if before.get(name) != after.get(name):
            yield _change(reasons.get(name, "JOIN_KEYS"), query)


def _change(code: str, query: QueryFingerprint, **params: str | int) -> Detail:
    return STATE_CHANGES(code, target=", ".join(query.targets), **params)
