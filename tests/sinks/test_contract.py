"""The contract of sinks: equal batches leave equal content, on real servers and in memory."""

from __future__ import annotations

import pytest

from devkit.postgres import Postgres
from devkit.redis import Redis
from devkit.row_targets import MemoryTarget, PostgresTarget, RedisTarget, RowTarget, person
from lsql_runner.engine.memory import MemoryEngine

pytestmark = pytest.mark.timeout(180)

UPSERT = "SET autocreate=true; UPSERT INTO target.people SELECT _key AS id, name, score, tags FROM people PK id BATCH 3"
ADA = {"name": "Ada", "score": 1.5, "tags": ["a", "b"]}
BO = {"name": "Bo", "score": None, "tags": None}


@pytest.fixture(params=["memory", "postgresql", "redis"])
def target(request: pytest.FixtureRequest, engine: MemoryEngine) -> RowTarget:
    if request.param == "memory":
        return MemoryTarget(engine)
    if request.param == "redis":
        redis: Redis = request.getfixturevalue("redis")
        return RedisTarget(engine, redis)
    postgres: Postgres = request.getfixturevalue("postgres")
    return PostgresTarget(engine, postgres)


def test_rows_have_all_their_columns(target: RowTarget) -> None:
    target.write(UPSERT, 0, [person(0, 1, ADA), person(1, 2, BO)])

    assert target.rows("people") == [{"id": 1, **ADA}, {"id": 2, **BO}]


def test_the_last_row_of_a_key_wins_within_a_request_and_across_requests(target: RowTarget) -> None:
    scores = [person(n, n % 2, {**ADA, "score": float(n)}) for n in range(11)]

    target.write(UPSERT, 0, scores)

    assert [(row["id"], row["score"]) for row in target.rows("people")] == [(0, 10.0), (1, 9.0)]


def test_a_later_batch_replaces_whole_rows(target: RowTarget) -> None:
    target.write(UPSERT, 0, [person(0, 1, ADA)])
    target.write(UPSERT, 1, [person(1, 1, BO)])

    assert target.rows("people") == [{"id": 1, **BO}]


def test_a_tombstone_deletes_and_a_later_record_brings_the_row_back(target: RowTarget) -> None:
    target.write(UPSERT, 0, [person(0, 1, ADA), person(1, 2, BO), person(2, 1, None), person(3, 9, None)])
    assert target.rows("people") == [{"id": 2, **BO}]

    target.write(UPSERT, 1, [person(4, 2, None), person(5, 2, ADA)])
    assert target.rows("people") == [{"id": 2, **ADA}]


def test_a_batch_written_twice_changes_nothing(target: RowTarget) -> None:
    batch = [person(0, 1, ADA), person(1, 2, BO), person(2, 1, None)]
    target.write(UPSERT, 0, batch)
    before = target.rows("people")

    target.write(UPSERT, 0, batch)

    assert target.rows("people") == before == [{"id": 2, **BO}]


def test_an_aggregate_writes_the_newest_row_of_each_group(target: RowTarget) -> None:
    sql = (
        "SET autocreate=true; UPSERT INTO target.totals "
        "SELECT STREAM name, COUNT(*) AS n FROM people GROUP BY name PK name"
    )
    target.write(sql, 0, [person(0, 1, ADA), person(1, 2, BO), person(2, 3, ADA)])

    assert target.rows("totals") == [{"name": "Ada", "n": 2}, {"name": "Bo", "n": 1}]


def test_a_row_that_leaves_the_table_is_deleted(target: RowTarget) -> None:
    sql = (
        "SET autocreate=true; UPSERT INTO target.best SELECT TABLE _key AS id, name FROM people "
        "WHERE COALESCE(score, 0.0) > 1 PK id"
    )
    target.write(sql, 0, [person(0, 1, ADA), person(1, 2, {**BO, "score": 3.0}), person(2, 3, ADA)])
    target.write(sql, 1, [person(3, 1, {**ADA, "score": 0.5}), person(4, 3, None)])

    assert target.rows("best") == [{"id": 2, "name": "Bo"}]
