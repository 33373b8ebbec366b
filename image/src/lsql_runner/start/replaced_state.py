"""State that a changed program cannot continue, and the state that replaces it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal

from lsql_runner.config.settings import Settings
from lsql_runner.events.batches import Partition, lowest
from lsql_runner.pipeline import PlannedProgram
from lsql_runner.plan.continuation import Continuation, Converts, continue_from, discontinued
from lsql_runner.plan.fingerprint import NOTHING, Fingerprint, QueryFingerprint, described_nodes, fingerprint
from lsql_runner.plan.queries import Query
from lsql_runner.plan.rebuild import open_since_ms, table_topics, windows_of
from lsql_runner.plan.state_changes import STATE_CHANGES
from lsql_runner.start.state_partitions import wanted_partitions
from lsql_runner.state.offset_log import SavedCheckpoint
from lsql_runner.state.saved_state import Pinned, Rebuild, SavedState

Since = Literal["now", "open_windows", "earliest"]
"""From which records on new state is built."""
BUILDS = ("rebuild", "blue_green")
"""The values of `state_on_change` with which state is built again. It is, too, if it could be converted, but a new
aggregate would lack the records of before."""
_NO_REBUILD = Rebuild(ends={}, watermark_ms=0)


def kept_states(saved: SavedState) -> Fingerprint:
    """The queries whose state was replaced, and that can be continued."""
    if saved.pinned is None:
        return NOTHING
    generation = saved.pinned.generation
    return Fingerprint(tuple(q for q in saved.pinned.kept.queries if (generation, q.name) in saved.checkpoints))


def can_convert(saved: SavedState, fixed: Collection[str] = ()) -> Converts:
    """Which states can be converted: not those that are still being built, nor `fixed`."""
    greens = {} if saved.pinned is None else saved.pinned.blues
    return lambda conversion: conversion.old.name not in {*greens, *fixed}


def continuation(
    planned: PlannedProgram, saved: SavedState, settings: Settings, *, fixed: Collection[str] = ()
) -> Continuation:
    """How a program continues the saved state.

    Args:
        planned: the program.
        saved: the state.
        settings: of the processor.
        fixed: queries of the last start whose state cannot be converted.
    """
    pinned = saved.pinned
    if pinned is None:
        return Continuation(plan=planned.plan, fingerprint=fingerprint(planned.plan))
    possible, builds = can_convert(saved, fixed), settings.state_on_change in BUILDS
    continued = continue_from(
        planned.plan,
        pinned.fingerprint,
        kept_states(saved),
        lambda conversion: possible(conversion) and not (builds and conversion.added),
    )
    wanted = wanted_partitions(planned.bound.settings, settings)
    if wanted is None or wanted == pinned.state_partitions or not pinned.fingerprint.stateful:
        return continued
    change = STATE_CHANGES("STATE_PARTITIONS", was=pinned.state_partitions, now=wanted)
    return discontinued(planned.plan, *continued.changes, change)


@dataclass(frozen=True, slots=True)
class Reached:
    """What earlier queries had reached: the least if there are several."""

    starts: Mapping[Partition, int]
    """The offsets with which they began."""
    ended: Mapping[Partition, int]
    """The offsets up to which results are in the targets: those after their last batches. If one was still building its
    state again, those at which it would have begun to write."""
    watermark_ms: int
    """The watermark of these results, in milliseconds since 1970 UTC; 0 if one of the queries has none."""
    delay_ms: int = 0
    """The delay of the watermark of windows behind the event time."""


def reached_by_targets(saved: SavedState, query: Query) -> Reached | None:
    """What the queries had reached that wrote the targets of a query; None if one of them has no checkpoint.

    The group has only the least positions of all queries: a query that begins there repeats records that were ahead.
    """
    if saved.pinned is None:
        return None
    targets = {write.name for write in query.writes}
    # The query of dead letters has no INSERT.
    olds = [
        old
        for old in saved.pinned.fingerprint.queries
        if (not targets.isdisjoint(old.targets) if targets else old.name == query.name)
    ]
    return _reached(saved, saved.pinned, olds)


def _reached(saved: SavedState, pinned: Pinned, olds: Sequence[QueryFingerprint]) -> Reached | None:
    olds = [_writer(pinned, old) for old in olds]
    checkpoints = [saved.checkpoints.get((pinned.generation, old.name)) for old in olds]
    found = [(old, checkpoint) for old, checkpoint in zip(olds, checkpoints, strict=True) if checkpoint is not None]
    if not olds or len(found) < len(olds):
        return None
    starts = [pinned.starts.get(old.name, {}) for old in olds]
    rebuilds = [pinned.rebuilds.get(old.name, _NO_REBUILD) for old in olds]
    parts = [(start, each, rebuild) for start, (_, each), rebuild in zip(starts, found, rebuilds, strict=True)]
    return Reached(
        starts=lowest(starts),
        ended=lowest(_greatest({**start, **each.ended}, rebuild.ends) for start, each, rebuild in parts),
        watermark_ms=min(max(each.watermark_ms, rebuild.watermark_ms) for _, each, rebuild in parts),
        delay_ms=min(_grace_ms(old) for old in olds),
    )


def _writer(pinned: Pinned, query: QueryFingerprint) -> QueryFingerprint:
    """The query that writes the results of a query: of a green one, the blue one."""
    blue = pinned.blues.get(query.name)
    return query if blue is None else pinned.kept.query(blue.query) or query


def _grace_ms(query: QueryFingerprint) -> int:
    nodes = [] if query.state is None else described_nodes(query.state)
    return max((int(node.get("grace_ms") or 0) for node in nodes), default=0)


def _greatest(positions: Mapping[Partition, int], others: Mapping[Partition, int]) -> dict[Partition, int]:
    return {place: max(offset, others.get(place, offset)) for place, offset in {**others, **positions}.items()}


def replacing(saved: SavedState, continued: Continuation) -> list[tuple[Query, QueryFingerprint, Reached]]:
    """The queries whose state replaces that of a query with the same targets, with this query and what it had reached.
    Those whose checkpoint is lost are left out."""
    return [(query, old, had) for query, old, had in _replacing(saved, continued) if had is not None]


def replaces_lost_state(saved: SavedState, continued: Continuation) -> bool:
    """Whether the state of a query replaces one whose checkpoint is lost: nobody knows what it had reached."""
    return any(had is None for _, _, had in _replacing(saved, continued))


def _replacing(saved: SavedState, continued: Continuation) -> Iterator[tuple[Query, QueryFingerprint, Reached | None]]:
    pinned = saved.pinned
    if pinned is None or not continued.changes:
        return
    lost = [old for old in pinned.fingerprint.stateful if continued.in_new_generation or old.name in continued.dropped]
    for query in continued.plan.queries:
        targets = tuple(write.name for write in query.writes)
        old = next((each for each in lost if each.targets == targets), None)
        if old is not None and query.stateful and query.name in continued.added:
            lost.remove(old)
            yield query, old, _reached(saved, pinned, [old])


def open_times(saved: SavedState, continued: Continuation) -> set[int]:
    """The timestamps since which windows of the program were open in the saved state."""
    times = (_open_since(query, had) for query, _, had in replacing(saved, continued))
    return {time_ms for time_ms in times if time_ms is not None}


def _open_since(query: Query, had: Reached) -> int | None:
    """With a longer grace, windows are open that were closed."""
    windows = windows_of(query)
    if had.watermark_ms <= 0 or windows is None:
        return None
    return open_since_ms(query, had.watermark_ms - max(0, windows.grace_ms - had.delay_ms))


@dataclass(frozen=True, slots=True)
class NewState:
    """Where a query begins whose state replaces another one."""

    starts: Mapping[Partition, int]
    """The first offsets; other partitions have no earlier position."""
    rebuild: Rebuild | None
    """None if it reads no records again, and no result waits for the watermark."""
    since_ms: int | None
    """If it begins with the windows that were open: since when, in milliseconds since 1970 UTC."""


@dataclass(frozen=True, slots=True)
class SourceOffsets:
    """Offsets of the source partitions."""

    begins: Mapping[Partition, int]
    """The first ones."""
    ends: Mapping[Partition, int]
    """The next ones."""
    since: Mapping[int, Mapping[Partition, int]]
    """By each of `open_times`: the first ones since then."""


NO_OFFSETS = SourceOffsets({}, {}, {})


def new_state(query: Query, had: Reached, since: Since, offsets: SourceOffsets) -> NewState:
    """Where a query begins whose state replaces another one.

    A table is read from its first record in any case, also one that the other query did not read.

    Args:
        query: the query.
        had: what the query with the other state had reached.
        since: from which records on.
        offsets: of the source partitions.
    """
    topics, tables = {source.topic for source in query.sources}, table_topics(query)
    ended = {place: offset for place, offset in had.ended.items() if place.topic in topics}
    ended |= {
        place: end
        for place, end in offsets.ends.items()
        if place.topic in tables and place not in ended and end > offsets.begins.get(place, end)
    }
    open_ms = _open_since(query, had) if since == "open_windows" else None
    first: Mapping[Partition, int] = had.ended if since == "now" else offsets.begins
    if open_ms is not None:
        first = offsets.since[open_ms]
    starts = {
        place: min(offset, (offsets.begins if place.topic in tables else first).get(place, offset))
        for place, offset in ended.items()
    }
    # Without records to read again, windows that were closed stay closed all the same.
    keeps_time = bool(ended) and query.waits_for_watermark and had.watermark_ms > 0
    rebuild = Rebuild(ends=ended, watermark_ms=had.watermark_ms) if starts != ended or keeps_time else None
    return NewState(starts, rebuild, open_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildCost:
    """What it takes to build the state of an INSERT again."""

    target: str
    open_windows: int
    """The records of the windows that are open, or of all records, if these are not known; with those of tables."""
    earliest: int
    """All records up to the position of the INSERT."""
    deleted: int
    """Records that the present state has read, and that the topics do not have any more."""


def rebuild_cost(query: Query, had: Reached, offsets: SourceOffsets) -> RebuildCost:
    """What it takes to build the state of a query again. The arguments are those of `new_state`."""

    def records(since: Since) -> int:
        new = new_state(query, had, since, offsets)
        return 0 if new.rebuild is None else sum(end - new.starts[place] for place, end in new.rebuild.ends.items())

    return RebuildCost(
        target=", ".join(write.name for write in query.writes),
        open_windows=records("open_windows"),
        earliest=records("earliest"),
        deleted=sum(max(0, offsets.begins.get(place, 0) - start) for place, start in had.starts.items()),
    )


def followed(saved: SavedState, green: str) -> Rebuild | None:
    """How a green query goes on with its rebuild, up to where its blue one has ended; None for other queries."""
    pinned = saved.pinned
    if pinned is None or green not in pinned.blues:
        return None
    query, before = pinned.fingerprint.query(green), pinned.rebuilds[green]
    had = None if query is None else _reached(saved, pinned, [query])
    if query is None or had is None:
        return before
    # Tables that only the green query reads are read on.
    own = saved.checkpoints.get((pinned.generation, green), SavedCheckpoint()).ended
    blue = _writer(pinned, query).sources
    reached = {place: end for place, end in had.ended.items() if place.topic in query.sources}
    return Rebuild(
        ends=_greatest(before.ends, reached | {place: end for place, end in own.items() if place.topic not in blue}),
        watermark_ms=max(before.watermark_ms, had.watermark_ms),
    )


def kept_after(
    saved: SavedState, continued: Continuation, generations: int, changed_topics: Set[str], blues: Set[str]
) -> tuple[QueryFingerprint, ...]:
    """The queries whose state is kept after a start, because they were replaced now or before; the newest first.

    Args:
        saved: the state before the start.
        continued: how the program continues it.
        generations: how many are kept for the same targets.
        changed_topics: whose offsets were given again: positions in them belong to other records.
        blues: queries that go on beside the program. They are kept in any case.
    """
    pinned = saved.pinned
    if pinned is None or continued.in_new_generation:
        return ()
    lost = [
        query
        for query in pinned.fingerprint.stateful
        if query.name in continued.dropped and (query.name in blues or not _is_unfinished(saved, pinned, query.name))
    ]
    kept: list[QueryFingerprint] = []
    for query in (*lost, *kept_states(saved).queries):
        number = sum(each.targets == query.targets for each in kept)
        is_valid = query.name not in continued.returned and changed_topics.isdisjoint(query.sources)
        is_valid = is_valid and (pinned.generation, query.name) in saved.checkpoints
        if query.name in blues or (is_valid and number < generations):
            kept.append(query)
    return tuple(kept)


def _is_unfinished(saved: SavedState, pinned: Pinned, name: str) -> bool:
    """Whether the state of a query is still being built: it is no state to return to."""
    if name in pinned.blues:
        return True
    checkpoint = saved.checkpoints.get((pinned.generation, name))
    return name in pinned.rebuilds and goes_on(pinned.rebuilds[name], pinned.starts.get(name, {}), checkpoint)


def goes_on(rebuild: Rebuild, start: Mapping[Partition, int], checkpoint: SavedCheckpoint | None) -> bool:
    """Whether a query is still building the state that replaces another one."""
    if checkpoint is None or not checkpoint.ended:
        return True
    positions = {**start, **checkpoint.ended}
    planned = {**positions, **checkpoint.planned}
    if any(planned.get(place, 0) > end for place, end in rebuild.ends.items()):
        return False  # its results are written, also if the batch is repeated
    if any(positions.get(place, 0) < end for place, end in rebuild.ends.items()):
        return True
    return checkpoint.watermark_ms < rebuild.watermark_ms
