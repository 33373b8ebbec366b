"""Which checkpoints a plan may go on with: pure, from the text of a program."""

from __future__ import annotations

import pytest

from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Catalog, Serde, TopicSchema
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.fingerprint import Fingerprint, changes, fingerprint
from lsql_runner.types import LONG, STRING, Field, Struct
from tests.golden.catalog import CATALOG as GOLDEN

KIND = Struct((Field("g", STRING), Field("a", LONG)))
CATALOG = Catalog({"t": TopicSchema("t", Serde(STRING_FORMAT, STRING), Serde(JSON_FORMAT, KIND))})
INSERT = "INSERT INTO o SELECT STREAM SUM(a) AS s FROM t GROUP BY g HAVING SUM(a) > 1"
QUEUE = "SET dead.letter.queue='dead';"
FAIL, CONTINUE, DLQ = "", "SET error.policy.write='continue';", f"SET error.policy.write='dlq'; {QUEUE}"


def of(policies: str, insert: str = INSERT) -> Fingerprint:
    return fingerprint(plan_text(f"SET autocreate=true; {policies} {insert}", CATALOG).plan)


@pytest.mark.parametrize(("old", "new"), [(FAIL, CONTINUE), (FAIL, DLQ), (CONTINUE, DLQ), (DLQ, CONTINUE), (DLQ, FAIL)])
def test_another_policy_of_writing_does_not_go_on_from_the_groups(old: str, new: str) -> None:
    assert changes(of(old), of(new)) == ("the aggregate of stateful-0 is another one",)


@pytest.mark.parametrize("read", ["SET error.policy.read='continue';", f"SET error.policy.read='dlq'; {QUEUE}"])
@pytest.mark.parametrize("write", ["", "SET error.policy.write='continue';"])
def test_another_policy_of_reading_goes_on_from_the_groups(read: str, write: str) -> None:
    assert changes(of(write), of(f"{read} {write}")) == ()


def test_a_program_without_state_may_change_its_policy() -> None:
    insert = "INSERT INTO o SELECT STREAM a FROM t"

    assert changes(of(FAIL, insert), of(DLQ, insert)) == ()


def test_groups_of_a_table_that_spark_itself_kept_do_not_fit() -> None:
    """Its rows of a state would be read as buffers that they are not."""
    kept_by_spark = [
        "aggregate a table in store aggregate-0",
        "by    currency = currency",
        "agg_0 = COUNT(*) long",
        "read payments",
    ]
    was = {"stateful-0": {"sources": ["payments"], "stores": {"aggregate-0": "\n".join(kept_by_spark)}}}
    now = fingerprint(plan_text("INSERT INTO out SELECT TABLE COUNT(*) FROM payments GROUP BY currency", GOLDEN).plan)

    assert changes(Fingerprint.from_json(was), now) == ("the aggregate of stateful-0 is another one",)
    assert [
        line for line in now.as_json()["stateful-0"]["stores"]["aggregate-0"].split("\n") if line not in kept_by_spark
    ] == ["groups with rows, each in one value"]


def test_groups_of_a_stream_go_on_with_the_state_of_earlier_releases() -> None:
    kept = "aggregate in store aggregate-0\nby    currency = currency\nagg_0 = COUNT(*) long\nread payments"
    was = {"stateful-0": {"sources": ["payments"], "stores": {"aggregate-0": kept}}}
    now = fingerprint(plan_text("INSERT INTO out SELECT STREAM COUNT(*) FROM payments GROUP BY currency", GOLDEN).plan)

    assert changes(Fingerprint.from_json(was), now) == ()
