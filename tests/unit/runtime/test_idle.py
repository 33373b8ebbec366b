"""The event time of idle topics. The wall clock is a number."""

from lsql_runner.events.batches import BatchEnded, StoreReport
from lsql_runner.pipeline import plan_text
from lsql_runner.runtime.idle import IdleClocks, Step
from tests.golden.catalog import CATALOG

PLAN = plan_text(
    "SET emit=final; INSERT INTO out SELECT STREAM COUNT(*) AS n FROM payments WINDOW BY TUMBLE 1m GROUP BY currency",
    CATALOG,
).plan
PACE_MS = 3_000
"""A twentieth of the window."""


def clocks(newest_ms: dict[str, int] | None = None, now_ms: int = 0) -> IdleClocks:
    return IdleClocks(PLAN, newest_ms or {}, now_ms)


def batch(at_ms: int, newest_ms: int | None, rows: int = 1) -> BatchEnded:
    store = StoreReport(name="aggregate-0", rows=rows, memory_bytes=0, rows_updated=0, late_rows_dropped=0)
    return BatchEnded(
        at_ms=at_ms,
        query="stateful-0",
        batch_id=0,
        records_in=1,
        records_out=0,
        duration_ms=10,
        phases_ms={},
        positions={},
        stores=(store,),
        watermark_ms=None,
        event_time_max_ms=newest_ms,
    )


def test_time_does_not_advance_before_the_first_record() -> None:
    assert clocks().due(1_000_000) == ()


def test_time_advances_from_the_newest_record_with_the_wall_clock() -> None:
    idle = clocks()
    idle.batch_ended(batch(at_ms=50_000, newest_ms=7_000))

    assert idle.due(50_000 + PACE_MS - 1) == ()
    assert idle.due(50_000 + PACE_MS) == (Step("aggregate-0", 7_000 + PACE_MS),)
    assert idle.due(150_000) == (Step("aggregate-0", 107_000),)


def test_the_next_step_starts_at_the_last_one() -> None:
    idle = clocks()
    idle.batch_ended(batch(at_ms=50_000, newest_ms=7_000))
    [step] = idle.due(54_000)
    idle.batch_ended(batch(at_ms=54_100, newest_ms=step.time_ms))

    assert idle.due(54_200) == ()
    assert idle.due(64_100) == (Step("aggregate-0", step.time_ms + 10_000),)


def test_older_records_do_not_move_time_back() -> None:
    idle = clocks()
    idle.batch_ended(batch(at_ms=50_000, newest_ms=9_000))
    idle.batch_ended(batch(at_ms=51_000, newest_ms=4_000))

    assert idle.due(61_000) == (Step("aggregate-0", 19_000),)


def test_time_does_not_advance_without_an_open_window() -> None:
    idle = clocks()
    idle.batch_ended(batch(at_ms=50_000, newest_ms=9_000, rows=0))

    assert idle.due(500_000) == ()


def test_a_start_continues_at_the_time_of_the_checkpoint() -> None:
    idle = clocks({"stateful-0": 9_000}, now_ms=100_000)

    assert idle.due(104_000) == (Step("aggregate-0", 13_000),)
