"""Which checkpoints a plan may go on with."""

from __future__ import annotations

from lsql_runner.pipeline import plan_text
from lsql_runner.plan.fingerprint import Fingerprint, changes, fingerprint
from tests.golden.catalog import CATALOG


def test_groups_of_a_table_that_spark_itself_kept_do_not_fit() -> None:
    """Its rows of a state would be read as buffers that they are not."""
    kept_by_spark = [
        "aggregate a table in store aggregate-0",
        "by    currency = currency",
        "agg_0 = COUNT(*) long",
        "read payments",
    ]
    was = {"stateful-0": {"sources": ["payments"], "stores": {"aggregate-0": "\n".join(kept_by_spark)}}}
    now = fingerprint(plan_text("INSERT INTO out SELECT TABLE COUNT(*) FROM payments GROUP BY currency", CATALOG).plan)

    assert changes(Fingerprint.from_json(was), now) == ("the aggregate of stateful-0 is another one",)
    assert [
        line for line in now.as_json()["stateful-0"]["stores"]["aggregate-0"].split("\n") if line not in kept_by_spark
    ] == ["groups with rows, each in one value"]


def test_groups_of_a_stream_go_on_with_the_state_of_earlier_releases() -> None:
    kept = "aggregate in store aggregate-0\nby    currency = currency\nagg_0 = COUNT(*) long\nread payments"
    was = {"stateful-0": {"sources": ["payments"], "stores": {"aggregate-0": kept}}}
    now = fingerprint(plan_text("INSERT INTO out SELECT STREAM COUNT(*) FROM payments GROUP BY currency", CATALOG).plan)

    assert changes(Fingerprint.from_json(was), now) == ()
