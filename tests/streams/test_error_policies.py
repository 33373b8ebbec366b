"""Error policies that case files cannot test: schemas that refuse values, size limits, and counts."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from ci.tools.ports import free_port
from lsql_runner.compile.attempts import attempt, is_first, limit_size, rules, size_limits
from lsql_runner.compile.codecs.avro import decode_avro, register_registry
from lsql_runner.compile.schema import HEADERS
from lsql_runner.engine.in_memory.engine import MemoryEngine, MemoryRun
from lsql_runner.engine.rows import TopicRecord
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Catalog, Serde, TopicSchema
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.queries import Plan, WriteTopic
from lsql_runner.types import INT, STRING, Field, Struct

NO_NULL = json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]})


def plan(policies: str, select: str = "SELECT STREAM a FROM t") -> Plan:
    """An INSERT in AVRO with a schema that accepts no null. Schemas of programs always do."""
    kind = Struct((Field("a", INT), Field("g", STRING)))
    topic = TopicSchema("t", Serde(STRING_FORMAT, STRING), Serde(JSON_FORMAT, kind))
    text = f"SET autocreate=true; {policies} INSERT INTO o STORE VALUE AS AVRO {select}"
    [query, *others] = plan_text(text, Catalog({"t": topic})).plan.queries
    [write] = query.writes
    assert isinstance(write, WriteTopic)
    strict = replace(write, value_schema=NO_NULL, value_id=1)
    return Plan((replace(query, writes=(strict,)), *others))


def run(engine: MemoryEngine, program: Plan, *values: str) -> MemoryRun:
    return engine.run(
        program,
        [
            [
                TopicRecord(topic="t", key=b"k", value=v.encode(), timestamp_ms=7, partition=0, offset=n)
                for n, v in enumerate(values)
            ]
        ],
    )


QUEUE = "SET dead.letter.queue='dead';"


@pytest.mark.parametrize(
    ("policies", "written"),
    [
        (f"SET error.policy='dlq'; {QUEUE}", ["o", "dead", "o"]),
        (f"SET error.policy.write='dlq'; {QUEUE}", ["o", "dead", "o"]),
        ("SET error.policy.write='continue';", ["o", "o"]),
        (f"SET error.policy='dlq'; SET error.policy.write='continue'; {QUEUE}", ["o", "o"]),
    ],
)
def test_a_record_that_does_not_fit_its_schema_follows_the_write_policy(
    engine: MemoryEngine, policies: str, written: list[str]
) -> None:
    output = run(engine, plan(policies), '{"a":1}', '{"a":null}', '{"a":2}')

    assert output.error is None
    assert [record.topic for record in output.records] == written
    dead_letters = [record for record in output.records if record.topic == "dead"]
    assert all((r.key, r.value, r.timestamp_ms) == (b"k", b'{"a":null}', 7) for r in dead_letters)
    assert all(dict(r.headers)["lsql.error.code"] == b"RECORD_REFUSED" for r in dead_letters)


def test_a_read_policy_does_not_apply_to_write_errors(engine: MemoryEngine) -> None:
    output = run(engine, plan("SET error.policy.read='continue';"), "no JSON", '{"a":null}')

    assert output.error is not None
    assert (output.error.code, output.error.params["offset"]) == ("RECORD_REFUSED", 1)


def test_a_group_that_does_not_fit_is_a_dead_letter_with_its_key_and_its_row(engine: MemoryEngine) -> None:
    program = plan(f"SET error.policy='dlq'; {QUEUE}", "SELECT STREAM CAST(SUM(a) AS int) AS a FROM t GROUP BY g")

    output = run(engine, program, '{"g":"x","a":1}', '{"g":"y"}')

    assert output.error is None
    records = {(r.topic, r.key): r for r in output.records}
    assert records.keys() == {("o", b"x"), ("dead", b"y")}
    dead_letter = records["dead", b"y"]
    assert dead_letter.value == b'{"a":null}'
    assert dict(dead_letter.headers).keys() == {
        "lsql.error.topic",
        "lsql.error.code",
        "lsql.error.message",
        "lsql.error.processor",
        "lsql.error.time",
    }


def test_an_unreachable_registry_is_not_an_error_of_a_record(session: SparkSession) -> None:
    register_registry("unreachable", {"urls": f"http://127.0.0.1:{free_port()}", "timeout_ms": "500"})
    value = decode_avro(F.lit(bytes([0, 0, 0, 0, 1, 2])), NO_NULL, "unreachable")
    rows = session.range(1).select(attempt(value, None, rules(read=True, write=True)))

    with pytest.raises(Exception, match="LSQL_REGISTRY_UNREACHABLE"):
        rows.collect()


def test_an_error_that_is_not_in_the_rules_is_thrown(session: SparkSession) -> None:
    cast = F.concat(F.lit("x"), F.col("id").cast("string")).cast("int")
    rows = session.range(1).select(attempt(cast, None, rules(read=False, write=True)))

    with pytest.raises(Exception, match="CAST_INVALID_INPUT"):
        rows.collect()


def test_after_an_error_later_attempts_are_not_computed(session: SparkSession) -> None:
    error_rules = rules(read=True, write=True)
    first = session.range(1).select(attempt(F.raise_error(F.lit("one")), None, error_rules).alias("a"))
    second = attempt(F.raise_error(F.lit("two")), F.col("a.error"), error_rules)

    [[outcome]] = first.select(second.alias("b")).collect()

    assert outcome.value is None
    assert outcome.error.message == "USER_RAISED_EXCEPTION: one"


def test_an_attempt_that_is_used_several_times_is_computed_once_for_each_row(session: SparkSession) -> None:
    error_rules = rules(read=True, write=True)
    attempted = session.range(50).select("id", attempt(F.expr("uuid()"), None, error_rules).alias("a"))

    rows = (
        attempted.where(F.col("a.value").isNotNull()).select("id", "a.value", F.col("a.value").alias("same")).collect()
    )

    assert len({row["value"] for row in rows}) == 50
    assert all(row["value"] == row["same"] for row in rows)


def test_only_the_first_of_adjacent_equal_rows_is_first(session: SparkSession) -> None:
    rows = session.createDataFrame([("a",), ("a",), ("b",), ("a",)], "x string").coalesce(1)

    flags = rows.select(is_first(F.encode("x", "UTF-8")).alias("first")).collect()

    assert [row["first"] for row in flags] == [True, False, True, True]


RANDOM_BYTES = random.Random(1).randbytes(512)
"""Larger than `batch_bytes` of LIMITS, also after compression."""

LIMITS = size_limits(batch_bytes=400, request_bytes=3_000, header_bytes=50, compression="lz4")


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        (b"x" * 200, True),
        (b"x" * 2_000, True),  # the limit of the topic applies after compression
        (RANDOM_BYTES, False),
        (b"x" * 3_000, False),  # the limit of the producer applies before compression
        (None, True),
    ],
)
def test_a_record_is_too_large_for_the_limit_of_the_topic_or_of_the_producer(
    session: SparkSession, value: bytes | None, fits: bool
) -> None:
    rows = session.createDataFrame([(b"k", value)], "key binary, value binary")
    record = F.struct("key", "value", F.lit(None).cast(HEADERS).alias("headers"))

    [[outcome]] = rows.select(attempt(limit_size(record, LIMITS), None, rules(read=False, write=True))).collect()

    if fits:
        assert outcome.value.value == value
    else:
        assert (outcome.error.phase, outcome.error.code) == ("write", "RECORD_TOO_LARGE")


@pytest.mark.parametrize(
    ("key", "header", "kept", "omitted"),
    [
        (b"k", b"h", (b"k", ["h", "lsql.error.code"]), b"value"),
        (RANDOM_BYTES, b"h", (None, ["lsql.error.code"]), b"key,value,headers"),
        (b"k", RANDOM_BYTES, (None, ["lsql.error.code"]), b"key,value,headers"),
    ],
)
def test_a_dead_letter_that_is_too_large_is_written_without_its_large_parts(
    session: SparkSession, key: bytes, header: bytes, kept: tuple[bytes | None, list[str]], omitted: bytes
) -> None:
    headers = [("h", header), ("lsql.error.code", b"RECORD_REFUSED")]
    rows = session.createDataFrame(
        [(key, RANDOM_BYTES, headers)],
        "key binary, value binary, headers array<struct<key: string, value: binary>>",
    )

    [[shortened]] = rows.select(limit_size(F.struct("key", "value", "headers"), LIMITS, shorten=True)).collect()

    *before, last = shortened.headers
    assert (shortened.key, [h.key for h in before]) == kept
    assert shortened.value is None
    assert (last.key, bytes(last.value)) == ("lsql.error.omitted", omitted)
