"""The event time of idle topics. The wall clock is a number."""

from lsql_runner.events.batches import BatchEnded, StoreReport
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.queries import Plan
from lsql_runner.runtime.idle import IdleClocks, Step
from tests.golden.catalog import CATALOG

PLAN = plan_text(
    "SET emit=final; INSERT INTO out SELECT STREAM COUNT(*) AS n FROM payments WINDOW BY TUMBLE 1m GROUP BY currency",
    CATALOG,
).plan
PACE_MS = 3_000
"""A twentieth of the window."""


LEFT_JOIN = (
    "INSERT INTO out SELECT STREAM p.amount FROM payments AS p LEFT JOIN counters AS c ON p._key = c._key WITHIN 1m"
)
JOIN = plan_text(LEFT_JOIN, CATALOG).plan


def clocks(newest_ms: dict[str, int] | None = None, now_ms: int = 0, plan: Plan = PLAN) -> IdleClocks:
    return IdleClocks(plan, newest_ms or {}, now_ms)


def batch(at_ms: int, rows: int = 1, behind: str = "", **newest_ms: int) -> BatchEnded:
    """A batch with a record for each input, named by the arguments. `aggregate_0` stands for `aggregate-0`."""
    names = ("aggregate-0", "join-0")
    stores = tuple(
        StoreReport(name=name, rows=rows, memory_bytes=0, rows_updated=0, late_rows_dropped=0) for name in names
    )
    return BatchEnded(
        at_ms=at_ms,
        query="stateful-0",
        batch_id=0,
        records_in=len(newest_ms),
        records_out=0,
        duration_ms=10,
        phases_ms={},
        positions={},
        stores=stores,
        watermark_ms=None,
        input_times_ms={name.replace("_", "-"): time_ms for name, time_ms in newest_ms.items()},
        behind=frozenset({behind} if behind else ()),
    )


def test_time_does_not_advance_before_the_first_record() -> None:
    assert clocks().take_due(1_000_000) == ()


def test_time_advances_from_the_newest_record_with_the_wall_clock() -> None:
    idle = clocks()
    idle.batch_ended(batch(at_ms=50_000, aggregate_0=7_000))

    assert idle.take_due(50_000 + PACE_MS - 1) == ()
    assert idle.take_due(50_000 + PACE_MS) == (Step("aggregate-0", 7_000 + PACE_MS),)
    assert idle.take_due(150_000) == (Step("aggregate-0", 107_000),)


def test_the_next_step_starts_at_the_last_one() -> None:
    idle = clocks()
    idle.batch_ended(batch(at_ms=50_000, aggregate_0=7_000))
    [step] = idle.take_due(54_000)
    idle.batch_ended(batch(at_ms=54_100, aggregate_0=step.time_ms))

    assert idle.take_due(54_200) == ()
    assert idle.take_due(64_100) == (Step("aggregate-0", step.time_ms + 10_000),)


def test_older_records_do_not_move_time_back() -> None:
    idle = clocks()
    idle.batch_ended(batch(at_ms=50_000, aggregate_0=9_000))
    idle.batch_ended(batch(at_ms=51_000, aggregate_0=4_000))

    assert idle.take_due(61_000) == (Step("aggregate-0", 19_000),)


def test_time_does_not_advance_without_an_open_window() -> None:
    idle = clocks()
    idle.batch_ended(batch(at_ms=50_000, rows=0, aggregate_0=9_000))

    assert idle.take_due(500_000) == ()


def test_a_start_continues_at_the_time_of_the_checkpoint() -> None:
    idle = clocks({"stateful-0": 9_000}, now_ms=100_000)

    assert idle.take_due(104_000) == (Step("aggregate-0", 13_000),)


def test_the_side_of_a_join_without_records_takes_the_time_of_the_other() -> None:
    idle = clocks(plan=JOIN)
    idle.batch_ended(batch(at_ms=50_000, join_0_left=70_000))

    assert idle.take_due(50_001) == (Step("join-0", 70_001),)
    assert idle.take_due(50_002) == ()


def test_a_side_with_unread_records_keeps_its_time() -> None:
    idle = clocks(plan=JOIN)
    idle.batch_ended(batch(at_ms=50_000, behind="counters", join_0_left=70_000, join_0_right=10_000))
    assert idle.take_due(90_000) == ()

    idle.batch_ended(batch(at_ms=90_000, behind="counters", join_0_right=40_000))
    assert idle.take_due(90_001) == ()

    idle.batch_ended(batch(at_ms=91_000, join_0_right=50_000))
    assert idle.take_due(91_000) == (Step("join-0", 70_000),)


def test_a_side_without_records_does_not_pass_the_unread_records_of_the_other() -> None:
    idle = clocks(plan=JOIN)
    idle.batch_ended(batch(at_ms=50_000, behind="counters", join_0_left=10_000, join_0_right=40_000))

    assert idle.take_due(90_000) == (Step("join-0", 40_000),)


def test_an_inner_join_does_not_advance_with_the_wall_clock() -> None:
    idle = clocks(plan=plan_text(LEFT_JOIN.replace("LEFT ", ""), CATALOG).plan)
    idle.batch_ended(batch(at_ms=50_000, join_0_left=70_000))

    assert idle.take_due(80_000) == (Step("join-0", 70_000),)
    assert idle.take_due(180_000) == ()


def test_the_inputs_of_a_chain_of_joins_share_a_clock() -> None:
    idle = clocks(plan=plan_text(f"{LEFT_JOIN} JOIN vehicles AS v ON v._key = p._key WITHIN 40s", CATALOG).plan)
    topics = [topics for each in idle.clocks for topics in each.topics.values()]
    assert sorted(topics) == [("counters",), ("payments",), ("vehicles",)]

    idle.batch_ended(batch(at_ms=50_000, join_0_right=70_000))

    assert [step.time_ms for step in idle.take_due(50_000)] == [70_000]
