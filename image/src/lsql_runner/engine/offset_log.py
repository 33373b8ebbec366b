"""The offset log of a checkpoint, which Spark writes before a batch runs: watermark and end offsets of each batch."""

from __future__ import annotations

import json
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


def newest_batch(checkpoint: Path) -> PlannedBatch | None:
    """The last batch that was planned with a checkpoint; None before the first."""
    numbers = [int(path.name) for path in (checkpoint / "offsets").glob("[0-9]*") if path.name.isdigit()]
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
