"""Which checkpoints a program continues: its queries are matched with those of the last start by content.

A query that continues a checkpoint has that checkpoint's name, and its stores have theirs, so that an INSERT that is
added, moved or taken away elsewhere changes nothing of it: neither its state, nor its metrics, nor its marks in a sink.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from lsql_runner.errors.details import Detail
from lsql_runner.plan.fingerprint import Fingerprint, QueryFingerprint, fingerprint
from lsql_runner.plan.nodes import Join, PlanNode, Stateful
from lsql_runner.plan.queries import SHARED_NAMES, Plan, Query, with_dead_letters
from lsql_runner.plan.rewrite import rewrite_node
from lsql_runner.plan.state_changes import state_changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuation:
    """How a plan continues what the last start left."""

    plan: Plan
    """With the names of the checkpoints and stores that it continues."""
    fingerprint: Fingerprint
    """Of that plan."""
    changes: tuple[Detail, ...] = ()
    """Why there is state that it cannot continue; empty if it continues all."""
    added: tuple[str, ...] = ()
    """Queries that are new here: each begins without a checkpoint."""
    dropped: tuple[str, ...] = ()
    """Checkpoints that no query continues, and no state is in."""


def continue_from(plan: Plan, pinned: Fingerprint) -> Continuation:
    """Match a plan with the fingerprint of the last start.

    With changes the plan keeps the names that it has: it continues nothing.
    """
    made = fingerprint(plan)
    continued = _matches(made, pinned)
    kept = set(continued.values())
    lost = [query for query in pinned.stateful if query.name not in kept]
    fresh = [query for query in made.stateful if query.name not in continued]
    changes = tuple(state_changes(lost, fresh))
    if changes:
        return Continuation(
            plan=plan, fingerprint=made, changes=changes, added=tuple(query.name for query in plan.queries)
        )
    named = _named(plan, made, pinned, continued)
    found = fingerprint(named)
    added = tuple(new.name for old, new in zip(made.queries, found.queries, strict=True) if old.name not in continued)
    gone = (query.name for query in pinned.queries if query.name not in kept)
    return Continuation(
        plan=named, fingerprint=found, changes=(), added=added, dropped=tuple(dict.fromkeys((*gone, *added)))
    )


def _matches(made: Fingerprint, pinned: Fingerprint) -> dict[str, str]:
    """By the name of a query of the plan, the pinned one that it continues: the same content, best the same targets.

    Two INSERTs may keep the same state. Each goes on where it was, or its target would miss what the other has read.
    """
    found: dict[str, str] = {}
    for is_moved in (False, True):
        for query in made.queries:
            free = (old for old in pinned.queries if old.name not in found.values())
            old = next((old for old in free if _fits(query, old) and (is_moved or query.targets == old.targets)), None)
            if old is not None and query.name not in found:
                found[query.name] = old.name
    return found


def _fits(query: QueryFingerprint, old: QueryFingerprint) -> bool:
    if query.content != old.content:
        return False
    if query.state is not None:
        return True
    # Positions alone: those of the query that it was, not of any other that reads the same topics.
    shared = query.name in SHARED_NAMES or old.name in SHARED_NAMES
    return query.name == old.name if shared else query.targets == old.targets


def _named(plan: Plan, made: Fingerprint, pinned: Fingerprint, continued: dict[str, str]) -> Plan:
    """The plan with the pinned names where it continues, and with names that nothing has elsewhere."""
    names = _Names([query.name for query in pinned.queries])
    stores = _Names([store for query in pinned.queries for store in query.stores])
    queries = []
    for query, print_ in zip(plan.queries, made.queries, strict=True):
        old = pinned.query(continued.get(query.name, ""))
        if old is not None:
            queries.append(_with_names(query, old.name, old.stores))
        elif query.name in SHARED_NAMES:
            queries.append(query)
        else:
            queries.append(_with_names(query, names.free(query.name), [stores.free(name) for name in print_.stores]))
    return with_dead_letters(Plan(tuple(queries)))


class _Names:
    """Gives names as `aggregate-0` that nothing has yet."""

    def __init__(self, taken: Collection[str]) -> None:
        self._taken = set(taken)

    def free(self, name: str) -> str:
        """The name, or the next with another number."""
        kind, _, number = name.rpartition("-")
        count = int(number)
        while f"{kind}-{count}" in self._taken:
            count += 1
        self._taken.add(f"{kind}-{count}")
        return f"{kind}-{count}"


def _with_names(query: Query, name: str, stores: Iterable[str]) -> Query:
    """The query with another name, and other names for its stateful nodes, from the target down."""
    own = [store.store for store in query.stores]
    names = dict(zip(own, stores, strict=True))

    def change(node: PlanNode) -> PlanNode:
        if not isinstance(node, Stateful):
            return node
        renamed = replace(node, store=names[node.store])
        if isinstance(renamed, Join) and renamed.clock is not None:
            return replace(renamed, clock=names[renamed.clock])
        return renamed

    sinks = tuple(replace(sink, input=rewrite_node(sink.input, change)) for sink in query.sinks)
    return replace(query, name=name, sinks=sinks)
