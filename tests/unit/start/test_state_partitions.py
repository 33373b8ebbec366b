"""The number of partitions of new state: by the settings, or by the source topics."""

from __future__ import annotations

import pytest

from lsql_runner.config.settings import read_settings
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Catalog, Serde, TopicSchema
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.fingerprint import fingerprint
from lsql_runner.start.state_partitions import StatePartitions, state_partitions
from lsql_runner.state.saved_state import Pinned
from lsql_runner.types import LONG, STRING, Field, Struct

VALUE = Serde(JSON_FORMAT, Struct((Field("g", STRING), Field("a", LONG))))
FILTER = "SET autocreate=true; INSERT INTO o SELECT STREAM * FROM t"
COUNT = "SET autocreate=true; INSERT INTO p SELECT STREAM COUNT(*) AS n FROM {} GROUP BY g"


def partitions_of(sql: str, topics: dict[str, int | None], had: int = 0, **environment: str) -> StatePartitions:
    """The partitions for a program whose source topics have these partitions, with state of `had` partitions."""
    sources = {
        name: TopicSchema(name, Serde(STRING_FORMAT, STRING), VALUE, partitions=number)
        for name, number in topics.items()
    }
    planned = plan_text(sql, Catalog(sources))
    described = fingerprint(planned.plan)
    pinned = Pinned(sql=sql, fingerprint=described, schemas={}, generation=1, state_partitions=had, versions={})
    return state_partitions(planned, read_settings({"SQL": sql, **environment}), pinned if had else None)


@pytest.mark.parametrize(
    ("topics", "number"),
    [
        ({"t": 1}, 1),
        ({"t": 2}, 2),
        pytest.param({"t": 64}, 2, id="the bound"),
        pytest.param({"t": None}, 2, id="not known without brokers"),
    ],
)
def test_new_state_has_as_many_as_the_largest_source_topic_up_to_the_bound(
    topics: dict[str, int | None], number: int
) -> None:
    for threads in ("1", "8"):
        assert partitions_of(COUNT.format("t"), topics, LSQL_THREADS=threads).number == number


def test_a_topic_that_only_stateless_inserts_read_does_not_count() -> None:
    assert partitions_of(f"{FILTER}; {COUNT.format('u')}", {"t": 64, "u": 1}).number == 1


def test_the_program_is_before_the_setting_and_the_setting_before_the_state() -> None:
    of_program = f"SET state.partitions=3; {COUNT.format('t')}"
    partitions = partitions_of(of_program, {"t": 4}, had=5, LSQL_STATE_PARTITIONS="6")
    assert partitions == StatePartitions(3, "SET state.partitions")

    partitions = partitions_of(COUNT.format("t"), {"t": 4}, had=5, LSQL_STATE_PARTITIONS="6")
    assert partitions == StatePartitions(6, "LSQL_STATE_PARTITIONS")


def test_state_that_exists_keeps_its_partitions() -> None:
    assert partitions_of(COUNT.format("t"), {"t": 4}, had=5) == StatePartitions(5, "as the existing state")
    assert partitions_of(FILTER, {"t": 4}, had=5).number == 1
