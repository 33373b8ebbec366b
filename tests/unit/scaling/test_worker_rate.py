"""The rate of a worker that is learned from batches."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from lsql_runner.scaling.worker_rate import HALF_LIFE_S, KNOWN_S, WARM_UP_S, MeasuredBatch, WorkerRate

RATE = 10_000.0
OVERHEAD_S = 0.3


@dataclass
class Processor:
    """A processor whose batches cost an overhead, and time for each record; one query."""

    rate: float = RATE
    workers: int = 1
    now_s: float = 1_000.0
    position: int = 0
    known: WorkerRate = field(default_factory=WorkerRate)
    noise: random.Random = field(default_factory=lambda: random.Random(1))

    def __post_init__(self) -> None:
        self.known = self.known.started(self.position)

    def batch(self, records: int, *, left: bool = False) -> None:
        work_s = records / (self.rate * self.workers) * self.noise.uniform(0.95, 1.05)
        self.ends(records, OVERHEAD_S + work_s, left=left)

    def ends(self, records: int, seconds: float, *, left: bool = False) -> None:
        start_s = self.now_s
        self.now_s += seconds
        self.position += records
        self.known = self.known.after(
            MeasuredBatch(
                start_s=start_s,
                end_s=self.now_s,
                records=records,
                position=self.position,
                workers=self.workers,
                left=left,
            )
        )

    def trickle(self, seconds: float) -> None:
        """Batches of the records that arrived during the one before, so that they have the rate of arriving records."""
        end_s = self.now_s + seconds
        while self.now_s < end_s:
            self.batch(40)

    def backlog(self, records: int, largest: int = 1_000_000, arriving: float = 0.0) -> None:
        """Batches until there is no backlog, beside arriving records."""
        lag = float(records)
        while lag >= 1:
            read = min(int(lag), largest)
            before_s = self.now_s
            self.batch(read, left=read < int(lag))
            lag += arriving * (self.now_s - before_s) - read
            if lag < arriving:
                return


def warm(**values: float) -> Processor:
    """A processor with a trickle for longer than the warm-up."""
    processor = Processor(**values)  # type: ignore[arg-type]
    processor.trickle(WARM_UP_S + 1)
    return processor


@pytest.mark.parametrize("workers", [1, 4])
def test_the_rate_is_that_of_one_worker_with_trickle_between_backlogs(workers: int) -> None:
    processor = warm(workers=workers)
    for _ in range(5):
        processor.backlog(600_000 * workers, arriving=0.3 * RATE * workers)
        processor.trickle(120)

    assert processor.known.per_second == pytest.approx(RATE, rel=0.1)


def test_batches_of_the_largest_size_count_however_short_they_are() -> None:
    processor = warm()
    processor.backlog(500_000, largest=10_000)

    # The overhead of batches of this size is part of what a worker can do.
    assert processor.known.per_second == pytest.approx(10_000 / (1 + OVERHEAD_S), rel=0.1)


def test_a_trickle_teaches_nothing() -> None:
    processor = warm()
    processor.trickle(3_600)

    assert processor.known.per_second is None


def test_a_trickle_never_lowers_the_rate() -> None:
    processor = warm()
    processor.backlog(600_000)
    before = processor.known.per_second
    processor.trickle(24 * 3_600)
    for _ in range(100):  # pauses of a broker or of a garbage collection
        processor.ends(40, 15)

    assert processor.known.per_second == before


def test_a_rate_that_halves_is_followed_within_minutes() -> None:
    processor = warm()
    processor.backlog(6_000_000)
    processor.rate = RATE / 2
    changed_s = processor.now_s
    while (processor.known.per_second or 0) > RATE / 2 * 1.1:
        processor.backlog(100_000)

    assert processor.now_s - changed_s < 5 * HALF_LIFE_S


def test_a_rate_that_doubles_is_followed_within_minutes() -> None:
    processor = warm()
    processor.backlog(6_000_000)
    processor.rate = RATE * 2
    changed_s = processor.now_s
    while (processor.known.per_second or 0) < RATE * 2 * 0.9:
        processor.backlog(100_000)

    assert processor.now_s - changed_s < 5 * HALF_LIFE_S


def test_a_pause_of_a_minute_is_not_taken_for_work() -> None:
    processor = warm()
    processor.ends(6, 60)

    assert processor.known.per_second is None


def test_more_records_than_the_workers_were_known_for_raise_the_rate_without_a_backlog() -> None:
    processor = Processor()
    processor.ends(6, 60)  # a pause in the first batch, which nothing tells from work
    assert processor.known.per_second == pytest.approx(0.1)

    processor.trickle(60)
    assert (processor.known.per_second or 0) > 40 / (OVERHEAD_S + 40 / RATE) / 2


def test_batches_do_not_count_while_the_jvm_warms_up() -> None:
    processor = Processor(rate=RATE / 5)
    while processor.now_s < 1_000 + WARM_UP_S - 5:
        processor.batch(4_000, left=True)
    processor.rate = RATE
    processor.trickle(10)
    processor.backlog(600_000)

    assert processor.known.per_second == pytest.approx(RATE, rel=0.1)


def test_a_long_first_batch_counts() -> None:
    processor = Processor()
    processor.batch(1_000_000, left=True)

    assert processor.known.per_second == pytest.approx(RATE, rel=0.1)


def test_the_rate_is_not_known_before_some_seconds_of_work() -> None:
    processor = warm()
    processor.ends(50_000, KNOWN_S / 2, left=True)
    assert processor.known.per_second is None

    processor.ends(50_000, KNOWN_S / 2, left=True)
    assert processor.known.per_second == pytest.approx(RATE)


def test_a_batch_that_began_before_workers_joined_does_not_count() -> None:
    processor = warm()
    processor.known = processor.known.workers_changed(processor.now_s + 1)
    processor.ends(1_000_000, 100, left=True)
    assert processor.known.per_second is None

    processor.ends(1_000_000, 100, left=True)
    assert processor.known.per_second == pytest.approx(RATE)


def test_positions_that_were_set_do_not_count_as_records() -> None:
    processor = warm()
    processor.ends(300_000, 30, left=True)
    processor.position += 1_000_000_000
    processor.ends(300_000, 30, left=True)
    processor.known = processor.known.started(5)
    processor.position = 5
    processor.ends(300_000, 30, left=True)

    assert processor.known.per_second == pytest.approx(RATE)


def test_queries_that_overlap_count_together() -> None:
    """Two queries with topics of their own: each reads half of the rate while both are busy."""
    known = WorkerRate().started(0)
    for number in range(20):
        start_s = 50.0 * number
        known = known.after(
            MeasuredBatch(
                start_s=start_s,
                end_s=start_s + 100,
                records=500_000,
                position=500_000 * (number + 1),
                workers=1,
                left=True,
            )
        )

    assert known.per_second == pytest.approx(RATE, rel=0.1)


def test_a_record_that_two_queries_read_counts_once() -> None:
    """The position is that of the query that is behind."""
    known = WorkerRate().started(0)
    position = 0
    for number in range(20):
        for advanced, end_s in ((0, 99.0), (1_000_000, 100.0)):
            position += advanced
            known = known.after(
                MeasuredBatch(
                    start_s=100.0 * number,
                    end_s=100.0 * number + end_s,
                    records=1_000_000,
                    position=position,
                    workers=1,
                    left=True,
                )
            )

    assert known.per_second == pytest.approx(RATE, rel=0.1)
