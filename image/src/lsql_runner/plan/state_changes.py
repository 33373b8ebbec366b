"""Why a program cannot continue a state: reasons with parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsql_runner.errors.details import Detail, DetailTable
from lsql_runner.plan.fingerprint import QueryFingerprint, operators, parts
from lsql_runner.plan.meaning import Value

_PARTS = {
    "filter": "FILTER",
    "unnest": "LATERAL",
    "keys": "KEYS",
    "window": "WINDOW",
    "grace_ms": "GRACE",
    "event_time": "EVENT_TIME",
    "final": "FINAL",
    "aggregates": "AGGREGATES",
    "conditions": "CONDITIONS",
    "kind": "JOIN_KIND",
    "within_ms": "WITHIN",
}
"""By the name of a value in a description, the reason if it is another."""


STATE_CHANGES = DetailTable(
    {
        "REMOVED": "no INSERT continues the state of INSERT INTO {target}",
        "SOURCES": "INSERT INTO {target} reads {now} instead of {was}",
        "OPERATORS": "the stateful operators of INSERT INTO {target} are {now} instead of {was}",
        "LAYOUT": "INSERT INTO {target} stores the state of {operator} in layout {now} instead of {was}",
        "ERROR_POLICY": "error.policy.write of INSERT INTO {target} is {now} instead of {was}",
        "FILTER": "INSERT INTO {target} has another filter below its state",
        "LATERAL": "INSERT INTO {target} has another LATERAL",
        "KEYS": "INSERT INTO {target} groups by other values",
        "WINDOW": "INSERT INTO {target} has another window",
        "GRACE": "INSERT INTO {target} has another grace",
        "EVENT_TIME": "INSERT INTO {target} has another event time",
        "FINAL": "INSERT INTO {target} has another emit mode",
        "AGGREGATES": "INSERT INTO {target} has other aggregates",
        "CONDITIONS": "INSERT INTO {target} has another condition in HAVING or ON",
        "JOIN_KIND": "INSERT INTO {target} has another kind of join",
        "WITHIN": "INSERT INTO {target} has another WITHIN",
        "JOIN_KEYS": "INSERT INTO {target} joins by other values",
        "KEPT_FIELDS": "INSERT INTO {target} reads other fields of a joined source, or with other types",
    }
)
"""The reasons that STATE_INCOMPATIBLE gives as `change`."""


def state_changes(lost: Sequence[QueryFingerprint], fresh: Sequence[QueryFingerprint]) -> Iterator[Detail]:
    """What changed, for each state that no query continues.

    Args:
        lost: pinned queries whose state fits none.
        fresh: queries that continue none. One with the same targets is taken for what became of the pinned one.
    """
    others = list(fresh)
    for old in lost:
        new = next((query for query in others if query.targets == old.targets), None)
        if new is None:
            yield _change("REMOVED", old)
        else:
            others.remove(new)
            yield from dict.fromkeys(_differences(old, new))


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
        yield from _in_parts(old, parts(old.state), parts(new.state))


def _in_parts(query: QueryFingerprint, old: list[Value], new: list[Value]) -> Iterator[Detail]:
    if [list(part) for part in old] != [list(part) for part in new]:
        yield _change("FILTER", query)  # one more or less, or one that was elsewhere
        return
    for before, after in zip(old, new, strict=True):
        if before.get("layout") != after.get("layout"):
            yield _change("LAYOUT", query, operator=before["operator"], was=before["layout"], now=after["layout"])
        for name, kind in _PARTS.items():
            if before.get(name) != after.get(name):
                yield _change(kind, query)
        for side in ("left", "right"):
            yield from _of_side(query, before.get(side, {}), after.get(side, {}))


def _of_side(query: QueryFingerprint, before: Value, after: Value) -> Iterator[Detail]:
    for name in before:
        if before[name] != after[name]:
            yield _change("KEPT_FIELDS" if name == "keeps" else "JOIN_KEYS", query)


def _change(code: str, query: QueryFingerprint, **params: str | int) -> Detail:
    return STATE_CHANGES(code, target=", ".join(query.targets), **params)
