"""Spark's progress reports to the processor's own events. Pure: JSON in, frozen data out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from lsql_runner.engine.ticks import TICKS
from lsql_runner.events.batches import BatchEnded, Caught, Partition, StoreReport

OUTPUT_METRIC = "output"
LATE_METRIC = "late-"
"""Before a store's name: how many records a batch had that came too late for it."""
ERRORS_METRIC = "errors-"
"""Before a number or a store's name: how many records were caught; each count has the name that `caught_as` gives."""


def caught_as(fate: str, code: str, topic: str) -> str:
    """The name of a count of records of a topic: what became of them, and why."""
    return f"{fate}/{code}/{topic}"


def batch_ended(progress: dict[str, Any], stores: tuple[str, ...]) -> BatchEnded | None:
    """The event for one of Spark's progress reports; None for a report that no batch stands behind.

    Args:
        progress: the JSON of a StreamingQueryProgress.
        stores: names of the query's state stores, in the plan's order.
    """
    phases = {name: int(value) for name, value in progress["durationMs"].items()}
    if "addBatch" not in phases:
        return None
    times = progress.get("eventTime") or {}
    started_ms = _epoch_ms(progress["timestamp"])
    duration = int(progress["batchDuration"])
    metrics = progress.get("observedMetrics") or {}
    observed = metrics.get(OUTPUT_METRIC) or {}
    return BatchEnded(
        at_ms=started_ms + duration,
        query=str(progress["name"]),
        batch_id=int(progress["batchId"]),
        records_in=int(progress["numInputRows"]) - _ticks(progress["sources"]),
        records_out=int(observed.get("records", 0)),
        duration_ms=duration,
        phases_ms=phases,
        positions=_positions(progress["sources"]),
        stores=tuple(_store(name, report) for name, report in zip(stores, progress["stateOperators"], strict=False)),
        watermark_ms=event_time_ms(times.get("watermark")),
        event_time_max_ms=event_time_ms(times.get("max")),
        late_records=_late(metrics),
        caught=tuple(_caught(metrics)),
    )


def _late(observed: dict[str, Any]) -> int:
    return sum(int(metric["records"]) for name, metric in observed.items() if name.startswith(LATE_METRIC))


def _ticks(sources: list[dict[str, Any]]) -> int:
    """Rows that are no records."""
    return sum(int(source["numInputRows"]) for source in sources if TICKS in source["description"])


def _caught(metrics: dict[str, Any]) -> Iterator[Caught]:
    """The counts that are not zero."""
    for name, found in metrics.items():
        for kind, records in (found or {}).items() if name.startswith(ERRORS_METRIC) else ():
            fate, code, topic = kind.split("/", 2)
            if int(records):
                yield Caught(fate, topic, code, int(records))


def _positions(sources: list[dict[str, Any]]) -> dict[Partition, int]:
    """Where each Kafka partition was read to. Sources without partitions (rate, memory) count their records instead."""
    found: dict[Partition, int] = {}
    for source in sources:
        end = source["endOffset"]
        end = json.loads(end) if isinstance(end, str) else end
        if isinstance(end, dict):
            for topic, partitions in end.items():
                found |= {Partition(topic, int(number)): int(offset) for number, offset in partitions.items()}
    return found


def _store(name: str, report: dict[str, Any]) -> StoreReport:
    return StoreReport(
        name=name,
        rows=int(report["numRowsTotal"]),
        memory_bytes=int(report["memoryUsedBytes"]),
        rows_updated=int(report["numRowsUpdated"]),
        late_rows_dropped=int(report["numRowsDroppedByWatermark"]),
    )


def event_time_ms(text: str | None) -> int | None:
    """Milliseconds since 1970 UTC; None before the first record, when Spark says 1970 itself."""
    at = None if text is None else _epoch_ms(text)
    return at or None


def _epoch_ms(text: str) -> int:
    return round(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)
