"""Decides what a start does. Pure. A start is refused here or while its situation is read, before any change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from lsql_runner.config.settings import Settings
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.formats.catalog import TopicSchema
from lsql_runner.plan.continuation import Continuation
from lsql_runner.plan.conversion import ConvertedQuery
from lsql_runner.plan.fingerprint import Fingerprint
from lsql_runner.plan.queries import SHARED_NAMES, Plan, Query
from lsql_runner.start.actions import (
    Action,
    BeginCheckpoints,
    ChangeMeaning,
    ConvertStates,
    CreateTopic,
    DropCheckpoint,
    DropOtherGenerations,
    PinProgram,
    RegisterSchema,
    RewindCheckpoint,
)
from lsql_runner.start.registry_schemas import check_schemas
from lsql_runner.start.replaced_state import (
    NewState,
    Since,
    followed,
    goes_on,
    kept_after,
    new_state,
    reached_by_targets,
    replaces_lost_state,
    replacing,
)
from lsql_runner.start.situation import Situation
from lsql_runner.start.targets import target_request
from lsql_runner.start.warnings import (
    blue_warnings,
    change_warnings,
    converted_meanings,
    memory_warnings,
    mode_warnings,
    new_meanings,
    rebuild_warnings,
    recreated_warnings,
    restore_warnings,
    shorter_warnings,
    worker_memory_warnings,
)
from lsql_runner.state.offset_log import SavedCheckpoint
from lsql_runner.state.saved_state import Pinned, Rebuild, SavedState
from lsql_runner.state.topic_ids import LOSSES, foreign_positions, recreated_topics, shorter_partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class StartDecision:
    """How the program starts."""

    plan: Plan
    """The plan, with the names of the checkpoints that its queries continue."""
    generation: int
    state_partitions: int
    """Into how many partitions the state of each operator is divided."""
    start_offsets: Mapping[str, Mapping[Partition, int]]
    """By query and source partition: the first offset for an empty checkpoint."""
    positions: Mapping[str, Mapping[Partition, int]]
    """By query and source partition: the next offset to read."""
    first_batches: frozenset[str]
    """The queries that have not ended a batch yet, with their state as it is after the actions."""
    rebuilds: Mapping[str, Rebuild]
    """By query that builds the state that replaces another one: how."""
    blues: Mapping[str, str]
    """By green query: the blue one, which writes the results."""
    warnings: tuple[str, ...]
    actions: tuple[Action, ...]
    """The changes before the program runs, in this order."""
    later: tuple[Action, ...]
    """The changes when each query in `first_batches` has ended a batch. A later start decides them again."""


def decide(situation: Situation, settings: Settings) -> StartDecision:
    """Decide how to start.

    Raises:
        LsqlError: the start is refused: SCHEMA_INCOMPATIBLE, STATE_INCOMPATIBLE, STATE_MEANING_CHANGED, STATE_LOST,
            OFFSETS_OUT_OF_RANGE.
    """
    check_schemas(situation.schemas)
    situation, conversions = _after_conversions(situation)
    recreated = recreated_topics(situation.saved.pinned, situation.topic_ids, situation.group_ids)
    situation = _without_old_positions(situation, recreated, settings)
    saved, pinned = situation.saved, situation.saved.pinned
    continued, plan, blues = situation.continued, situation.plan, situation.blues
    keeps_partitions = pinned is not None and bool(pinned.fingerprint.stateful) and not continued.in_new_generation
    partitions = pinned.state_partitions if pinned and keeps_partitions else situation.new_state_partitions
    generation = _generation(situation, settings)
    _check_returned(situation, continued, settings)
    checkpoints = _checkpoints(situation, generation)
    rebuilds = _rebuilds(situation, checkpoints, settings)
    replaced = _new_states(situation, settings)
    starts = {
        query.name: _first_offsets(situation, query, query.name in checkpoints, rebuilds, replaced.get(query.name))
        for query in plan.queries
    }
    begun = tuple(name for name in starts if name not in checkpoints)
    built = {
        **{name: followed(saved, name) or each for name, each in _rebuilds_of(pinned).items() if name in checkpoints},
        **{name: each.rebuild for name, each in replaced.items() if each.rebuild is not None},
    }
    # Spark plans a batch to the end of a shorter topic, and then fails: the batch before it ended after that.
    read = [offsets for each in checkpoints.values() for offsets in (each.ended, each.planned)]
    read += [rebuild.ends for rebuild in built.values()]
    shorter = shorter_partitions([*read, *starts.values()], situation.ends)
    if shorter:
        checkpoints, starts = _within_ends(situation.ends, shorter, checkpoints, starts, settings)
        built = {name: replace(each, ends=_at_most(each.ends, situation.ends)) for name, each in built.items()}
    rebuilding = {
        name: rebuild
        for name, rebuild in built.items()
        if name in blues or goes_on(rebuild, starts[name], checkpoints.get(name))
    }
    ended = {name: checkpoint.ended for name, checkpoint in checkpoints.items()}
    changed_topics = {*recreated, *(place.topic for place in shorter)}
    beside = {blue.saved.query for blue in blues.values()}
    kept = Fingerprint(kept_after(saved, continued, settings.keep_generations, changed_topics, beside))
    running = Plan(tuple(each for each in plan.queries if situation.runs != "blue" or each.name not in blues))
    names = {query.name for query in running.queries}
    return StartDecision(
        plan=running,
        generation=generation,
        state_partitions=partitions,
        start_offsets=starts,
        positions={name: {**first, **ended.get(name, {})} for name, first in starts.items() if name in names},
        first_batches=frozenset(name for name in names if not ended.get(name) or name in continued.conversions),
        rebuilds=rebuilding,
        blues={green: blue.saved.query for green, blue in blues.items() if green in names},
        warnings=(
            *change_warnings(situation),
            *rebuild_warnings(continued.plan, replaced),
            *blue_warnings(situation),
            *recreated_warnings(recreated),
            *shorter_warnings(shorter, situation.ends),
            *restore_warnings(
                _at_most(situation.committed, situation.ends) if shorter else situation.committed,
                {name: each for name, each in checkpoints.items() if name not in {*continued.returned, *rebuilding}},
            ),
            *memory_warnings(situation),
            *worker_memory_warnings(running, settings, partitions),
            *mode_warnings(situation, settings),
        ),
        actions=(
            *conversions,
            *_missing_resources(situation),
            *_rewinds(plan, checkpoints, generation, _last_positions(situation, recreated, shorter)),
            *(
                ChangeMeaning(generation, query)
                for query in (*continued.new_meanings, *continued.conversions)
                if query in checkpoints
            ),
            *_state_changes(
                Pinned(
                    sql=settings.sql,
                    fingerprint=continued.fingerprint,
                    # The last one of a topic holds: the blue queries do not choose its schema.
                    schemas={source.topic: source for source in (*plan.sources, *continued.plan.sources)},
                    generation=generation,
                    state_partitions=partitions,
                    versions=dict(situation.versions),
                    starts={**_starts_of(pinned, kept), **starts},
                    kept=kept,
                    rebuilds=built,
                    blues={green: blue.saved for green, blue in blues.items()},
                    topic_ids={**_topic_ids_of(pinned, kept), **situation.topic_ids},
                ),
                begun,
                # Offsets that were given again, or are read again on purpose, identify other records.
                {} if recreated or shorter or rebuilds else _runs(pinned, begun),
            ),
        ),
        later=_later(saved, generation, {*starts, *(query.name for query in kept.queries), *SHARED_NAMES}),
    )


def _after_conversions(situation: Situation) -> tuple[Situation, tuple[ConvertStates, ...]]:
    """The situation after the conversion of states, which are in a new generation then, and the conversion.

    The other checkpoints are copied there. Before program.json names this generation, nothing has changed.
    """
    saved, continued = situation.saved, situation.continued
    pinned = saved.pinned
    if not continued.conversions or pinned is None:
        return situation, ()
    # A start that was killed may have left such a generation.
    generation = pinned.generation + 1
    known = {place: checkpoint for place, checkpoint in saved.checkpoints.items() if place[0] < generation}
    copied = {(generation, name): each for (number, name), each in known.items() if number == pinned.generation}
    after = replace(
        saved,
        pinned=replace(pinned, generation=generation),
        checkpoints=known | copied,
        generations=saved.generations | {generation},
    )
    converted = tuple(
        ConvertedQuery(situation.earlier[query.name], query, continued.conversions[query.name].aggregates)
        for query in continued.plan.queries
        if query.name in continued.conversions and (generation, query.name) in copied
    )
    if not converted:  # they are lost
        return situation, ()
    return replace(situation, saved=after), (ConvertStates(pinned.generation, generation, converted),)


def _without_old_positions(situation: Situation, recreated: tuple[str, ...], settings: Settings) -> Situation:
    """The situation in which every saved position in a topic that was created again is its first offset.

    If only the group has positions in an earlier topic, because its checkpoint has read the new one, it has none.

    Raises:
        LsqlError: OFFSETS_OUT_OF_RANGE, if a start must not skip the records that were deleted with the topic.
    """
    foreign = foreign_positions(situation.topic_ids, situation.group_ids)
    passed = {place for place in foreign if place.topic not in recreated}
    committed = {place: offset for place, offset in situation.committed.items() if place not in passed}
    if not recreated:
        return replace(situation, committed=committed)
    if settings.on_data_loss == "fail":
        raise LsqlError("OFFSETS_OUT_OF_RANGE", reason=LOSSES("RECREATED", topic=recreated[0]))
    saved, first = situation.saved, _first_positions(situation, recreated)

    def rewound(positions: Mapping[Partition, int]) -> dict[Partition, int]:
        kept = {place: offset for place, offset in positions.items() if place.topic not in recreated}
        return {**kept, **first} if len(kept) < len(positions) else kept

    pinned = saved.pinned
    return replace(
        situation,
        committed=rewound(committed),
        saved=replace(
            saved,
            pinned=pinned
            and replace(
                pinned,
                starts={q: rewound(starts) for q, starts in pinned.starts.items()},
                rebuilds={q: replace(each, ends=rewound(each.ends)) for q, each in pinned.rebuilds.items()},
            ),
            checkpoints={
                place: replace(each, planned=rewound(each.planned), ended=rewound(each.ended))
                for place, each in saved.checkpoints.items()
            },
        ),
    )


def _first_positions(situation: Situation, topics: Collection[str]) -> dict[Partition, int]:
    sources = [source for source in situation.plan.sources if source.topic in topics]
    return dict.fromkeys(partitions_of(sources), 0)


def _within_ends(
    ends: Mapping[Partition, int],
    shorter: Mapping[Partition, int],
    checkpoints: Mapping[str, SavedCheckpoint],
    starts: Mapping[str, Mapping[Partition, int]],
    settings: Settings,
) -> tuple[dict[str, SavedCheckpoint], dict[str, dict[Partition, int]]]:
    """Checkpoints and first offsets with no position after the end of its partition.

    Raises:
        LsqlError: OFFSETS_OUT_OF_RANGE, if a start must not skip lost records.
    """
    if settings.on_data_loss == "fail":
        place, position = next(iter(shorter.items()))
        lost = LOSSES("SHORTER", topic=place.topic, partition=place.partition, end=ends[place], position=position)
        raise LsqlError("OFFSETS_OUT_OF_RANGE", reason=lost)
    return {
        name: replace(each, planned=_at_most(each.planned, ends), ended=_at_most(each.ended, ends))
        for name, each in checkpoints.items()
    }, {name: _at_most(first, ends) for name, first in starts.items()}


def _at_most(positions: Mapping[Partition, int], ends: Mapping[Partition, int]) -> dict[Partition, int]:
    return {place: min(offset, ends.get(place, offset)) for place, offset in positions.items()}


def _last_positions(
    situation: Situation, recreated: Collection[str], shorter: Collection[Partition]
) -> dict[Partition, int]:
    """The last possible positions in topics whose offsets were given again, for all their partitions."""
    topics = {place.topic for place in shorter}
    ends = {place: end for place, end in situation.ends.items() if place.topic in topics}
    return {**ends, **_first_positions(situation, recreated)}


def _rewinds(
    plan: Plan, checkpoints: Collection[str], generation: int, last: Mapping[Partition, int]
) -> tuple[Action, ...]:
    """The actions that move the saved positions of checkpoints back."""
    rewinds = []
    for query in plan.queries:
        topics = {source.topic for source in query.sources}
        of_query = {place: offset for place, offset in last.items() if place.topic in topics}
        if of_query and query.name in checkpoints:
            rewinds.append(RewindCheckpoint(generation, query.name, of_query))
    return tuple(rewinds)


def _generation(situation: Situation, settings: Settings) -> int:
    """The generation to run with: a new one if no state fits the program.

    Raises:
        LsqlError: STATE_INCOMPATIBLE, STATE_MEANING_CHANGED.
    """
    continued, pinned = situation.continued, situation.saved.pinned
    newest = max(situation.saved.generations, default=0)
    if pinned is None:
        return newest + 1
    if continued.changes and settings.state_on_change == "fail":
        change = "; ".join(str(each) for each in continued.changes)
        raise LsqlError("STATE_INCOMPATIBLE", path=str(situation.saved.folder), change=change)
    meanings = (*new_meanings(continued), *converted_meanings(continued))
    if meanings and settings.state_on_meaning_change == "refuse":
        change = "; ".join(meanings)
        raise LsqlError("STATE_MEANING_CHANGED", path=str(situation.saved.folder), change=change)
    return max(newest, pinned.generation) + 1 if continued.in_new_generation else pinned.generation


def _check_returned(situation: Situation, continued: Continuation, settings: Settings) -> None:
    """Raises LsqlError: OFFSETS_OUT_OF_RANGE, if records after the position of a state that returns are deleted."""
    pinned = situation.saved.pinned
    if pinned is None or settings.on_data_loss == "continue":
        return
    for name in continued.returned:
        checkpoint = situation.saved.checkpoints[pinned.generation, name]
        for place, position in {**pinned.starts.get(name, {}), **checkpoint.ended}.items():
            begin = situation.offsets.begins.get(place, 0)
            if position < begin:
                lost = LOSSES("DELETED", topic=place.topic, partition=place.partition, position=position, begin=begin)
                raise LsqlError("OFFSETS_OUT_OF_RANGE", reason=lost)


def _new_states(situation: Situation, settings: Settings) -> dict[str, NewState]:
    """By query whose state replaces another one: where it begins. A green one is rebuilt in any case."""
    since: Since = "now" if settings.state_on_change == "reset" else settings.rebuild_from
    found = {}
    for query, _, had in replacing(situation.saved, situation.continued):
        new = new_state(query, had, since, situation.offsets)
        if query.name in situation.blues and new.rebuild is None:
            new = replace(new, rebuild=Rebuild(ends=new.starts, watermark_ms=had.watermark_ms))
        found[query.name] = new
    return found


def _rebuilds_of(pinned: Pinned | None) -> Mapping[str, Rebuild]:
    return {} if pinned is None else pinned.rebuilds


def _checkpoints(situation: Situation, generation: int) -> dict[str, SavedCheckpoint]:
    """By query: the checkpoint that it continues. Without program.json, nothing tells whose checkpoints they are.

    The shared query begins again if it takes over a target of a query with state, which may have been behind it.
    """
    saved, continued, pinned = situation.saved, situation.continued, situation.saved.pinned
    if pinned is None:
        return {}
    lost = (query for query in pinned.fingerprint.stateful if query.name in continued.dropped)
    others = (query for query in pinned.fingerprint.queries if query.state is None)
    new = (write.name for query in continued.plan.queries if query.stateful for write in query.writes)
    taken = {target for query in lost for target in query.targets} - {
        *new,
        *(target for query in others for target in query.targets),
    }
    names = [
        query.name
        for query in situation.plan.queries
        if query.name not in continued.added
        and (query.stateful or not any(each.name in taken for each in query.writes))
    ]
    return {name: saved.checkpoints[generation, name] for name in names if (generation, name) in saved.checkpoints}


def _rebuilds(situation: Situation, checkpoints: Collection[str], settings: Settings) -> bool:
    """Whether queries without a checkpoint read all records again, because state is lost."""
    saved, added = situation.saved, situation.continued.added
    expected = [query.name for query in situation.plan.queries if query.stateful and query.name not in added]
    has_all = all(name in checkpoints for name in expected)
    if settings.state_on_change != "reset":  # which begins with empty state in any case
        has_all = has_all and not replaces_lost_state(saved, situation.continued)
    if not situation.committed or has_all:
        return False
    if settings.state_on_loss == "fail":
        folder = saved.folder if saved.pinned is None else saved.folder / str(saved.pinned.generation)
        raise LsqlError("STATE_LOST", group=settings.app_id, path=str(folder))
    return settings.state_on_loss == "rebuild"


def _first_offsets(
    situation: Situation, query: Query, has_checkpoint: bool, rebuilds: bool, new: NewState | None
) -> dict[Partition, int]:
    """The first offset of each source partition.

    A checkpoint without a batch begins where the start that began it has decided, also after a restart. An empty
    checkpoint begins where the queries that wrote its targets before have ended, else at the positions of the group; or
    at the first records if lost state is rebuilt. Partitions without a position begin at `auto.offset.reset`.
    """
    saved = situation.saved
    known: Mapping[Partition, int] = {}
    if has_checkpoint and saved.pinned is not None:
        known = saved.pinned.starts.get(query.name, {})
    elif not rebuilds:
        known = {
            **situation.committed,
            **_positions_of_predecessors(saved, query),
            **({} if new is None else new.starts),
        }
    offsets = {}
    for partition in partitions_of(query.sources):
        offset = known.get(partition, situation.resets.get(partition))
        if offset is not None:
            offsets[partition] = offset
    return offsets


def _positions_of_predecessors(saved: SavedState, query: Query) -> Mapping[Partition, int]:
    had = reached_by_targets(saved, query)
    return {} if had is None else had.ended


def partitions_of(sources: Iterable[TopicSchema]) -> list[Partition]:
    """All partitions of topics."""
    return [Partition(source.topic, number) for source in sources for number in range(source.partitions or 0)]


def _missing_resources(situation: Situation) -> tuple[Action, ...]:
    """The actions that register missing schemas and create missing target topics."""
    registrations = (RegisterSchema(schema) for schema in situation.schemas if schema.id is None)
    missing = (topic for topic in situation.planned.plan.targets if topic not in situation.topics)
    return (*registrations, *(CreateTopic(target_request(situation.planned, topic)) for topic in missing))


def _runs(pinned: Pinned | None, begun: Iterable[str]) -> dict[str, int]:
    """By shared query that begins again, because it reads other topics or is back: the generation in which its last
    checkpoint may be."""
    return {} if pinned is None else {name: pinned.generation for name in begun if name in SHARED_NAMES}


def _starts_of(pinned: Pinned | None, kept: Fingerprint) -> dict[str, Mapping[Partition, int]]:
    """By query whose state is kept: where its checkpoint began."""
    return {} if pinned is None else {query.name: pinned.starts.get(query.name, {}) for query in kept.queries}


def _topic_ids_of(pinned: Pinned | None, kept: Fingerprint) -> dict[str, str]:
    """The ids of the source topics of queries whose state is kept."""
    topics = {topic for query in kept.queries for topic in query.sources}
    return {} if pinned is None else {topic: id for topic, id in pinned.topic_ids.items() if topic in topics}


def _state_changes(pinned: Pinned, begun: tuple[str, ...], runs_of: Mapping[str, int]) -> tuple[Action, ...]:
    """The actions on the state directory: begin checkpoints, save the program.

    The program is saved last. After a crash before that, the next start begins the checkpoints again.
    """
    begins = (BeginCheckpoints(pinned.generation, begun, runs_of),) if begun else ()
    return (*begins, PinProgram(pinned))


def _later(saved: SavedState, generation: int, names: Collection[str]) -> tuple[Action, ...]:
    """Delete state that is not used: not before the queries have shown that they run on the new one.

    The checkpoint of a shared query stays while the program has no such INSERTs: when one comes back, it does not write
    again what it has written.

    Args:
        saved: the state before the start.
        generation: the present one.
        names: the queries whose checkpoints in it are used or kept.
    """
    unused = sorted(name for number, name in saved.checkpoints if number == generation and name not in names)
    has_others = any(number != generation for number in saved.generations)
    return (
        *(DropCheckpoint(generation, name) for name in unused),
        *([DropOtherGenerations(generation)] if has_others else []),
    )
