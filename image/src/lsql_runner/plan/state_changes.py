"""Why a program cannot continue a state, as data: `error_catalogue.STATE_CHANGES` has the sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsql_runner.error_catalogue import STATE_CHANGES
from lsql_runner.plan.fingerprint import QueryFingerprint, operators, parts
from lsql_runner.plan.meaning import Value

_PARTS = {
    "filter": "filter",
    "unnest": "lateral",
    "keys": "keys",
    "window": "window",
    "grace_ms": "grace",
    "event_time": "event_time",
    "final": "final",
    "aggregates": "aggregates",
    "conditions": "conditions",
    "kind": "join_kind",
    "within_ms": "within",
}
"""By the name of a value in a description, the kind of change that another value is."""


@dataclass(frozen=True, slots=True)
class StateChange:
    """A change by which state does not fit. `kind` and the names of the parameters are those of STATE_CHANGES."""

    kind: str
    params: tuple[tuple[str, str | int], ...]

    def __str__(self) -> str:
        return STATE_CHANGES[self.kind].format_map(dict(self.params))


def state_changes(lost: Sequence[QueryFingerprint], fresh: Sequence[QueryFingerprint]) -> Iterator[StateChange]:
    """What changed, for each state that no query continues.

    Args:
        lost: pinned queries whose state fits none.
        fresh: queries that continue none. One with the same targets is taken for what became of the pinned one.
    """
    others = list(fresh)
    for old in lost:
        new = next((query for query in others if query.targets == old.targets), None)
        if new is None:
            yield _change("removed", old)
        else:
            others.remove(new)
            yield from dict.fromkeys(_differences(old, new))


def _differences(old: QueryFingerprint, new: QueryFingerprint) -> Iterator[StateChange]:
    if old.sources != new.sources:
        yield _change("sources", old, was=", ".join(old.sources), now=", ".join(new.sources))
    was, now = old.state["write_errors"], new.state["write_errors"]
    if was != now:
        yield _change("error_policy", old, was=was, now=now)
    before, after = operators(old.state), operators(new.state)
    if before != after:
        yield _change("operators", old, was=", ".join(before), now=", ".join(after))
        return
    if old.sources == new.sources:
        yield from _in_parts(old, parts(old.state), parts(new.state))


def _in_parts(query: QueryFingerprint, old: list[Value], new: list[Value]) -> Iterator[StateChange]:
    if [list(part) for part in old] != [list(part) for part in new]:
        yield _change("filter", query)  # one more or less, or one that was elsewhere
        return
    for before, after in zip(old, new, strict=True):
        if before.get("layout") != after.get("layout"):
            yield _change("layout", query, operator=before["operator"], was=before["layout"], now=after["layout"])
        for name, kind in _PARTS.items():
            if before.get(name) != after.get(name):
                yield _change(kind, query)
        for side in ("left", "right"):
            yield from _of_side(query, before.get(side, {}), after.get(side, {}))


def _of_side(query: QueryFingerprint, before: Value, after: Value) -> Iterator[StateChange]:
    for name in before:
        if before[name] != after[name]:
            yield _change("kept_fields" if name == "keeps" else "join_keys", query)


def _change(kind: str, query: QueryFingerprint, **params: str | int) -> StateChange:
    return StateChange(kind, (("target", ", ".join(query.targets)), *params.items()))
