"""Decides which checkpoints a program continues. Its queries are matched by content with the queries of the last start.

A query that continues a checkpoint takes over the name of the query and the names of its stores. Adding, moving or
removing other INSERTs then affects neither its state, nor its metrics, nor the last batch in a sink.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from lsql_runner.errors.details import Detail
from lsql_runner.plan.conversion import Conversion, conversion
from lsql_runner.plan.fingerprint import NOTHING, Fingerprint, QueryFingerprint, described_nodes, fingerprint
from lsql_runner.plan.insert_names import with_insert_names
from lsql_runner.plan.layout import in_order_of, layout
from lsql_runner.plan.meaning import column_meanings
from lsql_runner.plan.nodes import Aggregate, Join, PlanNode, Stateful
from lsql_runner.plan.queries import SHARED_NAMES, Plan, Query, with_dead_letters
from lsql_runner.plan.rewrite import rewrite_node
from lsql_runner.plan.state_changes import conversion_changes, differences, state_changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuation:
    """How a plan continues the state of the last start."""

    plan: Plan
    """The plan, with the names of the checkpoints and stores that it continues."""
    fingerprint: Fingerprint
    """The fingerprint of that plan."""
    changes: tuple[Detail, ...] = ()
    """The reasons why some state is not continued; empty if all state is."""
    new_meanings: Mapping[str, tuple[Detail, ...]] = field(default_factory=dict)
    """By query that computes the values of its state in another way from now on: the differences."""
    conversions: Mapping[str, Conversion] = field(default_factory=dict)
    """By query that continues a state with other aggregates: how the state is converted."""
    returned: tuple[str, ...] = ()
    """Queries that continue a state that another one has replaced before."""
    added: tuple[str, ...] = ()
    """New queries, which start without a checkpoint."""
    dropped: tuple[str, ...] = ()
    """Checkpoints of the last start that no query continues, and any under a name in `added`."""
    in_new_generation: bool = False
    """Whether no state can be continued, whatever the queries are."""

    def continues(self, name: str) -> bool:
        """Whether a query of the plan continues the checkpoint with this name."""
        return name not in self.added and self.fingerprint.query(name) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """Which queries of a plan continue a query of the last start, by their names in the plan."""

    current: Fingerprint
    """The fingerprint of the plan."""
    by_content: Mapping[str, QueryFingerprint]
    """Queries without state, and those whose state has the same layout and meaning."""
    by_layout: Mapping[str, QueryFingerprint]
    """Those whose state has the same layout and another meaning."""
    conversions: Mapping[str, Conversion]
    """Those whose state has other aggregates, and can be converted."""
    returned: Mapping[str, QueryFingerprint]
    """Those whose state was replaced by another one, and kept."""

    @property
    def all(self) -> dict[str, QueryFingerprint]:
        converted = {name: each.old for name, each in self.conversions.items()}
        return {**self.by_content, **self.by_layout, **converted, **self.returned}

    @property
    def continued(self) -> set[str]:
        """The names of the queries of the last start that are continued."""
        return {old.name for old in self.all.values()}

    def changes(self, query: QueryFingerprint) -> tuple[Detail, ...]:
        """How a query computes the values of the state that it continues in another way; empty if it does not."""
        if query.name in self.by_layout:
            return differences(self.by_layout[query.name], query)
        converted = self.conversions.get(query.name)
        return () if converted is None else conversion_changes(converted)


Converts = Callable[[Conversion], bool]
"""Whether a state may be converted, if it can be."""


def match(plan: Plan, pinned: Fingerprint, kept: Fingerprint = NOTHING, converts: Converts = lambda _: True) -> Matches:
    """Match the queries of a plan with those of the last start.

    Args:
        plan: of the next start.
        pinned: the queries of the last start.
        kept: queries whose state was replaced before, and kept; the newest first.
        converts: which states may be converted.
    """
    current = fingerprint(plan)
    by_content = _matches(current, pinned)
    by_layout = _layout_matches(plan, current, pinned, by_content)
    returned = _returned(current, kept, {*by_content, *by_layout})
    matched = {**by_content, **by_layout, **returned}
    return Matches(
        current=current,
        by_content=by_content,
        by_layout=by_layout,
        conversions=_conversions(current, pinned, matched, converts),
        returned=returned,
    )


def continue_from(
    plan: Plan, pinned: Fingerprint, kept: Fingerprint = NOTHING, converts: Converts = lambda _: True
) -> Continuation:
    """Match a plan with the fingerprint of the last start. The arguments are those of `match`.

    If there are changes, the plan continues the rest of the state.
    """
    found = match(plan, pinned, kept, converts)
    current, matches, continued = found.current, found.all, found.continued
    unmatched = [query for query in current.stateful if query.name not in matches]
    renamed = _rename(plan, found, (*pinned.queries, *kept.queries), pinned)
    result = fingerprint(renamed)
    added = tuple(new.name for old, new in zip(current.queries, result.queries, strict=True) if old.name not in matches)
    removed = (query.name for query in pinned.queries if query.name not in continued)
    return Continuation(
        plan=renamed,
        fingerprint=result,
        changes=tuple(state_changes(lost_states(found, pinned), unmatched)),
        new_meanings={
            old.name: found.changes(query)
            for query in current.queries
            if (old := found.by_layout.get(query.name)) is not None
        },
        conversions={each.old.name: each for each in found.conversions.values()},
        returned=tuple(old.name for old in found.returned.values()),
        added=added,
        dropped=tuple(dict.fromkeys((*removed, *added))),
    )


def lost_states(found: Matches, pinned: Fingerprint) -> list[QueryFingerprint]:
    """The queries of the last start with state that no query continues. A state that returns replaces that of its
    target."""
    lost = [query for query in pinned.stateful if query.name not in found.continued]
    for old in found.returned.values():
        replaced = next((query for query in lost if query.targets == old.targets), None)
        if replaced is not None:
            lost.remove(replaced)
    return lost


def discontinued(plan: Plan, *changes: Detail) -> Continuation:
    """A plan that continues nothing, for these reasons, and keeps its names."""
    added = tuple(query.name for query in plan.queries)
    return Continuation(plan=plan, fingerprint=fingerprint(plan), changes=changes, added=added, in_new_generation=True)


def _matches(current: Fingerprint, pinned: Fingerprint) -> dict[str, QueryFingerprint]:
    """The pinned queries, by the names of the queries of the plan that continue them.

    Stateful queries match if they have the same content. Several may have the same content; then one with the same
    targets comes first, because with the position of another query its target would miss records. Stateless queries
    match if they also have the same targets, and shared ones if they have the same name.
    """
    free: dict[str, list[QueryFingerprint]] = {}
    for old in pinned.queries:
        free.setdefault(old.content, []).append(old)
    matches: dict[str, QueryFingerprint] = {}
    candidates = [(query, free.get(query.content, [])) for query in current.queries]
    for other_targets in (False, True):
        for query, olds in candidates:
            if query.name in matches:
                continue
            same = next((old for old in olds if _continues(query, old, other_targets)), None)
            if same is not None:
                matches[query.name] = same
                olds.remove(same)
    return matches


def _returned(current: Fingerprint, kept: Fingerprint, matched: Collection[str]) -> dict[str, QueryFingerprint]:
    """The kept queries with the same targets and content, by the names of the queries that continue them."""
    free = list(kept.queries)
    returned = {}
    for query in current.stateful:
        same = (old for old in free if (old.targets, old.content) == (query.targets, query.content))
        if query.name not in matched and (old := next(same, None)) is not None:
            free.remove(old)
            returned[query.name] = old
    return returned


def _layout_matches(
    plan: Plan, current: Fingerprint, pinned: Fingerprint, matches: Mapping[str, QueryFingerprint]
) -> dict[str, QueryFingerprint]:
    """The pinned queries with the same targets and the same layout, where neither has a match."""
    continued = {old.name for old in matches.values()}
    free = {(old.targets, layout(old)): old for old in reversed(pinned.stateful) if old.name not in continued}
    found = {}
    for query, described in zip(plan.queries, current.queries, strict=True):
        if described.state is None or described.name in matches:
            continue
        place = described.targets, layout(described)
        old = free.get(place)
        if old is not None and _in_stored_order(query, old) is not None:
            del free[place]
            found[described.name] = old
    return found


def _conversions(
    current: Fingerprint, pinned: Fingerprint, matches: Mapping[str, QueryFingerprint], converts: Converts
) -> dict[str, Conversion]:
    """The conversions of pinned queries to queries with the same targets, where neither has a match."""
    continued = {old.name for old in matches.values()}
    free = [old for old in pinned.stateful if old.name not in continued]
    found = {}
    for query in current.stateful:
        if query.name in matches:
            continue
        possible = (conversion(query, old) for old in free if old.targets == query.targets)
        converted = next((each for each in possible if each is not None and converts(each)), None)
        if converted is not None:
            free.remove(converted.old)
            found[query.name] = converted
    return found


def _continues(query: QueryFingerprint, old: QueryFingerprint, other_targets: bool) -> bool:
    """Whether a query continues a checkpoint with the same content; if asked, also of a query with other targets."""
    if not other_targets and query.targets != old.targets:
        return False
    if query.state is not None:
        return True
    # A stateless checkpoint contains only positions, which must not pass to another query that reads the same topics.
    shared = query.name in SHARED_NAMES or old.name in SHARED_NAMES
    return query.name == old.name if shared else query.targets == old.targets


def _rename(plan: Plan, matches: Matches, named: Collection[QueryFingerprint], pinned: Fingerprint) -> Plan:
    """The plan with the saved names for queries that continue a checkpoint, and with unused names for the others.

    Shared queries keep their names.
    """
    names = _UnusedNames([query.name for query in named])
    stores = _UnusedNames([store for query in named for store in query.stores])
    continued = matches.all
    queries = []
    for query, described in zip(plan.queries, matches.current.queries, strict=True):
        old = continued.get(query.name)
        if old is not None:
            ordered = query if query.name in matches.conversions else _in_stored_order(query, old)
            assert ordered is not None
            queries.append(_set_names(ordered, old.name, old.stores))
        elif query.name in SHARED_NAMES:
            queries.append(query)
        else:
            queries.append(_set_names(query, names.next(query.name), [stores.next(name) for name in described.stores]))
    return with_insert_names(with_dead_letters(Plan(tuple(queries))), pinned)


def _in_stored_order(query: Query, old: QueryFingerprint) -> Query | None:
    """The query with the aggregates of its groups in the order of a state with the same layout; None if more than one
    order is possible."""
    if not query.stateful:
        return query
    stored = [node["aggregates"] for node in described_nodes(old.state) if "aggregates" in node]
    groups = [node for node in query.stores if isinstance(node, Aggregate)]
    handles_errors = old.state["write_errors"] != "fail"
    calls = {}
    for node, aggregates in zip(groups, stored, strict=True):
        ordered = in_order_of(aggregates, node.calls, column_meanings(node.input), handles_errors)
        if ordered is None:
            return None
        calls[node.store] = ordered

    def change(node: PlanNode) -> PlanNode:
        return replace(node, calls=calls[node.store]) if isinstance(node, Aggregate) else node

    return _rewritten(query, change)


class _UnusedNames:
    """Makes names such as `aggregate-0` that are not used yet."""

    def __init__(self, used: Collection[str]) -> None:
        self._used = set(used)

    def next(self, name: str) -> str:
        """The name, or if it is used, the name with the next unused number. It is used afterwards."""
        prefix, _, number = name.rpartition("-")
        count = int(number)
        while f"{prefix}-{count}" in self._used:
            count += 1
        self._used.add(f"{prefix}-{count}")
        return f"{prefix}-{count}"


def _set_names(query: Query, name: str, stores: Iterable[str]) -> Query:
    """The query with this name, and with these names for its stateful nodes, from the target down."""
    old_names = [store.store for store in query.stores]
    names = dict(zip(old_names, stores, strict=True))

    def change(node: PlanNode) -> PlanNode:
        if not isinstance(node, Stateful):
            return node
        renamed = replace(node, store=names[node.store])
        if isinstance(renamed, Aggregate | Join) and renamed.clock is not None:
            return replace(renamed, clock=names[renamed.clock])
        return renamed

    return replace(_rewritten(query, change), name=name)


def _rewritten(query: Query, change: Callable[[PlanNode], PlanNode]) -> Query:
    return replace(query, writes=tuple(replace(each, input=rewrite_node(each.input, change)) for each in query.writes))
