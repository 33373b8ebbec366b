"""RANDINT() and UUID() of a record are the same when a batch runs again, and look random."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lsql_runner.compile.dead_letters import OutputContext
from lsql_runner.compile.queries import compile_query
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.engine.rows import TopicRecord
from lsql_runner.formats.catalog import Catalog
from lsql_runner.formats.declared import declared_topics
from lsql_runner.pipeline import plan_text

pytestmark = pytest.mark.timeout(180)  # the first test waits for the JVM

CATALOG = Catalog(
    declared_topics(
        {"t": {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": {"a": "long", "xs": "array<long>"}}}}
    )
)
COUNT = 2000
RECORDS = [
    TopicRecord(
        topic="t",
        key=b"k",
        value=b'{"a": 1, "xs": [1, 1]}',
        timestamp_ms=0,
        partition=number % 2,
        offset=number // 2,
    )
    for number in range(COUNT)
]


def values(engine: MemoryEngine, sql: str, records: Sequence[TopicRecord] = RECORDS, run: str = "r") -> list[Any]:
    """Topic and value of what a program writes for the records, as one batch of a query with a run id."""
    plan = plan_text(f"SET autocreate=true; {sql}", CATALOG).plan
    rows = compile_query(plan.queries[0], engine.reader(records), OutputContext(run=run)).select("topic", "value")
    return [(row.topic, json.loads(bytes(row.value))) for row in rows.collect()]


BOTH = "INSERT INTO o SELECT STREAM RANDINT() AS r, UUID() AS u FROM t"


def test_a_batch_that_runs_again_has_the_same_values(engine: MemoryEngine, session: SparkSession) -> None:
    assert values(engine, BOTH) == values(engine, BOTH)


def test_the_values_do_not_depend_on_the_batch(engine: MemoryEngine) -> None:
    assert values(engine, BOTH, RECORDS[10:20]) == values(engine, BOTH)[10:20]


def test_another_run_has_other_values(engine: MemoryEngine) -> None:
    first, second = values(engine, BOTH, run="first"), values(engine, BOTH, run="second")

    assert not [one for one, other in zip(first, second, strict=True) if one == other]


def test_all_uuids_differ_and_are_of_version_4(engine: MemoryEngine) -> None:
    sql = (
        "INSERT INTO o SELECT STREAM UUID() AS u, UUID() AS v FROM t LATERAL xs AS x;"
        "INSERT INTO p SELECT STREAM UUID() AS u, UUID() AS v FROM t"
    )

    uuids = [uuid.UUID(text) for _, value in values(engine, sql) for text in (value["u"], value["v"])]

    assert len(set(uuids)) == len(uuids) == 3 * 2 * COUNT
    assert {(each.version, each.variant) for each in uuids} == {(4, uuid.RFC_4122)}


def test_each_bit_is_set_in_half_of_the_values(engine: MemoryEngine) -> None:
    rows = [value for _, value in values(engine, BOTH)]
    numbers = [value["r"] & 0xFFFFFFFF for value in rows]
    uuids = [uuid.UUID(value["u"]).int for value in rows]
    fixed = {76, 77, 78, 79, 62, 63}  # version and variant

    for drawn, bits in ((numbers, set(range(32))), (uuids, set(range(128)) - fixed)):
        for bit in bits:
            share = sum(value >> bit & 1 for value in drawn) / COUNT
            assert 0.43 < share < 0.57, bit


def test_a_condition_and_a_projection_have_the_same_value(engine: MemoryEngine) -> None:
    """The WITH query computes one value for a record, however often it is read."""
    sql = (
        "WITH v AS (SELECT STREAM RANDINT() AS r FROM t);"
        "INSERT INTO o SELECT STREAM r, r AS again FROM v WHERE r > 1000000000"
    )

    rows = [value for _, value in values(engine, sql)]

    assert 0 < len(rows) < COUNT
    assert all(value["r"] == value["again"] > 1_000_000_000 for value in rows)


def test_elements_of_an_array_are_drawn_one_by_one(engine: MemoryEngine) -> None:
    rows = values(engine, "INSERT INTO o SELECT STREAM x FROM t LATERAL xs AS x WHERE RANDINT() > 0")

    assert 0.43 < len(rows) / (2 * COUNT) < 0.57
    assert values(engine, "INSERT INTO o SELECT STREAM x FROM t LATERAL xs AS x WHERE RANDINT() > 0") == rows
