"""`lsql state repartition`: divides the state of a stopped processor into another number of partitions.

It works on a copy, which becomes the next generation when program.json names it. A command that is killed has changed
either nothing, or everything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from lsql_runner.errors import LsqlError
from lsql_runner.plan.fingerprint import NOTHING
from lsql_runner.plan.repartitioning import fixed_operator
from lsql_runner.state.checkpoint_copy import copy_checkpoints
from lsql_runner.state.directory import StateDir
from lsql_runner.state.folder import StateFolder
from lsql_runner.state.offset_log import first_batch
from lsql_runner.state.saved_state import Pinned, SavedState

Repartition = Callable[[Sequence[StateFolder], int], None]
"""Divides the state in checkpoints into a number of partitions. Raises LsqlError."""


@dataclass(frozen=True, slots=True)
class Repartitioned:
    """The change of the command; `was` equals `now` if there was nothing to do."""

    was: int
    now: int
    generation: int


def repartition_state(state: StateDir, partitions: int, repartition: Repartition) -> Repartitioned:
    """Divide the state of all queries into a number of partitions.

    Raises:
        LsqlError: STATE_MISSING, STATE_UNREADABLE, PARTITIONS_FIXED, BATCH_UNFINISHED, REPARTITION_FAILED,
            STATE_DIR_UNWRITABLE. The state is unchanged.
    """
    saved = state.saved()
    pinned = saved.pinned
    if pinned is None or not pinned.fingerprint.stateful:
        raise LsqlError("STATE_MISSING", path=str(state.folder))
    was = pinned.state_partitions
    if was == partitions:
        return Repartitioned(was, was, pinned.generation)
    with_batches = _divisible_queries(saved, pinned, partitions)
    _delete_unnamed(saved, pinned)
    generation = pinned.generation + 1
    copy = state.checkpoints(generation)
    try:
        copy_checkpoints(state.checkpoints(pinned.generation), copy)
        repartition([copy / query for query in with_batches], partitions)
        copy.sync_all()
    except OSError as error:
        _try_to_delete(copy)
        raise LsqlError("STATE_DIR_UNWRITABLE", path=str(copy), reason=error.strerror or str(error)) from None
    except BaseException:
        _try_to_delete(copy)
        raise
    # Kept states are not divided, and cannot be continued beside others any more.
    state.pin(replace(pinned, generation=generation, state_partitions=partitions, kept=NOTHING))
    state.drop_others(generation)
    return Repartitioned(was, partitions, generation)


def _divisible_queries(saved: SavedState, pinned: Pinned, partitions: int) -> list[str]:
    """The queries with state that have ended a batch. Raises LsqlError if one of them cannot be divided."""
    names = []
    for query in pinned.fingerprint.stateful:
        operator = fixed_operator(query)
        if operator is not None:
            target = ", ".join(query.targets)
            raise LsqlError(
                "PARTITIONS_FIXED", target=target, operator=operator, was=pinned.state_partitions, now=partitions
            )
        batch = first_batch(saved.folder / str(pinned.generation) / query.name)
        if batch.has_begun:
            raise LsqlError("BATCH_UNFINISHED", query=query.name, was=pinned.state_partitions)
        if batch.batch_id:
            names.append(query.name)
    return names


def _delete_unnamed(saved: SavedState, pinned: Pinned) -> None:
    """Delete generations after the one in program.json: a command or a start was killed before it named them."""
    for generation in saved.generations:
        if generation > pinned.generation:
            _try_to_delete(saved.folder / str(generation))


def _try_to_delete(folder: StateFolder) -> None:
    with suppress(OSError, LsqlError):  # the next command deletes what is left
        folder.delete_all()
