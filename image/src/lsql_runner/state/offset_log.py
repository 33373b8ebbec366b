"""The files of a checkpoint that the runner reads and writes itself: its identity and its logs.

    metadata          the identity, which exists from the beginning of a checkpoint
    target-offsets, written-inserts, open-batch
                      of exactly-once output; the JVM writes them (delivery.TargetOffsets, InsertHistory, Openings)
    run               the identity while the checkpoint begins again
    offsets/<batch>   the offset log, written before a batch runs
    commits/<batch>   the commit log, written after it

Spark writes the logs for batches, and `append_committed` for queries that process each record when it arrives: a later
start can use either mode.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lsql_runner.errors import DetailTable, LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.state.folder import StateFolder


@dataclass(frozen=True, slots=True)
class PlannedBatch:
    """One entry of the offset log."""

    watermark_ms: int
    """The watermark with which the batch ran, in milliseconds since 1970 UTC."""
    ends: dict[Partition, int]
    """By source partition: the next offset after the batch."""
    at_ms: int = field(default=0, compare=False)
    """The time when it was planned, in milliseconds since 1970 UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedCheckpoint:
    """A checkpoint as it is stored."""

    planned: Mapping[Partition, int] = field(default_factory=dict)
    """By source partition: the next offset after the last batch that was planned; empty before the first."""
    ended: Mapping[Partition, int] = field(default_factory=dict)
    """By source partition: the next offset after the last batch that has ended; empty before its end."""
    watermark_ms: int = 0
    """The watermark with which that batch ran, in milliseconds since 1970 UTC; 0 before the first event time."""
    has_begun: bool = False
    """Whether the last batch that was planned has not ended: it may be written in part."""


_IDENTITY = "metadata"
_RUN = "run"
_TARGET_OFFSETS = "target-offsets"
_OPENED = "open-batch"
_KEPT = b".kept"
"""The end of the file of the last opening if all its results stay: see `Openings` in Java."""
_OF_THE_RUN = (_TARGET_OFFSETS, "written-inserts")
_FAULTS = DetailTable({"EXISTS": "another process has written {file}"})


def renew_identity(checkpoint: StateFolder) -> None:
    """Give a checkpoint another run id. Its state and positions stay.

    Raises:
        OSError: the volume is full or read-only.
    """
    checkpoint.write(_IDENTITY, json.dumps({"id": str(uuid.uuid4())}).encode())


def begin_checkpoint(checkpoint: StateFolder) -> None:
    """Begin an empty checkpoint, unless it exists. Afterwards its identity is on the disk.

    Spark takes over the identity, which has the form of its own.

    Raises:
        OSError: the volume is full or read-only.
    """
    if not exists(checkpoint):
        renew_identity(checkpoint)


def begin_again(checkpoint: StateFolder, previous: StateFolder) -> None:
    """Begin an empty checkpoint of a query without state in place of an earlier one, and continue the run of that one.

    A start then finds the records of the run after the saved positions in the targets. If the earlier checkpoint does
    not exist, a new run begins. After a crash, `checkpoint` does not exist, or is complete.

    Args:
        checkpoint: to begin; it may be `previous`.
        previous: the checkpoint that the query had at the last start.

    Raises:
        OSError: the volume is full or read-only.
    """
    identity = previous.read(_IDENTITY) or previous.read(_RUN)
    if identity is None:
        delete_checkpoint(checkpoint)
        begin_checkpoint(checkpoint)
        return
    kept = {name: content for name in _OF_THE_RUN if (content := previous.read(name)) is not None}
    if _TARGET_OFFSETS in kept:
        kept[_TARGET_OFFSETS] = _from_first_batch(kept[_TARGET_OFFSETS], first_batch(previous).batch_id)
    checkpoint.write(_RUN, identity)
    for name, content in kept.items():
        checkpoint.write(name, content)
    checkpoint.delete(_IDENTITY)
    for path in checkpoint.all_files():
        if path not in (_RUN, *kept):
            checkpoint.delete(path)
    checkpoint.write(_IDENTITY, identity)
    checkpoint.delete(_RUN)


def _from_first_batch(target_offsets: bytes, batch_id: int) -> bytes:
    """The offsets of the targets that hold for a batch, for all batches of another checkpoint."""
    held = [entry for entry in json.loads(target_offsets) if entry["batch"] <= batch_id]
    return json.dumps([{**held[-1], "batch": 0}] if held else []).encode()


def open_checkpoint(checkpoint: StateFolder) -> None:
    """Begin a checkpoint, unless it exists, and delete temporary files that a kill has left in it.

    No query may run on it.
    """
    begin_checkpoint(checkpoint)
    # Spark and the runner write a file under a name that begins with a dot, and then rename it.
    for path in checkpoint.all_files():
        if path.rpartition("/")[2].startswith("."):
            checkpoint.delete(path)


def exists(checkpoint: StateFolder) -> bool:
    """Whether a checkpoint was begun; its query may not have planned a batch."""
    return checkpoint.read(_IDENTITY) is not None


def run_id(checkpoint: StateFolder) -> str:
    """The run id of a checkpoint: 32 hexadecimal digits that change when the checkpoint is created again.

    Raises:
        OSError, ValueError: the checkpoint was not begun.
    """
    content = checkpoint.read(_IDENTITY)
    if content is None:
        raise FileNotFoundError(f"{checkpoint}/{_IDENTITY}")
    return uuid.UUID(json.loads(content)["id"]).hex


def delete_checkpoint(checkpoint: StateFolder) -> None:
    """Delete a checkpoint, which may not exist. Its identity is deleted first: files without it are not a checkpoint.

    Raises:
        OSError: files remain.
    """
    checkpoint.delete(_IDENTITY)
    checkpoint.delete_all()


def saved_checkpoint(checkpoint: StateFolder) -> SavedCheckpoint:
    """The content of an existing checkpoint."""
    planned, ended = newest_batch(checkpoint), newest_committed(checkpoint)
    has_begun = next_batch_id(checkpoint) > (0 if ended is None else ended + 1)
    batch = None if ended is None else planned_batch(checkpoint, ended)
    return SavedCheckpoint(
        planned={} if planned is None else planned.ends,
        ended={} if batch is None else batch.ends,
        watermark_ms=0 if batch is None else batch.watermark_ms,
        has_begun=has_begun,
    )


def newest_batch(checkpoint: StateFolder) -> PlannedBatch | None:
    """The last batch that was planned with a checkpoint; None before the first."""
    numbers = _numbers(checkpoint / "offsets")
    return planned_batch(checkpoint, max(numbers)) if numbers else None


def planned_batch(checkpoint: StateFolder, batch_id: int) -> PlannedBatch | None:
    """A batch that was planned with a checkpoint; None if the log does not contain it (any more).

    Raises:
        OSError: the volume fails.
    """
    content = (checkpoint / "offsets").read(str(batch_id)) or b""
    try:
        _, metadata, *sources = content.decode().splitlines()
    except ValueError:
        return None
    ends: dict[Partition, int] = {}
    for source in sources:
        if source == "-":  # a source without data so far
            continue
        topics = json.loads(source)
        if isinstance(topics, dict):  # the offset of a clock is a number
            ends |= from_topics(topics)
    times = json.loads(metadata)
    return PlannedBatch(int(times["batchWatermarkMs"]), ends, int(times["batchTimestampMs"]))


def newest_committed(checkpoint: StateFolder) -> int | None:
    """The id of the last batch that has ended; None before the first. The batch after it may have been planned."""
    return max(_numbers(checkpoint / "commits"), default=None)


def state_ids(checkpoint: StateFolder, batch_id: int) -> list[tuple[str, int, str]]:
    """The ids of the state after a batch that has ended: operator, partition, and id of each of its stores."""
    lines = ((checkpoint / "commits").read(str(batch_id)) or b"").decode().splitlines()
    operators = (json.loads(lines[1]).get("stateUniqueIds") or {}) if len(lines) > 1 else {}
    return [
        (operator, number, store)
        for operator, partitions in operators.items()
        for number, stores in enumerate(partitions)
        for store in stores
    ]


def operator_state_ids(checkpoint: StateFolder, batch_id: int, operator: int) -> list[str]:
    """The ids of the state of an operator after a batch that has ended, by partition; empty if it has none."""
    return [id for of, _, id in state_ids(checkpoint, batch_id) if of == str(operator)]


def set_state_ids(checkpoint: StateFolder, batch_id: int, operator: str, ids: list[list[str]]) -> None:
    """Change the state of an operator after a batch that has ended: by partition, the id of each of its stores.

    Raises:
        OSError: the volume is full or read-only.
    """
    commits = checkpoint / "commits"
    version, line = (commits.read(str(batch_id)) or b"").decode().splitlines()
    commit = json.loads(line)
    commit["stateUniqueIds"][operator] = ids
    commits.write(str(batch_id), f"{version}\n{json.dumps(commit)}".encode())


@dataclass(frozen=True, slots=True)
class FirstBatch:
    """The batch with which a query begins."""

    batch_id: int
    has_begun: bool
    """It was planned before, and may have been written in part."""
    positions: dict[Partition, int]
    """By source partition: where it begins; empty for a new checkpoint."""


def first_batch(checkpoint: StateFolder) -> FirstBatch:
    """The first batch after all that have ended."""
    committed = newest_committed(checkpoint)
    planned = next_batch_id(checkpoint) - 1
    batch = None if committed is None else planned_batch(checkpoint, committed)
    first = 0 if committed is None else committed + 1
    return FirstBatch(first, planned >= first, {} if batch is None else batch.ends)


def keep_opened(checkpoint: StateFolder) -> None:
    """If a killed process had a batch open, all results that it has written stay, also if the batch does not have them.

    Args:
        checkpoint: of a query that does not run.

    Raises:
        OSError: the volume is full or read-only.
    """
    opened = checkpoint.read(_OPENED)
    if opened is not None and not opened.endswith(_KEPT):
        checkpoint.write(_OPENED, opened + _KEPT)


def rewind(checkpoint: StateFolder, positions: Mapping[Partition, int]) -> None:
    """Change where the next batches of a checkpoint begin. Its state stays.

    The run id changes: the same offsets identify other records from now on.

    Args:
        checkpoint: of a query that does not run.
        positions: the last possible next offset of all partitions of some topics; the other topics stay as they are.

    Raises:
        OSError: the volume is full or read-only.
    """
    newest = newest_committed(checkpoint)
    moved = by_topic(positions)
    offsets = checkpoint / "offsets"
    for number in sorted(_numbers(offsets)):
        if newest is None or number >= newest:
            head, metadata, *sources = (offsets.read(str(number)) or b"").decode().splitlines()
            rewound = [_rewound(source, moved) for source in sources]
            offsets.write(str(number), "\n".join([head, metadata, *rewound]).encode())
    renew_identity(checkpoint)


def _rewound(source: str, moved: Mapping[str, Mapping[str, int]]) -> str:
    """A line of the offset log with other positions; unchanged if it has none of these topics."""
    topics = None if source == "-" else json.loads(source)
    if not isinstance(topics, dict) or moved.keys().isdisjoint(topics):
        return source
    return json.dumps(
        {
            topic: {number: min(offsets.get(number, 0), most) for number, most in moved[topic].items()}
            if topic in moved
            else offsets
            for topic, offsets in topics.items()
        }
    )


def next_batch_id(checkpoint: StateFolder) -> int:
    """The id after all batches that were planned."""
    return max(_numbers(checkpoint / "offsets"), default=-1) + 1


def batch_count(checkpoint: StateFolder) -> int:
    """The number of batches in a checkpoint that have ended."""
    return len(_numbers(checkpoint / "commits"))


def delete_old_batches(checkpoint: StateFolder, kept: int) -> None:
    """Delete all batches but the newest ones from the logs of a checkpoint of a query without state."""
    for folder in ("offsets", "commits"):
        for number in sorted(_numbers(checkpoint / folder))[:-kept]:
            (checkpoint / folder).delete(str(number))


def append_committed(
    checkpoint: StateFolder, batch_id: int, sources: Sequence[Mapping[Partition, int]], kept: int
) -> None:
    """Log a batch that has ended.

    Args:
        checkpoint: of a query without state.
        batch_id: of the batch; the result of `next_batch_id` before the first.
        sources: the positions after the batch, for each source in the order of the query.
        kept: the number of batches that the logs keep.

    Raises:
        LsqlError: QUERY_FAILED, if another process has written the batch.
        OSError: the volume is full or read-only.
    """
    metadata = {"batchWatermarkMs": 0, "batchTimestampMs": round(time.time() * 1000), "conf": {}}
    offsets = ["v1", json.dumps(metadata), *(json.dumps(by_topic(source)) for source in sources)]
    commit = ["v2", json.dumps({"nextBatchWatermarkMs": 0, "stateUniqueIds": {}})]
    for folder, lines in (("offsets", offsets), ("commits", commit)):
        _append(checkpoint / folder, batch_id, "\n".join(lines), kept)


def _append(folder: StateFolder, number: int, text: str, kept: int) -> None:
    """Write an entry of a log, and delete an old one. A process that was replaced writes no entry of its successor."""
    name, content = str(number), text.encode()
    # A store may answer a repeated request that its first attempt has created the file.
    if not folder.create(name, content) and folder.read(name) != content:
        raise LsqlError("QUERY_FAILED", reason=_FAULTS("EXISTS", file=f"{folder}/{name}"))
    folder.delete(str(number - kept))


def by_topic(positions: Mapping[Partition, int]) -> dict[str, dict[str, int]]:
    """Positions as a JSON object: topic, partition, offset."""
    topics: dict[str, dict[str, int]] = {}
    for place, offset in positions.items():
        topics.setdefault(place.topic, {})[str(place.partition)] = offset
    return topics


def from_topics(topics: Mapping[str, Mapping[str, int]]) -> dict[Partition, int]:
    """The positions from the result of `by_topic`."""
    return {
        Partition(topic, int(number)): int(offset)
        for topic, offsets in topics.items()
        for number, offset in offsets.items()
    }


def _numbers(folder: StateFolder) -> list[int]:
    return [int(name) for name in folder.file_names() if name.isdigit()]
