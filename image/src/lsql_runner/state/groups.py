"""Finds the state of an aggregation of Spark in a checkpoint."""

from __future__ import annotations

import json
from dataclasses import dataclass

from lsql_runner.state.folder import StateFolder
from lsql_runner.state.offset_log import state_ids

_OPERATOR = "stateStoreSave"
"""Spark's name of the operator that keeps the groups of an aggregate."""


@dataclass(frozen=True, slots=True)
class SavedGroups:
    """The groups of an aggregate after a batch."""

    operator: int
    """The number of the operator in the query."""
    ids: tuple[tuple[int, str], ...]
    """The partitions, and the id of the state of each."""


def groups_after(checkpoint: StateFolder, batch_id: int) -> SavedGroups | None:
    """The groups after a batch that has ended; None if the checkpoint has none.

    Raises:
        OSError: the volume fails.
    """
    for number in (checkpoint / "state").folder_names():
        content = (checkpoint / f"state/{number}/_metadata").read("metadata")
        if content is not None and json.loads(content.splitlines()[1])["operatorInfo"]["operatorName"] == _OPERATOR:
            ids = tuple((partition, id) for of, partition, id in state_ids(checkpoint, batch_id) if of == number)
            return SavedGroups(int(number), ids) if ids else None
    return None
