"""When the wanted number of workers is computed, from which measurements, and when it is not known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from devkit.fake_runtime import FakeProcess, FakeRuntime
from lsql_runner.errors import LsqlError
from lsql_runner.events.processor import BatchEnded, LagMeasured, ScalingDecided, WarningRaised, WorkersChanged
from lsql_runner.events.workers import JoinedWorker
from lsql_runner.runtime import scaling_reporter
from lsql_runner.scaling.worker_rate import MeasuredBatch, WorkerRate
from lsql_runner.status.lifecycle import Cause

ENABLED = {
    "LSQL_WORKERS_SECRET": "0123456789abcdef",
    "LSQL_WORKERS_HOST": "processor",
    "LSQL_AUTOSCALING_ENABLED": "true",
}
PARTITIONS = 6
FIRST_S, INTERVAL_S = 30, 15
RATE = 10.0
ONE, OTHER = JoinedWorker("10.0.0.1:4000", 1), JoinedWorker("10.0.0.2:4000", 1)


@dataclass(frozen=True)
class KnownRate:
    """In place of WorkerRate, whose rate depends on the batches."""

    per_second: float | None = RATE

    def started(self, _: int) -> KnownRate:
        return self

    def workers_changed(self, _: float) -> KnownRate:
        return self

    def after(self, _: MeasuredBatch) -> KnownRate:
        return self


@pytest.fixture(autouse=True)
def known_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling_reporter, "WorkerRate", KnownRate)


@pytest.fixture
def runtime(tmp_path: Path) -> FakeRuntime:
    runtime = FakeRuntime(tmp_path, "INSERT INTO o SELECT STREAM * FROM t")
    runtime.brokers.add_topic("t", PARTITIONS)
    runtime.brokers.add_topic("o")
    runtime.brokers.produce("t", (None, b'{"a": 1}'))
    runtime.engine.known_workers = (ONE,)
    return runtime


@contextmanager
def scaling(runtime: FakeRuntime, **env: str) -> Iterator[FakeProcess]:
    """A processor that runs and has no lag."""
    with runtime.process(**ENABLED, **env) as running:
        running.run()
        running.turn()
        yield running


def decisions(running: FakeProcess) -> list[ScalingDecided]:
    return [event for event in running.events_of(ScalingDecided) if event.wanted is not None]


def load(running: FakeProcess, seconds: int, arriving: int, *, processed: bool) -> None:
    """Let records arrive for some seconds; either all are processed at once, or none."""
    for _ in range(seconds):
        running.runtime.brokers.produce("t", *[(None, b'{"a": 1}')] * arriving)
        if processed:
            running.runtime.engine.run_batches(running.runtime.now_ms)
        running.advance_s(1)


def test_a_processor_without_the_setting_decides_nothing(runtime: FakeRuntime) -> None:
    with runtime.process() as running:
        running.run()
        load(running, 60, 1, processed=True)

        assert running.events_of(ScalingDecided) == []
        assert running.status.scaling is None


def test_before_the_first_number_the_lag_is_measured_for_30_s(runtime: FakeRuntime) -> None:
    with scaling(runtime) as running:
        load(running, FIRST_S - 2, 20, processed=True)
        assert decisions(running) == []
        assert running.status.scaling is not None
        assert running.status.scaling.wanted is None

        load(running, 8, 20, processed=True)
        (event,) = decisions(running)
        assert event.wanted == 2


def test_it_decides_every_15_s(runtime: FakeRuntime) -> None:
    with scaling(runtime) as running:
        load(running, 120, 20, processed=True)

        times = [event.at_ms // 1000 for event in decisions(running)]
        assert len(times) >= 6
        assert {later - time for time, later in pairwise(times)} == {INTERVAL_S}


def test_the_number_follows_arriving_records_when_there_is_no_lag(runtime: FakeRuntime) -> None:
    with scaling(runtime) as running:
        load(running, 60, 20, processed=True)

        event = decisions(running)[-1]
        assert (event.wanted, event.lag_records, event.catch_up_s) == (2, 0, 0.0)
        assert event.arriving_per_s == pytest.approx(20)
        assert (event.current, event.minimum, event.maximum, event.dry_run) == (1, 1, PARTITIONS, False)


def test_the_number_grows_with_the_lag(runtime: FakeRuntime) -> None:
    with scaling(runtime) as running:
        load(running, 36, 20, processed=False)

        event = decisions(running)[-1]
        assert event.lag_records == 500  # as last measured
        assert event.wanted == 3  # 20/s arrive, and 500 more in 60 s are 8/s
        assert event.catch_up_s is None  # one worker processes 10/s


def test_the_time_to_catch_up_is_that_of_the_workers_that_are_there(runtime: FakeRuntime) -> None:
    runtime.engine.known_workers = (ONE, OTHER)
    with scaling(runtime) as running:
        load(running, 36, 10, processed=False)

        event = decisions(running)[-1]
        assert event.catch_up_s == pytest.approx((event.lag_records or 0) / (2 * 10 - 10))


def test_the_maximum_is_what_the_partitions_occupy(runtime: FakeRuntime) -> None:
    runtime.engine.known_workers = (JoinedWorker("10.0.0.1:4000", 2),)
    with scaling(runtime) as running:
        load(running, 36, 200, processed=True)

        event = decisions(running)[-1]
        assert (event.wanted, event.maximum) == (PARTITIONS // 2, PARTITIONS // 2)


def test_the_maximum_of_the_settings_holds(runtime: FakeRuntime) -> None:
    with scaling(runtime, LSQL_AUTOSCALING_MAX="2") as running:
        load(running, 36, 200, processed=True)

        assert decisions(running)[-1].wanted == 2


def test_a_minimum_above_what_the_partitions_occupy_is_kept_with_a_warning(runtime: FakeRuntime) -> None:
    with scaling(runtime, LSQL_AUTOSCALING_MIN="7") as running:
        load(running, 60, 1, processed=True)

        assert {event.wanted for event in decisions(running)} == {7}
        assert decisions(running)[-1].maximum == 7
        texts = [event.text for event in running.events_of(WarningRaised) if "LSQL_AUTOSCALING_MIN" in event.text]
        assert len(texts) == 1
        assert f"{PARTITIONS} partitions" in texts[0]


def test_it_sends_no_requests_of_its_own(runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0
    ends = runtime.brokers.ends

    def counted(partitions: object) -> object:
        nonlocal asked
        asked += 1
        return ends(partitions)  # type: ignore[arg-type]

    monkeypatch.setattr(runtime.brokers, "ends", counted)
    counts = []
    for env in ({}, ENABLED):
        asked = 0
        with runtime.process(**env) as running:
            running.turn()
            for _ in range(60):
                running.advance_s(1)
        counts.append(asked)

    assert counts[0] == counts[1] > 0


class TestUnknown:
    """The number is not known: nobody may scale on an old one."""

    def known(self, running: FakeProcess) -> None:
        load(running, 36, 20, processed=True)
        assert running.status.scaling is not None
        assert running.status.scaling.wanted == 2

    def is_unknown(self, running: FakeProcess, reason: str) -> None:
        decision = running.status.scaling
        assert decision is not None
        assert (decision.wanted, decision.lag_records, decision.arriving_per_s, decision.catch_up_s) == (None,) * 4
        assert reason in decision.reason
        assert running.events_of(ScalingDecided)[-1].wanted is None

    def test_before_the_processor_runs(self, runtime: FakeRuntime) -> None:
        runtime.brokers.lost()
        with runtime.process(**ENABLED) as running:
            running.turn()

            self.is_unknown(running, "waiting")

    def test_when_the_brokers_do_not_respond_and_again_30_s_after_they_do(self, runtime: FakeRuntime) -> None:
        with scaling(runtime) as running:
            self.known(running)
            runtime.brokers.lost()
            running.advance_s(6)
            running.turn()
            self.is_unknown(running, "brokers")

            runtime.brokers.outage = None
            load(running, FIRST_S - 2, 20, processed=True)
            self.is_unknown(running, "30 s")
            load(running, 16, 20, processed=True)
            assert running.status.scaling is not None
            assert running.status.scaling.wanted == 2

    def test_at_once_when_a_person_stops_the_processor_and_until_it_is_started(self, runtime: FakeRuntime) -> None:
        with scaling(runtime) as running:
            self.known(running)
            running.turn(Cause.STOP)
            assert running.state.value == "stopped"
            self.is_unknown(running, "stopped")
            load(running, 60, 20, processed=False)
            self.is_unknown(running, "stopped")

            running.turn(Cause.START)
            running.turn()
            assert running.state.value == "running"
            self.is_unknown(running, "30 s")

    def test_when_a_query_has_failed(self, runtime: FakeRuntime) -> None:
        with scaling(runtime) as running:
            self.known(running)
            runtime.engine.error = LsqlError("QUERY_FAILED", reason="a reason")
            running.turn()
            running.turn()

            self.is_unknown(running, "restarting")

    def test_when_the_lag_is_not_measured_any_more(self, runtime: FakeRuntime) -> None:
        with scaling(runtime) as running:
            self.known(running)
            runtime.reporting = None  # a request to the brokers does not return
            load(running, 30, 0, processed=False)

            self.is_unknown(running, "too long")

    def test_when_the_clock_is_set_back(self, runtime: FakeRuntime) -> None:
        with scaling(runtime) as running:
            self.known(running)
            runtime.now_ms -= 3_600_000
            running.turn()

            self.is_unknown(running, "too long")

    def test_it_is_said_once(self, runtime: FakeRuntime) -> None:
        with scaling(runtime) as running:
            self.known(running)
            before = len(running.events_of(ScalingDecided))
            running.turn(Cause.STOP)
            load(running, 30, 0, processed=False)

            assert len(running.events_of(ScalingDecided)) == before + 1


def test_after_a_pause_the_number_does_not_shrink_before_the_window_has_passed(runtime: FakeRuntime) -> None:
    with scaling(runtime) as running:
        load(running, 60, 50, processed=True)
        assert decisions(running)[-1].wanted == 5
        running.turn(Cause.STOP)
        load(running, 600, 0, processed=False)
        running.turn(Cause.START)
        running.turn()

        load(running, 60, 0, processed=True)
        assert decisions(running)[-1].wanted == 5
        load(running, 300, 0, processed=True)
        assert decisions(running)[-1].wanted == 1


def test_when_the_clock_is_set_back_the_lag_is_measured_again(runtime: FakeRuntime) -> None:
    with scaling(runtime) as running:
        load(running, 60, 20, processed=True)
        runtime.now_ms -= 3_600_000
        running.loop.machine.emit(LagMeasured(runtime.now_ms, runtime.brokers.ends(running.status.committed)))
        running.turn()
        assert running.status.scaling is not None
        assert running.status.scaling.wanted is None

        # The reporter of positions waits for its next time, which is an hour away; so the test measures.
        for _ in range(10):
            runtime.brokers.produce("t", *[(None, b'{"a": 1}')] * 250)
            runtime.engine.run_batches(runtime.now_ms)
            running.loop.machine.emit(LagMeasured(runtime.now_ms, runtime.brokers.ends(running.status.committed)))
            running.advance_s(5)
        last = decisions(running)[-1]
        assert last.arriving_per_s == pytest.approx(50)
        assert last.wanted is not None
        assert last.wanted >= 5


def test_workers_that_are_starting_are_not_wanted_twice(runtime: FakeRuntime) -> None:
    """The first number grows at once; while its workers start, fewer records do not shrink it before the window."""
    with scaling(runtime) as running:
        load(running, 36, 50, processed=True)
        assert decisions(running)[-1].wanted == 5
        load(running, 60, 20, processed=True)

        assert running.status.present_workers == 1
        assert decisions(running)[-1].wanted == 5


def test_a_dry_run_decides_the_same(runtime: FakeRuntime) -> None:
    with scaling(runtime, LSQL_AUTOSCALING_DRY_RUN="true") as running:
        load(running, 60, 20, processed=True)

        assert decisions(running)[-1].dry_run
        assert [event.wanted for event in decisions(running)][-1] == 2


def test_the_reason_names_what_is_needed_and_what_limits_it(runtime: FakeRuntime) -> None:
    with scaling(runtime, LSQL_AUTOSCALING_MAX="2") as running:
        load(running, 36, 50, processed=True)

        reason = decisions(running)[-1].reason
        assert "need 5.0 workers" in reason
        assert "1 to 2" in reason


class TestRateOfAWorker:
    """The rate is learned from batches; until then the number stays."""

    @pytest.fixture(autouse=True)
    def learned(self, monkeypatch: pytest.MonkeyPatch, known_rate: None) -> None:
        monkeypatch.setattr(scaling_reporter, "WorkerRate", WorkerRate)

    def batch(self, running: FakeProcess, records: int, seconds: int) -> None:
        """A batch of so many records that has begun so many seconds ago, and has left records."""
        [(query, positions)] = running.status.positions.items()
        first, *others = positions
        ends = {first: positions[first] + records, **{place: positions[place] for place in others}}
        running.runtime.brokers.produce("t", *[(None, b'{"a": 1}')] * records)
        running.loop.machine.emit(
            BatchEnded(
                at_ms=running.runtime.now_ms,
                query=query,
                batch_id=1,
                records_in=records,
                records_out=records,
                duration_ms=seconds * 1000,
                phases_ms={},
                positions=ends,
                behind=frozenset({"t"}),
            )
        )

    def last(self, running: FakeProcess) -> ScalingDecided:
        load(running, INTERVAL_S, 0, processed=False)
        return decisions(running)[-1]

    def test_while_it_is_not_known_the_number_is_that_of_the_workers(self, runtime: FakeRuntime) -> None:
        runtime.engine.known_workers = (ONE, OTHER)
        with scaling(runtime) as running:
            load(running, 60, 20, processed=False)

            event = decisions(running)[-1]
            assert (event.wanted, event.worker_rate_per_s, event.catch_up_s) == (2, None, None)
            assert "the rate of a worker is not known" in event.reason

    def test_while_it_is_not_known_a_worker_that_is_missing_for_a_moment_is_still_wanted(
        self, runtime: FakeRuntime
    ) -> None:
        runtime.engine.known_workers = (ONE, OTHER)
        with scaling(runtime) as running:
            load(running, 60, 1, processed=True)
            running.loop.machine.emit(WorkersChanged(runtime.now_ms, (ONE,)))

            assert self.last(running).wanted == 2

    def test_it_is_learned_from_batches_with_enough_work(self, runtime: FakeRuntime) -> None:
        with scaling(runtime) as running:
            load(running, 60, 0, processed=False)
            self.batch(running, 600, 40)

            event = self.last(running)
            assert event.worker_rate_per_s == pytest.approx(15)
            assert running.status.scaling is not None
            assert running.status.scaling.worker_rate_per_s == event.worker_rate_per_s

    def test_it_is_that_of_the_workers_that_have_partitions(self, runtime: FakeRuntime) -> None:
        runtime.engine.known_workers = tuple(JoinedWorker(f"10.0.0.{n}:4000", 3) for n in range(4))
        with scaling(runtime) as running:
            load(running, 60, 0, processed=False)
            self.batch(running, 800, 40)

            assert PARTITIONS == 6  # two workers with three cores
            assert self.last(running).worker_rate_per_s == pytest.approx(10)

    def test_a_batch_during_which_workers_have_joined_does_not_count(self, runtime: FakeRuntime) -> None:
        with scaling(runtime) as running:
            load(running, 60, 0, processed=False)
            running.loop.machine.emit(WorkersChanged(runtime.now_ms, (ONE, OTHER)))
            load(running, 35, 0, processed=False)
            self.batch(running, 600, 40)

            assert self.last(running).worker_rate_per_s is None

    def test_it_stays_known_while_the_number_is_not(self, runtime: FakeRuntime) -> None:
        with scaling(runtime) as running:
            load(running, 60, 0, processed=False)
            self.batch(running, 600, 40)
            self.last(running)
            running.turn(Cause.STOP)

            assert running.status.scaling is not None
            assert running.status.scaling.wanted is None
            assert running.status.scaling.worker_rate_per_s == pytest.approx(15)
