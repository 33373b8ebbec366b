"""State that a changed program cannot continue, and the state that replaces it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Literal

from lsql_runner.config.settings import Settings
from lsql_runner.events.batches import Partition
from lsql_runner.pipeline import PlannedProgram
from lsql_runner.plan.continuation import Continuation, continue_from, discontinued
from lsql_runner.plan.fingerprint import NOTHING, Fingerprint, QueryFingerprint, fingerprint
from lsql_runner.plan.queries import Plan, Query
from lsql_runner.plan.rebuild import open_since_ms, table_topics
from lsql_runner.plan.state_changes import STATE_CHANGES
from lsql_runner.start.state_partitions import wanted_partitions
from lsql_runner.state.offset_log import SavedCheckpoint
from lsql_runner.state.saved_state import Pinned, Rebuild, SavedState

Since = Literal["now", "open_windows", "earliest"]
"""From which records on new state is built."""
_NO_REBUILD = Rebuild(ends={}, watermark_ms=0)
SINCE: tuple[Since, ...] = ("now", "open_windows", "earliest")


def kept_states(saved: SavedState) -> Fingerprint:
    """The queries whose state was replaced, and that can be continued."""
    if saved.pinned is None:
        return NOTHING
    generation = saved.pinned.generation
    return Fingerprint(tuple(q for q in saved.pinned.kept.queries if (generation, q.name) in saved.checkpoints))


def continuation(planned: PlannedProgram, saved: SavedState, settings: Settings) -> Continuation:
    """How a program continues the saved state."""
    pinned = saved.pinned
    if pinned is None:
        return Continuation(plan=planned.plan, fingerprint=fingerprint(planned.plan))
    continued = continue_from(planned.plan, pinned.fingerprint, kept_states(saved))
    wanted = wanted_partitions(planned.bound.settings, settings)
    if wanted is None or wanted == pinned.state_partitions or not pinned.fingerprint.stateful:
        return continued
    change = STATE_CHANGES("STATE_PARTITIONS", was=pinned.state_partitions, now=wanted)
    return discontinued(planned.plan, *continued.changes, change)


@dataclass(frozen=True, slots=True)
class Reached:
    """What the queries had reached that wrote the targets of a query before: the least if there are several."""

    starts: Mapping[Partition, int]
    """The offsets with which they began."""
    ended: Mapping[Partition, int]
    """The offsets up to which results are in the targets: those after their last batches. If one was still building its
    state again, those at which it would have begun to write."""
    watermark_ms: int
    """The watermark of these results, in milliseconds since 1970 UTC; 0 if one of the queries has none."""
    stateful: bool
    """Whether one of them keeps state."""


def reached(saved: SavedState, query: Query) -> Reached | None:
    """What the earlier queries of the targets of a query had reached; None if a checkpoint does not exist.

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
    checkpoints = [saved.checkpoints.get((saved.pinned.generation, old.name)) for old in olds]
    found = [(old, checkpoint) for old, checkpoint in zip(olds, checkpoints, strict=True) if checkpoint is not None]
    if not olds or len(found) < len(olds):
        return None
    starts = [saved.pinned.starts.get(old.name, {}) for old in olds]
    rebuilds = [saved.pinned.rebuilds.get(old.name, _NO_REBUILD) for old in olds]
    parts = [(start, each, rebuild) for start, (_, each), rebuild in zip(starts, found, rebuilds, strict=True)]
    return Reached(
        starts=_least(starts),
        ended=_least(_greatest({**start, **each.ended}, rebuild.ends) for start, each, rebuild in parts),
        watermark_ms=min(max(each.watermark_ms, rebuild.watermark_ms) for _, each, rebuild in parts),
        stateful=any(old.state is not None for old in olds),
    )


def _greatest(positions: Mapping[Partition, int], others: Mapping[Partition, int]) -> dict[Partition, int]:
    return {place: max(offset, others.get(place, offset)) for place, offset in {**others, **positions}.items()}


def replacing(saved: SavedState, continued: Continuation) -> list[tuple[Query, Reached]]:
    """The queries whose state replaces another one, with what that one had reached."""
    added = (query for query in continued.plan.queries if query.stateful and query.name in continued.added)
    found = ((query, reached(saved, query)) for query in added if continued.changes)
    return [(query, had) for query, had in found if had is not None and had.stateful]


def _least(positions: Iterable[Mapping[Partition, int]]) -> dict[Partition, int]:
    least: dict[Partition, int] = {}
    for each in positions:
        for place, offset in each.items():
            least[place] = min(offset, least.get(place, offset))
    return least


def open_times(plan: Plan, saved: SavedState) -> set[int]:
    """The timestamps since which windows of the program were open in the saved state."""
    times = (_open_since(query, reached(saved, query)) for query in plan.queries)
    return {time_ms for time_ms in times if time_ms is not None}


def _open_since(query: Query, had: Reached | None) -> int | None:
    return None if had is None or had.watermark_ms <= 0 else open_since_ms(query, had.watermark_ms)


@dataclass(frozen=True, slots=True)
class NewState:
    """Where a query begins whose state replaces another one."""

    starts: Mapping[Partition, int]
    """The first offsets; other partitions have no earlier position."""
    rebuild: Rebuild | None
    """None if it reads no records again."""
    since_ms: int | None
    """If it begins with the windows that were open: since when, in milliseconds since 1970 UTC."""


def new_state(
    query: Query,
    had: Reached,
    since: Since,
    begins: Mapping[Partition, int],
    offsets_since: Mapping[int, Mapping[Partition, int]],
) -> NewState:
    """Where a query begins whose state replaces another one.

    A table is read from its first record in any case.

    Args:
        query: the query.
        had: what the queries with the other state had reached.
        since: from which records on.
        begins: the first offsets of the source partitions.
        offsets_since: by each of `open_times`: the first offsets of the source partitions since then.
    """
    tables = table_topics(query)
    open_ms = _open_since(query, had) if since == "open_windows" else None
    first: Mapping[Partition, int] = had.ended if since == "now" else begins
    if open_ms is not None:
        first = offsets_since[open_ms]
    starts = {
        place: min(offset, (begins if place.topic in tables else first).get(place, offset))
        for place, offset in had.ended.items()
    }
    rebuild = None if starts == had.ended else Rebuild(ends=had.ended, watermark_ms=had.watermark_ms)
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


def rebuild_cost(
    query: Query,
    had: Reached,
    begins: Mapping[Partition, int],
    offsets_since: Mapping[int, Mapping[Partition, int]],
) -> RebuildCost:
    """What it takes to build the state of a query again. The arguments are those of `new_state`."""
    first: dict[Since, Mapping[Partition, int]] = {
        since: new_state(query, had, since, begins, offsets_since).starts for since in SINCE
    }
    return RebuildCost(
        target=", ".join(write.name for write in query.writes),
        open_windows=sum(end - first["open_windows"][place] for place, end in had.ended.items()),
        earliest=sum(end - first["earliest"][place] for place, end in had.ended.items()),
        deleted=sum(max(0, begins.get(place, 0) - start) for place, start in had.starts.items()),
    )


def kept_after(
    saved: SavedState, continued: Continuation, generations: int, changed_topics: Set[str]
) -> tuple[QueryFingerprint, ...]:
    """The queries whose state is kept after a start, because they were replaced now or before; the newest first.

    Args:
        saved: the state before the start.
        continued: how the program continues it.
        generations: how many are kept for the same targets.
        changed_topics: whose offsets were given again: positions in them belong to other records.
    """
    pinned = saved.pinned
    if pinned is None or continued.in_new_generation:
        return ()
    lost = [
        query
        for query in pinned.fingerprint.stateful
        if query.name in continued.dropped and not _is_unfinished(saved, pinned, query.name)
    ]
    kept: list[QueryFingerprint] = []
    for query in (*lost, *kept_states(saved).queries):
        number = sum(each.targets == query.targets for each in kept)
        is_valid = query.name not in continued.returned and changed_topics.isdisjoint(query.sources)
        if is_valid and number < generations:
            kept.append(query)
    return tuple(kept)


def _is_unfinished(saved: SavedState, pinned: Pinned, name: str) -> bool:
    """Whether the state of a query is still being built: it is no state to return to."""
    checkpoint = saved.checkpoints.get((pinned.generation, name))
    return name in pinned.rebuilds and goes_on(pinned.rebuilds[name], pinned.starts.get(name, {}), checkpoint)


def goes_on(rebuild: Rebuild, start: Mapping[Partition, int], checkpoint: SavedCheckpoint | None) -> bool:
    """Whether a query is still building the state that replaces another one."""
    if checkpoint is None or not checkpoint.ended:
        return True
    positions = {**start, **checkpoint.ended}
    if any(positions.get(place, 0) < end for place, end in rebuild.ends.items()):
        return True
    return positions == rebuild.ends and checkpoint.watermark_ms < rebuild.watermark_ms


def rebuilds_after(pinned: Pinned | None, names: Iterable[str]) -> dict[str, Rebuild]:
    """The saved rebuilds of queries."""
    return {} if pinned is None else {name: pinned.rebuilds[name] for name in names if name in pinned.rebuilds}
