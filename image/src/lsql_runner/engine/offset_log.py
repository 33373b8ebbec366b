"""What a batch was planned with, read from the checkpoint's offset log: Spark writes it before the batch runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from lsql_runner.events.batches import Partition


@dataclass(frozen=True, slots=True)
class PlannedBatch:
    """`ends` is the next offset to read behind the batch, for each source partition."""

    watermark_ms: int
    ends: dict[Partition, int]


def newest_batch(checkpoint: Path) -> PlannedBatch | None:
    """The last batch that the query whose checkpoint this is has planned; None before the first."""
    numbers = [int(path.name) for path in (checkpoint / "offsets").glob("[0-9]*") if path.name.isdigit()]
    return planned_batch(checkpoint, max(numbers)) if numbers else None


def planned_batch(checkpoint: Path, batch_id: int) -> PlannedBatch | None:
    """A batch of the query whose checkpoint this is; None if the log has it not (any more)."""
    try:
        _, metadata, *sources = (checkpoint / "offsets" / str(batch_id)).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return None
    ends: dict[Partition, int] = {}
    for source in sources:
        if source == "-":  # a source that had nothing yet
            continue
        topics = json.loads(source)
        if isinstance(topics, dict):  # ticks have their time, a number
            for topic, offsets in topics.items():
                ends |= {Partition(topic, int(number)): int(offset) for number, offset in offsets.items()}
    return PlannedBatch(int(json.loads(metadata)["batchWatermarkMs"]), ends)
