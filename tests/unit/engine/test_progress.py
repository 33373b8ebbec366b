"""Spark's progress reports become events, for all kinds of sources."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lsql_runner.engine.progress import OpenBatch, batch_ended
from lsql_runner.events.batches import FailureCount, Partition, StoreReport

_AT_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z
_STORE = {"numRowsTotal": 7, "memoryUsedBytes": 1024, "numRowsUpdated": 3, "numRowsDroppedByWatermark": 2}


def _report(**changes: Any) -> dict[str, Any]:
    return {
        "name": "counts",
        "batchId": 4,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "batchDuration": 250,
        "durationMs": {"addBatch": 200, "walCommit": 20},
        "numInputRows": 10,
        "eventTime": {"watermark": "2026-01-01T00:00:01.000Z", "max": "2026-01-01T00:00:02.500Z"},
        "observedMetrics": {"output": {"records": 6}},
        "stateOperators": [_STORE],
        "sources": [_source({"a": {"0": 12, "1": 5}}), _source({"b": {"0": 1}})],
    } | changes


def _source(end: Any, rows: int = 5, description: str = "topic a") -> dict[str, Any]:
    return {"description": description, "endOffset": end, "numInputRows": rows}


def test_a_report_of_a_batch_becomes_an_event_with_all_its_values() -> None:
    ended = batch_ended(_report(), ("counts-by-name",))
    assert ended is not None
    assert (ended.query, ended.batch_id, ended.at_ms) == ("counts", 4, _AT_MS + 250)
    assert (ended.records_in, ended.records_out, ended.duration_ms) == (10, 6, 250)
    assert ended.phases_ms == {"addBatch": 200, "walCommit": 20}
    assert ended.positions == {Partition("a", 0): 12, Partition("a", 1): 5, Partition("b", 0): 1}
    assert ended.stores == (
        StoreReport(name="counts-by-name", rows=7, memory_bytes=1024, rows_updated=3, late_rows_dropped=2),
    )
    assert (ended.watermark_ms, ended.event_time_max_ms) == (_AT_MS + 1000, _AT_MS + 2500)


def test_the_wait_for_records_is_not_part_of_the_batch() -> None:
    waited = {**_source({"a": {"0": 12}}), "metrics": {"waitedMs": "900"}}
    phases = {"addBatch": 200, "latestOffset": 912}

    ended = batch_ended(_report(batchDuration=1150, durationMs=phases, sources=[waited, _source({})]), ())

    assert ended is not None
    assert (ended.at_ms, ended.duration_ms) == (_AT_MS + 1150, 250)
    assert ended.phases_ms == {"addBatch": 200, "latestOffset": 12}


def test_a_report_without_a_batch_is_no_event() -> None:
    assert batch_ended(_report(durationMs={"triggerExecution": 3}), ()) is None


def test_an_event_before_the_first_record_has_no_watermark() -> None:
    ended = batch_ended(_report(eventTime={"watermark": "1970-01-01T00:00:00.000Z"}, stateOperators=[]), ())
    assert ended is not None
    assert (ended.watermark_ms, ended.event_time_max_ms) == (None, None)


@pytest.mark.parametrize(
    ("end", "positions"),
    [
        pytest.param(None, {}, id="nothing read yet"),
        pytest.param(0, {}, id="a rate source at its start"),
        pytest.param(17, {}, id="a rate source later"),
        pytest.param("3", {}, id="a memory source"),
        pytest.param(json.dumps({"a": {"0": 2}}), {Partition("a", 0): 2}, id="Kafka, as text"),
    ],
)
def test_only_kafka_partitions_have_positions(end: object, positions: dict[Partition, int]) -> None:
    ended = batch_ended(_report(sources=[_source(end)]), ())
    assert ended is not None
    assert ended.positions == positions


def test_ticks_are_not_counted_as_records() -> None:
    ended = batch_ended(_report(sources=[_source(None, 8), _source("1700000000000", 2, "ticks of aggregate-0")]), ())
    assert ended is not None
    assert (ended.records_in, ended.positions) == (8, {})


def test_an_event_has_the_late_records_that_our_operators_counted() -> None:
    ended = batch_ended(_report(observedMetrics={"output": {"records": 1}, "late-aggregate-0": {"records": 3}}), ())
    assert ended is not None
    assert (ended.records_out, ended.late_records) == (1, 3)


def test_an_event_has_the_failed_records_whose_number_is_not_zero() -> None:
    counts = {"skipped/RECORD_MALFORMED/a/b": 2, "dead_letter/RECORD_REFUSED/a": 1, "skipped/RECORD_REFUSED/a": 0}

    ended = batch_ended(_report(observedMetrics={"errors-0": counts, "errors-1": None}), ())

    assert ended is not None
    assert ended.failed_records == (
        FailureCount("skipped", "a/b", "RECORD_MALFORMED", 2),
        FailureCount("dead_letter", "a", "RECORD_REFUSED", 1),
    )


def test_the_newest_times_of_inputs_and_the_tick_are_reported() -> None:
    ticks = _source("40000", rows=1, description="ticks of join-0")
    metrics = {
        "event-time-join-0-left": {"newest": 70_000, "advanced": 60_000},
        "event-time-join-0-right": {"newest": None, "advanced": None},
    }

    ended = batch_ended(_report(sources=[_source({"a": {"0": 12}}), ticks], observedMetrics=metrics), ())

    assert ended is not None
    assert ended.input_times_ms == {"join-0-left": 70_000}
    assert ended.advanced_ms == {"join-0-left": 60_000}
    assert ended.ticked_ms == 40_000


def test_a_topic_with_records_after_the_batch_is_behind() -> None:
    read = {**_source({"a": {"0": 12}}), "latestOffset": {"a": {"0": 12}}}
    unread = {**_source({"b": {"0": 12, "1": 3}}), "latestOffset": {"b": {"0": 12, "1": 4}}}

    ended = batch_ended(_report(sources=[read, unread]), ())

    assert ended is not None
    assert ended.behind == {"b"}


def test_records_that_an_open_batch_has_processed_count_as_read() -> None:
    processed = {**_source({"a": {"0": 12}}), "metrics": {"processedRecords": "90"}}

    ended = batch_ended(_report(sources=[processed], numInputRows=0), ())

    assert ended is not None
    assert ended.records_in == 90


class TestOpenBatch:
    def report(self, records_in: int, records_out: int) -> dict[str, Any]:
        return {
            "name": "counts",
            "openBatch": 4,
            "recordsIn": records_in,
            "recordsOut": records_out,
            "positions": {"a": {"0": records_in}},
        }

    def test_an_event_has_the_records_since_the_last_report(self) -> None:
        once, first = OpenBatch().after(self.report(10, 4), 1_000)
        _, second = once.after(self.report(15, 9), 2_000)

        assert (first.records_in, first.records_out, first.duration_ms) == (10, 4, 0)
        assert (second.records_in, second.records_out, second.duration_ms) == (5, 5, 1_000)
        assert second.positions == {Partition("a", 0): 15}

    def test_the_event_of_the_batch_has_the_other_records(self) -> None:
        once, _ = OpenBatch().after(self.report(10, 4), 1_000)
        ended = batch_ended(_report(numInputRows=12), ())
        assert ended is not None

        assert (once.without(ended).records_in, once.without(ended).records_out) == (2, 2)
        assert OpenBatch().without(ended) == ended
