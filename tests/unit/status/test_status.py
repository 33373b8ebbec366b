"""The changes of the Status by each event."""

import itertools
from threading import Thread

import pytest
from hypothesis import given
from hypothesis.strategies import dictionaries, integers

from lsql_runner.errors import LsqlError, report
from lsql_runner.events.batches import FailureCount
from lsql_runner.events.processor import (
    BatchEnded,
    BrokerFound,
    BrokerLost,
    Event,
    JvmGone,
    LagMeasured,
    LateRecordsDropped,
    MemoryMeasured,
    Partition,
    ProgramPlanned,
    QueryDied,
    QueryUse,
    RecordsProcessed,
    StateChanged,
    StoreReport,
    TopicUse,
)
from lsql_runner.events.state import State
from lsql_runner.status.current import CurrentStatus, status_after
from lsql_runner.status.model import Status
from lsql_runner.status.rates import WINDOW_MS

P0, P1 = Partition("cars", 0), Partition("cars", 1)
QUERY_FAILED = report(LsqlError("QUERY_FAILED", reason="boom"))
UNREACHABLE = report(LsqlError("BROKER_UNREACHABLE", servers="kafka:9092", reason="refused"))


def fold(*events: Event, status: Status | None = None) -> Status:
    status = status or Status()
    for event in events:
        status = status_after(event, status)
    return status


def batch(at_ms: int, query: str = "a", **changes: object) -> BatchEnded:
    values: dict[str, object] = {
        "at_ms": at_ms,
        "query": query,
        "batch_id": 0,
        "records_in": 100,
        "records_out": 10,
        "duration_ms": 500,
        "phases_ms": {},
        "positions": {},
    }
    return BatchEnded(**{**values, **changes})  # type: ignore[arg-type]  # the values above, one by one


def changed_to(new: State, old: State = State.STARTING, at_ms: int = 0) -> StateChanged:
    return StateChanged(at_ms, old, new)


class TestState:
    def test_a_transition_sets_state_time_and_reason(self) -> None:
        status = fold(StateChanged(7, State.STARTING, State.FAILED, QUERY_FAILED))

        assert (status.state, status.since_ms, status.reason) == (State.FAILED, 7, QUERY_FAILED)

    def test_the_next_transition_clears_the_reason(self) -> None:
        status = fold(
            StateChanged(7, State.STARTING, State.FAILED, QUERY_FAILED), changed_to(State.STARTING, State.FAILED)
        )

        assert status.reason is None

    def test_only_a_start_from_restarting_is_a_restart(self) -> None:
        status = fold(
            changed_to(State.RUNNING),
            changed_to(State.RESTARTING, State.RUNNING),
            changed_to(State.STARTING, State.RESTARTING),
            changed_to(State.WAITING),
            changed_to(State.STARTING, State.WAITING),
        )

        assert status.restarts == 1

    def test_the_time_of_the_restart_is_known_only_while_it_restarts(self) -> None:
        restarting = fold(QueryDied(1_000, QUERY_FAILED, retry_in_s=2.5), changed_to(State.RESTARTING, State.RUNNING))

        assert restarting.restart_at_ms == 3_500
        assert fold(changed_to(State.STARTING, State.RESTARTING), status=restarting).restart_at_ms is None

    def test_a_final_error_has_no_time_of_a_restart(self) -> None:
        status = fold(QueryDied(1_000, QUERY_FAILED, retry_in_s=None))

        assert (status.restart_at_ms, status.last_error, status.last_error_at_ms) == (None, QUERY_FAILED, 1_000)

    def test_the_last_error_is_kept_after_a_restart(self) -> None:
        status = fold(
            QueryDied(1_000, QUERY_FAILED, 1.0), changed_to(State.STARTING, State.RESTARTING), changed_to(State.RUNNING)
        )

        assert status.last_error == QUERY_FAILED


class TestModes:
    planned = ProgramPlanned(
        at_ms=0,
        topics=(),
        stores=(),
        generation=1,
        stateful=True,
        queries=(QueryUse("a", "real_time"), QueryUse("b", "continuous")),
    )

    def processed(self, records_in: int, at_ms: int = 7) -> RecordsProcessed:
        return RecordsProcessed(
            at_ms=at_ms, query="a", records_in=records_in, records_out=2, duration_ms=1_000, positions={P0: 30}
        )

    def modes(self, *events: Event) -> list[str]:
        return [query.mode for query in fold(self.planned, *events).queries]

    def test_a_query_in_real_time_changes_to_batches_and_back(self) -> None:
        assert self.modes() == ["real_time", "continuous"]
        assert self.modes(batch(1, "a"), batch(2, "b")) == ["batches", "continuous"]
        assert self.modes(batch(1, "a"), self.processed(3)) == ["real_time", "continuous"]
        assert self.modes(batch(1, "a", in_real_time=True)) == ["real_time", "continuous"]

    def test_records_count_before_their_batch_ends(self) -> None:
        status = fold(self.planned, self.processed(3), self.processed(4))

        assert (status.records_in, status.records_out, status.batches) == (7, 4, 0)
        assert status.positions["a"] == {P0: 30}

    def test_only_records_are_progress(self) -> None:
        status = fold(self.planned, self.processed(3, at_ms=7), self.processed(0, at_ms=9))

        assert status.progress_at_ms == 7


class TestOffsets:
    def test_committed_is_the_least_position_of_all_queries(self) -> None:
        status = fold(
            batch(1, "a", positions={P0: 10, P1: 30}),
            batch(2, "b", positions={P0: 20, P1: 25}),
        )

        assert status.committed == {P0: 10, P1: 25}

    def test_lag_counts_only_partitions_with_known_position_and_end(self) -> None:
        status = fold(batch(1, positions={P0: 10}), LagMeasured(2, {P0: 14, P1: 99}))

        assert (status.lags, status.lag) == ({P0: 4}, 4)

    def test_an_end_measured_before_the_batch_ended_gives_no_negative_lag(self) -> None:
        status = fold(LagMeasured(1, {P0: 5}), batch(2, positions={P0: 10}))

        assert status.lag == 0

    def test_an_end_is_never_less_than_the_position_of_a_query(self) -> None:
        behind, ahead = Partition("t", 0), Partition("t", 1)
        measured = LagMeasured(1, {behind: 100, ahead: 100})

        measured_before = fold(measured, batch(2, positions={behind: 90, ahead: 130}))
        measured_after = fold(batch(1, positions={behind: 90, ahead: 130}), measured)

        for status in (measured_before, measured_after):
            assert status.ends == {behind: 100, ahead: 130}
            assert status.lags == {behind: 10, ahead: 0}

    @given(
        dictionaries(integers(0, 3), integers(0, 100)),
        dictionaries(integers(0, 3), integers(0, 100)),
        dictionaries(integers(0, 3), integers(0, 100)),
    )
    def test_lag_is_never_negative_and_the_sum_of_the_lags(
        self, a: dict[int, int], b: dict[int, int], ends: dict[int, int]
    ) -> None:
        def at(offsets: dict[int, int]) -> dict[Partition, int]:
            return {Partition("cars", number): offset for number, offset in offsets.items()}

        status = fold(batch(1, "a", positions=at(a)), batch(2, "b", positions=at(b)), LagMeasured(3, at(ends)))

        assert all(lag >= 0 for lag in status.lags.values())
        assert status.lag == sum(status.lags.values())
        assert status.committed.keys() == at(a).keys() | at(b).keys()


class TestRates:
    def test_the_rate_of_the_first_batch_is_over_its_duration(self) -> None:
        assert fold(batch(5_000, duration_ms=2_000)).records_in_per_s == 50

    def test_the_rate_of_one_short_batch_is_over_a_second(self) -> None:
        assert fold(batch(1_000, duration_ms=20)).records_in_per_s == 100

    def test_a_steady_flow_has_its_rate_after_every_batch(self) -> None:
        """1,000 records a second, in batches of different lengths."""
        ends = [0, 2_000, 2_200, 2_400, 3_400, 3_500, 4_000, 9_000, 14_000, 14_200, 14_300, 16_000]
        status = fold(batch(1_000, duration_ms=1_000, records_in=1_000))
        for before, end in itertools.pairwise(ends):
            records = end - before
            status = fold(batch(1_000 + end, duration_ms=50, records_in=records, records_out=0), status=status)

            assert status.records_in_per_s == pytest.approx(1_000)

    def test_batches_without_records_are_part_of_the_time(self) -> None:
        status = fold(*(batch(at, records_in=500 * (at % 1_000 == 0)) for at in range(500, 20_001, 500)))

        assert status.records_in_per_s == pytest.approx(500)

    def test_the_rate_is_that_of_the_last_ten_seconds(self) -> None:
        backlog = batch(60_000, duration_ms=60_000, records_in=6_000_000)
        status = fold(backlog, *(batch(60_000 + n * 1_000, records_in=7) for n in range(1, 10)))

        assert status.records_in_per_s == pytest.approx((9 * 7 + 100_000) / 10)
        assert fold(batch(70_000, records_in=7), status=status).records_in_per_s == pytest.approx(7)

    def test_the_rate_is_the_sum_over_the_queries(self) -> None:
        status = fold(batch(1_000, "a"), batch(1_000, "b"), batch(3_000, "a"), batch(3_000, "b"))

        assert status.records_in_per_s == pytest.approx(2 * 200 / 2.5)
        assert status.records_out_per_s == pytest.approx(2 * 20 / 2.5)

    def test_the_rate_of_a_recent_batch_is_kept_without_lag(self) -> None:
        status = fold(batch(1_000, positions={P0: 10}), LagMeasured(2_000, {P0: 10}))

        assert status.records_in_per_s == 100

    def test_the_rate_is_zero_after_ten_seconds_without_lag(self) -> None:
        status = fold(batch(1_000, positions={P0: 10}), LagMeasured(1_000 + WINDOW_MS, {P0: 10}))

        assert (status.records_in_per_s, status.records_out_per_s) == (0, 0)

    def test_the_rate_of_a_long_batch_is_kept_while_it_runs(self) -> None:
        status = fold(batch(1_000, positions={P0: 10}), LagMeasured(60_000, {P0: 11}))

        assert status.records_in_per_s == 100

    @pytest.mark.parametrize("measured", [[], [LagMeasured(100_000, {P0: 10})]])
    def test_an_idle_time_does_not_lower_the_rate_of_the_next_batch(self, measured: list[Event]) -> None:
        status = fold(batch(1_000, positions={P0: 10}), *measured, batch(200_000))

        assert status.records_in_per_s == 100

    def test_the_rate_of_a_stopped_processor_is_zero(self) -> None:
        status = fold(batch(1_000), changed_to(State.STOPPING, State.RUNNING))

        assert status.records_in_per_s == 0


class TestTotals:
    def test_records_batches_and_late_records_add_up(self) -> None:
        status = fold(batch(1), batch(2, "b"), LateRecordsDropped(3, "a", 4), LateRecordsDropped(3, "b", 5))

        assert (status.records_in, status.records_out, status.batches) == (200, 20, 2)
        assert status.late_records_dropped == 9

    def test_stores_and_watermarks_are_kept_by_query(self) -> None:
        store = StoreReport(name="s", rows=1, memory_bytes=2, rows_updated=3, late_rows_dropped=0)
        status = fold(batch(1, "a", stores=(store,), watermark_ms=5), batch(2, "b", watermark_ms=None))

        assert status.stores == {"a": {"s": store}, "b": {}}
        assert status.watermarks_ms == {"a": 5}


class TestErrors:
    def test_the_error_of_the_broker_is_cleared_when_it_is_found_again(self) -> None:
        assert fold(BrokerLost(1, UNREACHABLE)).broker_error == UNREACHABLE
        assert fold(BrokerLost(1, UNREACHABLE), BrokerFound(2)).broker_error is None

    def test_failed_records_add_up_by_action_topic_and_code(self) -> None:
        malformed = FailureCount("dead_letter", "cars", "RECORD_MALFORMED", 2)
        refused = FailureCount("skipped", "cars", "RECORD_REFUSED", 3)

        status = fold(batch(1, failed_records=(malformed, refused)), batch(2, failed_records=(malformed,)))

        assert status.failed_records == {
            ("dead_letter", "cars", "RECORD_MALFORMED"): 4,
            ("skipped", "cars", "RECORD_REFUSED"): 3,
        }
        assert (status.dead_letters, status.skipped_records) == (4, 3)

    def test_the_error_of_an_ended_jvm_is_kept(self) -> None:
        gone = report(LsqlError("JVM_GONE", reason="killed"))
        status = fold(JvmGone(1, gone), BrokerFound(2), changed_to(State.STARTING))

        assert (status.jvm_error, status.last_error) == (gone, gone)

    def test_the_same_warning_is_kept_once(self) -> None:
        topics = (
            TopicUse(
                topic="t",
                role="source",
                key_format="STRING",
                value_format="JSON",
                key_type="string",
                value_type="string",
                schema_origin="declared",
            ),
        )
        planned = ProgramPlanned(at_ms=1, topics=topics, stores=(), generation=2, stateful=True, warnings=("x", "y"))
        status = fold(planned, planned)

        assert status.warnings == ("x", "y")
        assert (status.topics, status.generation, status.stateful) == (topics, 2, True)


class TestProgress:
    def test_the_end_of_a_batch_is_progress(self) -> None:
        status = fold(LagMeasured(1, {P0: 30}), batch(2, positions={P0: 10}))

        assert (status.progress_at_ms, status.lag_at_progress) == (2, 20)

    def test_no_lag_is_progress(self) -> None:
        status = fold(batch(2, positions={P0: 10}), LagMeasured(9, {P0: 10}))

        assert (status.progress_at_ms, status.lag_at_progress) == (9, 0)

    def test_a_growing_lag_is_not_progress(self) -> None:
        status = fold(batch(2, positions={P0: 10}), LagMeasured(9, {P0: 11}))

        assert (status.progress_at_ms, status.lag_at_progress) == (2, 0)

    def test_the_time_without_progress_begins_when_the_query_runs(self) -> None:
        status = fold(
            batch(2, positions={P0: 10}),
            LagMeasured(3, {P0: 500}),
            changed_to(State.STOPPING, State.RUNNING, 4),
            changed_to(State.RUNNING, State.STARTING, at_ms=100_000),
        )

        assert (status.progress_at_ms, status.lag_at_progress) == (100_000, 490)


def test_the_last_measurement_of_the_memory_is_kept() -> None:
    status = fold(MemoryMeasured(1), MemoryMeasured(2, python_bytes=7), changed_to(State.FAILED))

    assert status.memory == MemoryMeasured(2, python_bytes=7)


def test_the_current_status_is_thread_safe() -> None:
    current = CurrentStatus(Status())

    def emit() -> None:
        for _ in range(500):
            current.update(LateRecordsDropped(1, "a", 1))

    threads = [Thread(target=emit) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert current.status.late_records_dropped == 2_000


def test_an_unknown_event_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="no such event"):
        status_after("hello", Status())  # type: ignore[arg-type]  # on purpose
