"""Records of some bytes that claim more than a processor can hold, or than it could compute in minutes.

HostileAvroTest and the other tests of the Java module have the limits of each decoder; here a whole program meets them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from lsql_runner.engine.in_memory.engine import MemoryEngine, MemoryRun
from lsql_runner.engine.rows import TopicRecord
from lsql_runner.formats.avro_schema import avro_serde
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Catalog, Format, Serde, TopicSchema
from lsql_runner.formats.proto_schema import proto_serde
from lsql_runner.formats.protobuf import PROTOBUF_FORMAT
from lsql_runner.formats.table import parse_format
from lsql_runner.formats.text_formats import text_serde
from lsql_runner.pipeline import plan_text
from lsql_runner.types import STRING, parse_type

AVRO = json.dumps(
    {
        "type": "record",
        "name": "R",
        "fields": [{"name": "id", "type": "int"}, {"name": "nothing", "type": {"type": "array", "items": "null"}}],
    }
)
WIDE = "; ".join(f"int64 f{n} = {n}" for n in range(1, 201))
PROTO = f'syntax = "proto3"; message M {{ int32 id = 1; repeated W w = 2; }} message W {{ {WIDE}; }}'
WIDE_TYPE = f"array<struct<{', '.join(f'f{n}: long' for n in range(200))}>>"
HEAD = b"\0\0\0\0\7"


@dataclass(frozen=True, slots=True)
class Case:
    """A topic with good records and a hostile one."""

    serde: Serde
    good: bytes
    hostile: bytes
    schema: str = ""
    select: str = "id"


def _named(name: str) -> Format:
    parsed = parse_format(name)
    assert parsed is not None
    return parsed


CASES = {
    "AVRO": Case(
        avro_serde(_named("AVRO"), AVRO),
        HEAD + b"\x02\x00",
        HEAD + b"\x02" + b"\x80\x89\x7a" * 10_000 + b"\0",  # blocks of a million nulls
        AVRO,
        "id, nothing",
    ),
    "JSON-exponent": Case(
        Serde(JSON_FORMAT, parse_type("struct<id: int, d: decimal(9,2)>")),
        b'{"id":1}',
        b'{"id":1,"d":1e9999999}',
        select="id, d",
    ),
    "JSON-depth": Case(
        Serde(JSON_FORMAT, parse_type("struct<id: int>")), b'{"id":1}', b'{"id":1,"x":' + b"[" * 100_000
    ),
    "JSON-fields": Case(
        Serde(JSON_FORMAT, parse_type(f"struct<id: int, w: {WIDE_TYPE}>")),
        b'{"id":1}',
        b'{"id":1,"w":[' + b"{}," * 50_000 + b"{}]}",
        select="id, w",
    ),
    "PROTOBUF": Case(
        proto_serde(PROTOBUF_FORMAT, PROTO), HEAD + b"\0\x08\1", HEAD + b"\0" + b"\x12\0" * 100_000, PROTO, "id, w"
    ),
    "XML": Case(
        text_serde(_named("XML"), parse_type("struct<id: int>"), {}),
        b"<o><id>1</id></o>",
        b"<o><id>1</id>" + b"<x>" * 100_000,
    ),
    "CSV": Case(text_serde(_named("CSV"), parse_type("struct<id: int>"), {}), b"1", b"1" + b"," * 10_000_000),
}


def run(engine: MemoryEngine, case: Case, settings: str) -> MemoryRun:
    """A program that reads the fields of a case."""
    topic = TopicSchema("t", Serde(STRING_FORMAT, STRING), case.serde)
    text = f"SET autocreate=true; {settings} INSERT INTO o STORE VALUE AS JSON SELECT STREAM {case.select} FROM t"
    values = (case.good, case.hostile, case.good)
    records = [
        TopicRecord(topic="t", key=b"k", value=value, timestamp_ms=7, partition=0, offset=n)
        for n, value in enumerate(values)
    ]
    return engine.run(
        plan_text(text, Catalog({"t": topic})).plan, [records], schemas={7: case.schema} if case.schema else None
    )


@pytest.fixture(params=list(CASES.values()), ids=list(CASES))
def case(request: pytest.FixtureRequest) -> Case:
    parameter: Case = request.param
    return parameter


def test_a_hostile_record_stops_the_program_and_is_named_by_its_offset(engine: MemoryEngine, case: Case) -> None:
    output = run(engine, case, "")

    assert output.error is not None
    assert (output.error.code, output.error.params["topic"], output.error.params["partition"]) == (
        "RECORD_MALFORMED",
        "t",
        0,
    )
    assert output.error.params["offset"] == 1


def test_a_hostile_record_is_a_dead_letter(engine: MemoryEngine, case: Case) -> None:
    output = run(engine, case, "SET error.policy='dlq'; SET dead.letter.queue='dead';")

    assert output.error is None
    assert [record.topic for record in output.records] == ["o", "dead", "o"]
    dead_letter = output.records[1]
    assert dead_letter.value == case.hostile
    assert dict(dead_letter.headers)["lsql.error.code"] == b"RECORD_MALFORMED"
