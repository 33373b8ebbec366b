"""The logs of a checkpoint: the offset log, written before a batch runs, and the commit log, written after it.

Spark writes them for batches, and `append_committed` for queries that process each record when it arrives: a later
start can use either mode.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsql_runner.events.batches import Partition


@dataclass(frozen=True, slots=True)
class PlannedBatch:
    """One entry of the offset log."""

    watermark_ms: int
    """The watermark with which the batch ran, in milliseconds since 1970 UTC."""
    ends: dict[Partition, int]
    """By source partition: the next offset after the batch."""


def run_id(checkpoint: Path) -> str:
    """The id of a checkpoint, which changes when it is begun anew: 32 hexadecimal digits. The first call creates it.

    Raises:
        OSError: the volume is full or read-only.
    """
    file = checkpoint / "metadata"  # Spark reads and writes the same file
    if not file.exists():
        checkpoint.mkdir(parents=True, exist_ok=True)
        _replace(file, json.dumps({"id": str(uuid.uuid4())}))
    return str(json.loads(file.read_text(encoding="utf-8"))["id"]).replace("-", "")


def newest_batch(checkpoint: Path) -> PlannedBatch | None:
    """The last batch that was planned with a checkpoint; None before the first."""
    numbers = _numbers(checkpoint / "offsets")
    return planned_batch(checkpoint, max(numbers)) if numbers else None


def planned_batch(checkpoint: Path, batch_id: int) -> PlannedBatch | None:
    """A batch that was planned with a checkpoint; None if the log does not contain it (any more)."""
    try:
        _, metadata, *sources = (checkpoint / "offsets" / str(batch_id)).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return None
    ends: dict[Partition, int] = {}
    for source in sources:
        if source == "-":  # a source without data so far
            continue
        topics = json.loads(source)
        if isinstance(topics, dict):  # the offset of a clock is a number
            for topic, offsets in topics.items():
                ends |= {Partition(topic, int(number)): int(offset) for number, offset in offsets.items()}
    return PlannedBatch(int(json.loads(metadata)["batchWatermarkMs"]), ends)


_KEPT = 100
"""The number of batches that the logs keep, as with Spark."""


def newest_committed(checkpoint: Path) -> int | None:
    """The id of the last batch that has ended; None before the first. The batch after it may have been planned."""
    return max(_numbers(checkpoint / "commits"), default=None)


@dataclass(frozen=True, slots=True)
class FirstBatch:
    """The batch with which a query begins."""

    batch_id: int
    has_begun: bool
    """It was planned before, and may have been written in part."""
    positions: dict[Partition, int]
    """By source partition: where it begins; empty for a new checkpoint."""


def first_batch(checkpoint: Path) -> FirstBatch:
    """The first batch after all that have ended."""
    committed = newest_committed(checkpoint)
    planned = next_batch_id(checkpoint) - 1
    batch = None if committed is None else planned_batch(checkpoint, committed)
    first = 0 if committed is None else committed + 1
    return FirstBatch(first, planned >= first, {} if batch is None else batch.ends)


def next_batch_id(checkpoint: Path) -> int:
    """The id after all batches that were planned."""
    return max(_numbers(checkpoint / "offsets"), default=-1) + 1


def append_committed(checkpoint: Path, batch_id: int, sources: Sequence[Mapping[Partition, int]]) -> None:
    """Log a batch that has ended.

    Args:
        checkpoint: of a query without state.
        batch_id: of the batch; the result of `next_batch_id` before the first.
        sources: the positions after the batch, for each source in the order of the query.

    Raises:
        OSError: the volume is full or read-only.
    """
    metadata = {"batchWatermarkMs": 0, "batchTimestampMs": round(time.time() * 1000), "conf": {}}
    offsets = ["v1", json.dumps(metadata), *(json.dumps(_by_topic(source)) for source in sources)]
    commit = ["v2", json.dumps({"nextBatchWatermarkMs": 0, "stateUniqueIds": {}})]
    for folder, lines in (("offsets", offsets), ("commits", commit)):
        _append(checkpoint / folder, batch_id, "\n".join(lines))


def _append(folder: Path, number: int, text: str) -> None:
    """Write an entry of a log atomically, and delete an old one."""
    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / str(number), text)
    (folder / str(number - _KEPT)).unlink(missing_ok=True)


def _replace(file: Path, text: str) -> None:
    """Write a file atomically, to the disk."""
    fresh = file.with_name(f".{file.name}.new")
    with fresh.open("w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    fresh.replace(file)


def _by_topic(positions: Mapping[Partition, int]) -> dict[str, dict[str, int]]:
    topics: dict[str, dict[str, int]] = {}
    for place, offset in positions.items():
        topics.setdefault(place.topic, {})[str(place.partition)] = offset
    return topics


def _numbers(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.glob("[0-9]*") if path.name.isdigit()]
