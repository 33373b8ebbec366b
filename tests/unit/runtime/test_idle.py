"""The event time of idle topics. The clock is a number."""

from lsql_runner.events.batches import BatchEnded, RecordsProcessed, StoreReport
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


def has_read_all(query: str) -> bool:
    assert query == "stateful-0"
    return True


def is_not_asked(query: str) -> bool:
    raise AssertionError(query)


def has_records_left(query: str) -> bool:
    return False


def clocks(newest_ms: dict[str, int] | None = None, now_ms: int = 0, plan: Plan = PLAN) -> IdleClocks:
    return IdleClocks(plan, newest_ms or {}, now_ms)


def batch(rows: int = 1, behind: str = "", advanced_ms: int | None = None, **newest_ms: int) -> BatchEnded:
    """A batch with a record for each input, named by the arguments. `aggregate_0` stands for `aggregate-0`.

    Each advances its input to its own time, but not past `advanced_ms`.
    """
    times = {name.replace("_", "-"): time_ms for name, time_ms in newest_ms.items()}
    names = ("aggregate-0", "join-0")
    stores = tuple(
        StoreReport(name=name, rows=rows, memory_bytes=0, rows_updated=0, late_rows_dropped=0) for name in names
    )
    return BatchEnded(
        at_ms=0,
        query="stateful-0",
        batch_id=0,
        records_in=len(newest_ms),
        records_out=0,
        duration_ms=10,
        phases_ms={},
        positions={},
        stores=stores,
        watermark_ms=None,
        input_times_ms=times,
        advanced_ms=times if advanced_ms is None else {name: min(time, advanced_ms) for name, time in times.items()},
        behind=frozenset({behind} if behind else ()),
    )


def test_time_does_not_advance_before_the_first_record() -> None:
    assert clocks().take_due(1_000_000, has_read_all) == ()


def test_time_advances_from_the_newest_record_with_the_clock() -> None:
    idle = clocks()
    idle.batch_ended(batch(aggregate_0=7_000), now_ms=50_000)

    assert idle.take_due(50_000 + PACE_MS - 1, has_read_all) == ()
    assert idle.take_due(50_000 + PACE_MS, has_read_all) == (Step("aggregate-0", 7_000 + PACE_MS),)
    assert idle.take_due(150_000, has_read_all) == (Step("aggregate-0", 107_000),)


def test_the_next_step_starts_at_the_last_one() -> None:
    idle = clocks()
    idle.batch_ended(batch(aggregate_0=7_000), now_ms=50_000)
    [step] = idle.take_due(54_000, has_read_all)
    idle.batch_ended(batch(aggregate_0=step.time_ms), now_ms=54_100)

    assert idle.take_due(54_200, has_read_all) == ()
    assert idle.take_due(64_100, has_read_all) == (Step("aggregate-0", step.time_ms + 10_000),)


def test_time_does_not_advance_while_there_are_records_to_read() -> None:
    idle = clocks()
    idle.batch_ended(batch(aggregate_0=7_000), now_ms=50_000)
    # The process was suspended for 20 s, in which 20 s of records have been written.
    assert idle.take_due(70_000, has_records_left) == ()

    idle.batch_ended(batch(aggregate_0=27_000), now_ms=70_500)
    assert idle.take_due(70_500 + PACE_MS - 1, has_read_all) == ()
    assert idle.take_due(70_500 + PACE_MS, has_read_all) == (Step("aggregate-0", 27_000 + PACE_MS),)


def test_topics_are_idle_since_the_last_time_that_they_had_records_to_read() -> None:
    idle = clocks()
    idle.batch_ended(batch(aggregate_0=7_000), now_ms=50_000)
    assert idle.take_due(70_000, has_records_left) == ()

    assert idle.take_due(75_000, has_read_all) == (Step("aggregate-0", 12_000),)


def test_the_ends_of_topics_are_read_only_when_a_step_would_be_due() -> None:
    idle = clocks()
    idle.batch_ended(batch(aggregate_0=7_000), now_ms=50_000)

    for now_ms in (50_000, 51_000, 52_999):
        assert idle.take_due(now_ms, is_not_asked) == ()


def test_a_topic_that_is_read_to_its_end_has_the_time_of_its_newest_record() -> None:
    idle = clocks()
    idle.batch_ended(batch(behind="payments", advanced_ms=7_000, aggregate_0=90_000), now_ms=50_000)
    assert idle.take_due(50_000, has_read_all) == ()

    idle.batch_ended(batch(advanced_ms=20_000, aggregate_0=20_000), now_ms=51_000)
    assert idle.take_due(51_000, has_read_all) == (Step("aggregate-0", 90_000),)


def test_older_records_do_not_move_time_back() -> None:
    idle = clocks()
    idle.batch_ended(batch(aggregate_0=9_000), now_ms=50_000)
    idle.batch_ended(batch(aggregate_0=4_000), now_ms=51_000)

    assert idle.take_due(61_000, has_read_all) == (Step("aggregate-0", 19_000),)


def test_time_does_not_advance_without_an_open_window() -> None:
    idle = clocks()
    idle.batch_ended(batch(rows=0, aggregate_0=9_000), now_ms=50_000)

    assert idle.take_due(500_000, has_read_all) == ()


def test_a_start_continues_at_the_time_of_the_checkpoint() -> None:
    idle = clocks({"stateful-0": 9_000}, now_ms=100_000)

    assert idle.take_due(104_000, has_read_all) == (Step("aggregate-0", 13_000),)


def test_the_side_of_a_join_without_records_takes_the_time_of_the_other() -> None:
    idle = clocks(plan=JOIN)
    idle.batch_ended(batch(join_0_left=70_000), now_ms=50_000)

    assert idle.take_due(50_001, has_read_all) == (Step("join-0", 70_001),)
    assert idle.take_due(50_002, has_read_all) == ()


def test_a_side_with_unread_records_keeps_its_time() -> None:
    idle = clocks(plan=JOIN)
    idle.batch_ended(batch(behind="counters", join_0_left=70_000, join_0_right=10_000), now_ms=50_000)
    assert idle.take_due(90_000, has_read_all) == ()

    idle.batch_ended(batch(behind="counters", join_0_right=40_000), now_ms=90_000)
    assert idle.take_due(90_001, has_read_all) == ()

    idle.batch_ended(batch(join_0_right=50_000), now_ms=91_000)
    assert idle.take_due(91_000, has_read_all) == (Step("join-0", 70_000),)


def test_a_side_without_records_does_not_pass_the_unread_records_of_the_other() -> None:
    idle = clocks(plan=JOIN)
    idle.batch_ended(batch(behind="counters", join_0_left=10_000, join_0_right=40_000), now_ms=50_000)

    assert idle.take_due(90_000, has_read_all) == (Step("join-0", 40_000),)


def test_an_inner_join_does_not_advance_with_the_clock() -> None:
    idle = clocks(plan=plan_text(LEFT_JOIN.replace("LEFT ", ""), CATALOG).plan)
    idle.batch_ended(batch(join_0_left=70_000), now_ms=50_000)

    assert idle.take_due(80_000, has_read_all) == (Step("join-0", 70_000),)
    assert idle.take_due(180_000, has_read_all) == ()


def test_the_inputs_of_a_chain_of_joins_share_a_clock() -> None:
    idle = clocks(plan=plan_text(f"{LEFT_JOIN} JOIN vehicles AS v ON v._key = p._key WITHIN 40s", CATALOG).plan)
    topics = [topics for each in idle.clocks for topics in each.topics.values()]
    assert sorted(topics) == [("counters",), ("payments",), ("vehicles",)]

    idle.batch_ended(batch(join_0_right=70_000), now_ms=50_000)

    assert [step.time_ms for step in idle.take_due(50_000, has_read_all)] == [70_000]


def test_records_of_an_open_batch_keep_topics_from_being_idle() -> None:
    idle = clocks()
    idle.batch_ended(batch(aggregate_0=7_000), now_ms=50_000)
    idle.processed(processed(records=3), now_ms=60_000)

    assert idle.take_due(60_000 + PACE_MS - 1, has_read_all) == ()
    idle.processed(processed(records=0), now_ms=63_000)
    assert idle.take_due(60_000 + PACE_MS, has_read_all) == (Step("aggregate-0", 7_000 + PACE_MS),)


def processed(records: int) -> RecordsProcessed:
    return RecordsProcessed(
        at_ms=0, query="stateful-0", records_in=records, records_out=0, duration_ms=1_000, positions={}
    )
