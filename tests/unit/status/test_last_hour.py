"""The samples of the last hour: their values, the intervals of a batch, and limited memory."""

import tracemalloc

import pytest

from lsql_runner.events.batches import BatchEnded, Partition
from lsql_runner.events.processor import Event, LagMeasured, MemoryMeasured, VolumeMeasured
from lsql_runner.status.current import CurrentStatus
from lsql_runner.status.last_hour import INTERVAL_MS, SAMPLES, LastHour
from lsql_runner.status.model import Status

STARTED_MS = 1_000 * INTERVAL_MS
SOURCE = Partition("iot_data", 0)


class Processor:
    """Passes events to the status and to the samples, as the supervisor does."""

    def __init__(self) -> None:
        self.current = CurrentStatus(Status())
        self.last_hour = LastHour(STARTED_MS)

    def emit(self, event: Event) -> None:
        self.current.update(event)
        self.last_hour.add(event, self.current.status)


def batch(at_s: float, duration_ms: int = 200, records_in: int = 100, records_out: int = 50) -> BatchEnded:
    """A batch that ends `at_s` seconds after the start of the process."""
    at_ms = STARTED_MS + round(at_s * 1000)
    return BatchEnded(
        at_ms=at_ms,
        query="main",
        batch_id=1,
        records_in=records_in,
        records_out=records_out,
        duration_ms=duration_ms,
        phases_ms={},
        positions={SOURCE: 500},
    )


def test_a_sample_has_the_rates_and_the_mean_duration_of_its_batches() -> None:
    processor = Processor()
    processor.emit(batch(2, duration_ms=200))
    processor.emit(batch(7, duration_ms=400))

    (sample,) = processor.last_hour.samples(STARTED_MS + INTERVAL_MS)

    assert (sample.records_in_per_s, sample.records_out_per_s) == pytest.approx((20, 10))
    assert sample.batch_ms == 300
    assert sample.at_ms == STARTED_MS + INTERVAL_MS


def test_a_running_interval_has_no_sample() -> None:
    processor = Processor()
    processor.emit(batch(2))

    assert processor.last_hour.samples(STARTED_MS + INTERVAL_MS - 1) == ()


def test_an_interval_without_events_has_rates_of_zero_and_no_lag() -> None:
    (sample,) = Processor().last_hour.samples(STARTED_MS + INTERVAL_MS)

    assert (sample.records_in_per_s, sample.lag, sample.batch_ms) == (0, None, None)


def test_the_lag_is_the_last_measurement_of_the_interval() -> None:
    processor = Processor()
    processor.emit(batch(1))
    processor.emit(LagMeasured(STARTED_MS + 2_000, {SOURCE: 700}))
    processor.emit(LagMeasured(STARTED_MS + 4_000, {SOURCE: 510}))

    assert processor.last_hour.samples(STARTED_MS + INTERVAL_MS)[0].lag == 10


def test_a_measurement_of_the_memory_is_none_of_the_lag() -> None:
    processor = Processor()
    processor.emit(batch(1))
    processor.emit(LagMeasured(STARTED_MS + 2_000, {SOURCE: 510}))
    processor.emit(MemoryMeasured(STARTED_MS + INTERVAL_MS))
    processor.emit(VolumeMeasured(STARTED_MS + INTERVAL_MS, size_bytes=2, free_bytes=1))

    assert [sample.lag for sample in processor.last_hour.samples(STARTED_MS + 2 * INTERVAL_MS)] == [10, None]


def test_the_records_of_a_long_batch_are_distributed_over_its_intervals() -> None:
    processor = Processor()
    processor.emit(batch(35, duration_ms=30_000, records_in=3_000))

    samples = processor.last_hour.samples(STARTED_MS + 4 * INTERVAL_MS)

    assert [s.records_in_per_s for s in samples] == pytest.approx([50, 100, 100, 50])
    assert [s.batch_ms for s in samples] == [None, None, None, 30_000]


def test_samples_older_than_an_hour_are_deleted() -> None:
    processor = Processor()
    tracemalloc.start()
    for second in range(0, 4 * 3600, 5):
        processor.emit(batch(second))
    kept_bytes = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()

    samples = processor.last_hour.samples(STARTED_MS + 4 * 3600 * 1000)

    assert len(samples) == SAMPLES
    assert samples[0].at_ms == STARTED_MS + 3 * 3600 * 1000 + INTERVAL_MS
    assert kept_bytes < 200_000


def test_a_pause_longer_than_an_hour_leaves_no_old_samples() -> None:
    processor = Processor()
    processor.emit(batch(1))

    samples = processor.last_hour.samples(STARTED_MS + 2 * 3600 * 1000)

    assert len(samples) == SAMPLES
    assert all(sample.records_in_per_s == 0 for sample in samples)
