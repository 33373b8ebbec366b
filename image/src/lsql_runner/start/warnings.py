"""The warnings of a start, for people. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from lsql_runner.config.settings import Settings
from lsql_runner.events.batches import Partition
from lsql_runner.plan.continuation import Continuation
from lsql_runner.plan.queries import Plan, Query
from lsql_runner.plan.state_changes import SAME_MEANING, conversion_changes
from lsql_runner.start.memory_need import needed_worker_mib
from lsql_runner.start.replaced_state import NewState
from lsql_runner.start.situation import Situation
from lsql_runner.state.offset_log import SavedCheckpoint


def change_warnings(situation: Situation) -> Iterator[str]:
    """What becomes of the state of a changed program."""
    continued, pinned = situation.continued, situation.saved.pinned
    if pinned is None:
        return
    if continued.changes:
        change = "; ".join(str(each) for each in continued.changes)
        yield f"The program changed ({change}): state that does not fit is replaced by new state."
    for meaning in new_meanings(continued):
        yield f"{meaning}. It applies from here on; the state from before stays as it is."
    for conversion in continued.conversions.values():
        change = "; ".join(map(str, conversion_changes(conversion)))
        partly = " Its new aggregates do not contain earlier records." if conversion.added else ""
        yield f"{change}. Its state was converted.{partly}"
    lost = {query.targets for query in pinned.fingerprint.stateful if query.name in continued.dropped}
    for query in continued.fingerprint.stateful:
        insert = f"INSERT INTO {', '.join(query.targets)}"
        if query.name in continued.returned:
            yield f"{insert} returns to the state and the position that it had before it was changed."
        elif query.name in continued.added and query.targets not in lost and not continued.in_new_generation:
            yield (f"{insert} is new: it starts with empty state at the last position of this target, or of the group.")


def new_meanings(continued: Continuation) -> list[str]:
    """How the values of continued state are computed in another way."""
    return [str(each) for changes in continued.new_meanings.values() for each in changes]


def converted_meanings(continued: Continuation) -> list[str]:
    """How the values of converted state are computed in another way, or lack the records of before."""
    changes = (change for each in continued.conversions.values() for change in conversion_changes(each))
    return [str(change) for change in changes if change.code not in SAME_MEANING]


def rebuild_warnings(plan: Plan, replaced: Mapping[str, NewState]) -> Iterator[str]:
    """What queries with new state read again."""
    return (_rebuild_warning(query, replaced[query.name]) for query in plan.queries if query.name in replaced)


def shorter_warnings(shorter: Mapping[Partition, int], ends: Mapping[Partition, int]) -> tuple[str, ...]:
    return tuple(
        f"Partition {place.partition} of the topic {place.topic} ends at {ends[place]}, before the saved position "
        f"{position}: it is read on from its end."
        for place, position in shorter.items()
    )


def recreated_warnings(recreated: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        f"The topic {topic} was deleted and created again: it is read from its first record." for topic in recreated
    )


def restore_warnings(committed: Mapping[Partition, int], checkpoints: Mapping[str, SavedCheckpoint]) -> tuple[str, ...]:
    """A warning for each checkpoint that is older than the position of the group.

    The group gets a position after the batch has ended in all checkpoints.
    """
    older = (
        name
        for name, checkpoint in checkpoints.items()
        if any(committed.get(partition, 0) > offset for partition, offset in checkpoint.planned.items())
    )
    return tuple(
        f"The checkpoint of the query {name} is older than the position of the consumer group: the volume was restored "
        "from a snapshot, or the position was moved. The results since then are written again."
        for name in older
    )


def memory_warnings(situation: Situation) -> tuple[str, ...]:
    """A warning if the container is too small for the program. The start goes on: at a low rate the program may run."""
    if situation.memory_limit_mib is None or situation.memory_limit_mib >= situation.needed_mib:
        return ()
    need = f"The program needs about {situation.needed_mib} MiB of memory"
    return (f"{need}; the container has {situation.memory_limit_mib} MiB. Raise resources.limits.memory.",)


def worker_memory_warnings(plan: Plan, settings: Settings, partitions: int) -> tuple[str, ...]:
    """A warning if the smallest worker is too small for the program, as if it had all its state."""
    limit_mib = settings.workers_memory_mib
    needed = needed_worker_mib(plan, settings, partitions)
    if limit_mib is None or limit_mib >= needed:
        return ()
    need = f"A worker needs about {needed} MiB of memory for this program"
    return (f"{need}; its container has {limit_mib} MiB. Raise workers.resources.limits.memory.",)


def mode_warnings(situation: Situation, settings: Settings) -> tuple[str, ...]:
    """A warning if the program sets the continuous mode, which workers do not support."""
    if not settings.has_workers or situation.planned.bound.settings.mode != "continuous":
        return ()
    return ("processing.mode is continuous, which workers do not support: all queries process batches.",)


def blue_warnings(situation: Situation) -> Iterator[str]:
    """Which INSERTs have no earlier query beside them any more."""
    for query in situation.continued.plan.queries:
        if (reason := situation.ended_blues.get(query.name)) is not None:
            insert = f"INSERT INTO {', '.join(write.name for write in query.writes)}"
            yield f"{insert}: the query that it replaces cannot run any more ({reason}), and has ended."


def _rebuild_warning(query: Query, new: NewState) -> str:
    """What a query with new state reads again."""
    insert = f"INSERT INTO {', '.join(write.name for write in query.writes)} starts with empty state"
    ends = {} if new.rebuild is None else new.rebuild.ends
    number = sum(end - new.starts[place] for place, end in ends.items())
    if not number:
        return f"{insert} at the last position of its targets."
    since = "" if new.since_ms is None else datetime.fromtimestamp(new.since_ms / 1000, UTC).isoformat()
    begin = since and f" since {since}, when its oldest open window began"
    return f"{insert}, and reads {number} records again{begin}. Their results are not written again."
