"""How many tasks a plan has at the same time."""

from lsql_runner.pipeline import plan_text
from lsql_runner.plan.tasks import most_tasks
from tests.golden.catalog import CATALOG

READ = "INSERT INTO a SELECT STREAM * FROM payments"
COUNTS = "INSERT INTO sums SELECT STREAM currency, COUNT(*) AS n FROM payments {} GROUP BY currency"


def tasks(program: str, state_partitions: int) -> int:
    return most_tasks(plan_text(program, CATALOG).plan, state_partitions)


def test_a_batch_has_a_task_for_each_partition_that_it_reads_or_of_its_state() -> None:
    partitions = sum(source.partitions or 1 for source in plan_text(READ, CATALOG).plan.sources)
    counts = COUNTS.format("")

    assert tasks(READ, 100) == partitions
    assert tasks(counts, 100) == 100
    assert tasks(f"{READ}; {counts}", partitions + 3) == 2 * partitions + 3


def test_records_are_read_a_second_time_for_late_ones() -> None:
    late = "SET late.records='dlq'; SET dead.letter.queue=dead; "
    partitions = tasks(READ, 1)

    assert tasks(late + COUNTS.format("WINDOW BY TUMBLE 1m"), 100) == 100 + partitions
    assert tasks(late + COUNTS.format("WINDOW BY SESSION 1m"), 100) == 100
    assert tasks(late + COUNTS.format(""), 100) == 100
