"""Spark's progress reports as the processor's events. Pure: JSON in, frozen data out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from lsql_runner.compile.metric_names import ERRORS_METRIC, EVENT_TIME_METRIC, LATE_METRIC, OUTPUT_METRIC
from lsql_runner.compile.ticks import TICKS
from lsql_runner.events.batches import (
    BatchEnded,
    FailureAction,
    FailureCount,
    Partition,
    RecordsProcessed,
    StoreReport,
)


def batch_ended(progress: dict[str, Any], stores: tuple[str, ...]) -> BatchEnded | None:
    """The event for one of Spark's progress reports; None for a report without a batch.

    Args:
        progress: the JSON of a StreamingQueryProgress.
        stores: names of the query's state stores, in the plan's order.
    """
    phases = {name: int(value) for name, value in progress["durationMs"].items()}
    if "addBatch" not in phases:
        return None
    waited_ms = max((_source_metric(source, "waitedMs") for source in progress["sources"]), default=0)
    if "latestOffset" in phases:
        phases["latestOffset"] = max(0, phases["latestOffset"] - waited_ms)
    times = progress.get("eventTime") or {}
    started_ms = _epoch_ms(progress["timestamp"])
    duration = int(progress["batchDuration"])
    metrics = progress.get("observedMetrics") or {}
    observed = metrics.get(OUTPUT_METRIC) or {}
    muted = any(_source_metric(source, "muted") for source in progress["sources"])
    processed = sum(_source_metric(source, "processedRecords") for source in progress["sources"])
    return BatchEnded(
        at_ms=started_ms + duration,
        query=str(progress["name"]),
        batch_id=int(progress["batchId"]),
        records_in=int(progress["numInputRows"]) - _ticks(progress["sources"]) + processed,
        in_real_time=processed > 0,
        records_out=0 if muted else int(observed.get("records", 0)),
        duration_ms=max(0, duration - waited_ms),
        phases_ms=phases,
        positions=_positions(progress["sources"]),
        stores=tuple(
            replace(store, late_rows_dropped=0) if muted else store
            for store in (
                _store(name, report) for name, report in zip(stores, progress["stateOperators"], strict=False)
            )
        ),
        watermark_ms=event_time_ms(times.get("watermark")),
        event_time_max_ms=event_time_ms(times.get("max")),
        input_times_ms=_input_times(metrics, "newest"),
        advanced_ms=_input_times(metrics, "advanced"),
        ticked_ms=_ticked_ms(progress["sources"]),
        behind=frozenset(_topics_behind(progress["sources"])),
        late_records=0 if muted else _late(metrics),
        future_records=sum(_source_metric(source, "futureRecords") for source in progress["sources"]),
        failed_records=() if muted else tuple(_failed_records(metrics)),
    )


@dataclass(frozen=True, slots=True)
class OpenBatch:
    """What a query has reported of an open batch."""

    records_in: int = 0
    records_out: int = 0
    at_ms: int | None = None

    def after(self, report: dict[str, Any], now_ms: int) -> tuple[OpenBatch, RecordsProcessed]:
        """The batch after a report, and the event with the records since the last one.

        Args:
            report: the JSON of `RealTime.Report` in the JVM, with totals of the batch.
            now_ms: the wall clock.
        """
        after = OpenBatch(int(report["recordsIn"]), int(report["recordsOut"]), now_ms)
        return after, RecordsProcessed(
            at_ms=now_ms,
            query=str(report["name"]),
            records_in=after.records_in - self.records_in,
            records_out=after.records_out - self.records_out,
            duration_ms=0 if self.at_ms is None else now_ms - self.at_ms,
            positions=_offsets(report["positions"]),
        )

    def without(self, ended: BatchEnded) -> BatchEnded:
        """The event of the batch without the records that were reported while it was open."""
        return replace(
            ended,
            records_in=max(0, ended.records_in - self.records_in),
            records_out=max(0, ended.records_out - self.records_out),
        )


def _source_metric(source: dict[str, Any], name: str) -> int:
    """A metric of TOPIC_SOURCE. `waitedMs`: the time that the query waited for records before the batch, which Spark
    counts as part of the batch. `futureRecords`: the records that are too far in the future to advance the event time.
    `processedRecords`: the records that were processed before the batch, as they arrived. `muted`: 1 if the results
    of the batch are not written.
    """
    return int((source.get("metrics") or {}).get(name, 0))


def _late(observed: dict[str, Any]) -> int:
    return sum(int(metric["records"]) for name, metric in observed.items() if name.startswith(LATE_METRIC))


def _ticks(sources: list[dict[str, Any]]) -> int:
    """The number of rows that are ticks and not records."""
    return sum(int(source["numInputRows"]) for source in sources if TICKS in source["description"])


def _input_times(metrics: dict[str, Any], which: str) -> dict[str, int]:
    times = {name: metric[which] for name, metric in metrics.items() if name.startswith(EVENT_TIME_METRIC)}
    return {name.removeprefix(EVENT_TIME_METRIC): int(time) for name, time in times.items() if time is not None}


def _ticked_ms(sources: list[dict[str, Any]]) -> int | None:
    """The time of the last tick; None if there was none."""
    times = [int(source["endOffset"]) for source in sources if TICKS in source["description"]]
    return max(times, default=0) or None


def _failed_records(metrics: dict[str, Any]) -> Iterator[FailureCount]:
    for metric, counts in metrics.items():
        if metric.startswith(ERRORS_METRIC):
            yield from failure_counts(counts or {})


def failure_counts(counts: Mapping[str, int]) -> Iterator[FailureCount]:
    """The numbers of failed records that are not zero. The keys are results of `failure_count_name`."""
    for name, records in counts.items():
        action, code, topic = name.split("/", 2)
        if int(records):
            yield FailureCount(cast(FailureAction, action), topic, code, int(records))


def _positions(sources: list[dict[str, Any]]) -> dict[Partition, int]:
    """The next offset of each Kafka partition. Sources without partitions (rate, memory) report a number instead."""
    positions: dict[Partition, int] = {}
    for source in sources:
        positions |= _offsets(source["endOffset"])
    return positions


def _topics_behind(sources: list[dict[str, Any]]) -> Iterator[str]:
    """The topics that had records after the end of the batch."""
    for source in sources:
        ends = _offsets(source["endOffset"])
        yield from (
            place.topic for place, latest in _offsets(source.get("latestOffset")).items() if latest > ends.get(place, 0)
        )


def _offsets(reported: Any) -> dict[Partition, int]:
    """The offsets of a source that Spark reports, as text or as JSON; none for a source without partitions."""
    topics = json.loads(reported) if isinstance(reported, str) else reported
    if not isinstance(topics, dict):
        return {}
    return {
        Partition(topic, int(number)): int(offset)
        for topic, partitions in topics.items()
        for number, offset in partitions.items()
    }


def _store(name: str, report: dict[str, Any]) -> StoreReport:
    return StoreReport(
        name=name,
        rows=int(report["numRowsTotal"]),
        memory_bytes=int(report["memoryUsedBytes"]),
        rows_updated=int(report["numRowsUpdated"]),
        late_rows_dropped=int(report["numRowsDroppedByWatermark"]),
    )


def event_time_ms(text: str | None) -> int | None:
    """Milliseconds since 1970 UTC; None before the first record, for which Spark reports 1970-01-01T00:00:00Z, and for
    a year after 9999, which Python cannot read."""
    try:
        at = None if text is None else _epoch_ms(text)
    except ValueError:  # a year after 9999
        return None
    return at or None


def _epoch_ms(text: str) -> int:
    return round(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)
