"""The contract of sinks: equal batches leave equal content, on real servers and in memory."""

from __future__ import annotations

import pytest

from devkit.postgres import Postgres
from devkit.redis import Redis
from devkit.sinks import EmptySink, MemorySink, PostgresSink, RedisSink, person
from lsql_runner.engine.in_memory.engine import MemoryEngine

pytestmark = pytest.mark.timeout(180)

UPSERT = "SET autocreate=true; UPSERT INTO db.people SELECT _key AS id, name, score, tags FROM people PK id BATCH 3"
ADA = {"name": "Ada", "score": 1.5, "tags": ["a", "b"]}
BO = {"name": "Bo", "score": None, "tags": None}


@pytest.fixture(params=["memory", "postgresql", "redis"])
def sink(request: pytest.FixtureRequest, engine: MemoryEngine) -> EmptySink:
    if request.param == "memory":
        return MemorySink(engine)
    if request.param == "redis":
        redis: Redis = request.getfixturevalue("redis")
        return RedisSink(engine, redis)
    postgres: Postgres = request.getfixturevalue("postgres")
    return PostgresSink(engine, postgres)


def test_rows_have_all_their_columns(sink: EmptySink) -> None:
    sink.write(UPSERT, 0, [person(0, 1, ADA), person(1, 2, BO)])

    assert sink.rows("people") == [{"id": 1, **ADA}, {"id": 2, **BO}]


def test_the_last_row_of_a_key_wins_within_a_request_and_across_requests(sink: EmptySink) -> None:
    scores = [person(n, n % 2, {**ADA, "score": float(n)}) for n in range(11)]

    sink.write(UPSERT, 0, scores)

    assert [(row["id"], row["score"]) for row in sink.rows("people")] == [(0, 10.0), (1, 9.0)]


def test_a_later_batch_replaces_whole_rows(sink: EmptySink) -> None:
    sink.write(UPSERT, 0, [person(0, 1, ADA)])
    sink.write(UPSERT, 1, [person(1, 1, BO)])

    assert sink.rows("people") == [{"id": 1, **BO}]


def test_a_tombstone_deletes_and_a_later_record_brings_the_row_back(sink: EmptySink) -> None:
    sink.write(UPSERT, 0, [person(0, 1, ADA), person(1, 2, BO), person(2, 1, None), person(3, 9, None)])
    assert sink.rows("people") == [{"id": 2, **BO}]

    sink.write(UPSERT, 1, [person(4, 2, None), person(5, 2, ADA)])
    assert sink.rows("people") == [{"id": 2, **ADA}]


def test_a_batch_written_twice_changes_nothing(sink: EmptySink) -> None:
    batch = [person(0, 1, ADA), person(1, 2, BO), person(2, 1, None)]
    sink.write(UPSERT, 0, batch)
    before = sink.rows("people")

    sink.write(UPSERT, 0, batch)

    assert sink.rows("people") == before == [{"id": 2, **BO}]


def test_an_aggregate_writes_the_newest_row_of_each_group(sink: EmptySink) -> None:
    sql = (
        "SET autocreate=true; UPSERT INTO db.totals SELECT STREAM name, COUNT(*) AS n FROM people GROUP BY name PK name"
    )
    sink.write(sql, 0, [person(0, 1, ADA), person(1, 2, BO), person(2, 3, ADA)])

    assert sink.rows("totals") == [{"name": "Ada", "n": 2}, {"name": "Bo", "n": 1}]


def test_a_row_that_leaves_the_table_is_deleted(sink: EmptySink) -> None:
    sql = (
        "SET autocreate=true; UPSERT INTO db.best SELECT TABLE _key AS id, name FROM people "
        "WHERE COALESCE(score, 0.0) > 1 PK id"
    )
    sink.write(sql, 0, [person(0, 1, ADA), person(1, 2, {**BO, "score": 3.0}), person(2, 3, ADA)])
    sink.write(sql, 1, [person(3, 1, {**ADA, "score": 0.5}), person(4, 3, None)])

    assert sink.rows("best") == [{"id": 2, "name": "Bo"}]
