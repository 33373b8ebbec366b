"""Every decoder returns a value for any bytes, or reports a malformed record."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from devkit.column_evaluator import evaluator
from devkit.mutations import bytes_near
from devkit.spark_rows import records
from lsql_runner.cases.proto_values import proto_schema
from lsql_runner.compile.codecs.avro import REGISTRY, register_schemas
from lsql_runner.compile.codecs.table import decode
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.formats.proto_schema import proto_serde
from lsql_runner.formats.protobuf import PROTOBUF_FORMAT
from lsql_runner.formats.table import parse_format
from lsql_runner.formats.text_formats import text_serde
from lsql_runner.jvm.failures import classify
from lsql_runner.types import BYTES, INT, LONG, STRING, parse_type

pytestmark = pytest.mark.timeout(600)

SCALARS = "id: int, n: long, d: double, price: decimal(9,2), who: string, ok: boolean, day: date, at: timestamp"
STRUCT = parse_type(f"struct<{SCALARS}, raw: bytes, tags: array<string>, inner: struct<x: long>, m: map<string, long>>")
OBJECT = (
    '{"id":1,"n":2,"d":0.5,"price":2.5,"who":"grün","ok":true,"day":"2026-03-01","at":"2026-03-01T12:00:00Z",'
    '"raw":"yv4=","tags":["a",null],"inner":{"x":1},"m":{"k":7},"more":[{}]}'
).encode()
LINE = '1,2,0.5,2.5,"gr""ün",true,2026-03-01,2026-03-01T12:00:00Z'.encode()
DOCUMENT = (
    '<?xml version="1.0" encoding="UTF-8"?><o><id>1</id><n>2</n><d>0.5</d><price>2.5</price><who>gr&amp;<![CDATA[ün]]>'
    "</who><ok>true</ok><day>2026-03-01</day><at>2026-03-01T12:00:00Z</at><tags>a</tags><tags/><inner><x>1</x></inner></o>"
).encode()
HEAD = b"\0\0\0\0\7"
PROTO = """
    syntax = "proto3";
    import "google/protobuf/timestamp.proto";
    message M {
      sint32 id = 1; fixed64 n = 2; double d = 3; float f = 4; string who = 5; bytes raw = 6; E e = 7;
      repeated int32 ids = 8;
      repeated N ns = 9; map<int32, N> m = 10; google.protobuf.Timestamp at = 11; oneof one { N a = 12; bool b = 13; }
    }
    enum E { X = 0; Y = 1; }
    message N { string x = 1; repeated N2 n2 = 2; message N2 { optional int64 y = 1; } }
"""
MESSAGE = proto_schema(PROTO).encode(
    {"id": -1, "d": 0.5, "f": 0.5, "who": "grün", "raw": "cafe", "e": "Y", "ids": [1, -1], "at": 1500, "a": {"x": "z"}}
    | {"n": 2, "ns": [{"x": "x", "n2": [{"y": 1}]}], "m": {"5": {"x": "y"}}},
    None,
)


def serde(form: str, kind: Any, **rest: Any) -> Serde:
    parsed = parse_format(form)
    assert parsed is not None
    return Serde(parsed, kind, **rest)


@pytest.mark.parametrize(
    ("read_as", "record"),
    [
        (serde("STRING", STRING), "grün".encode()),
        (serde("BYTES", BYTES), b"\xca\xfe"),
        (serde("INT", INT), bytes(4)),
        (serde("LONG", LONG), bytes(8)),
        (serde("JSON", STRUCT), OBJECT),
        (serde("JSON", STRUCT, has_schema_id=True), HEAD + OBJECT),
        (serde("JSON", LONG), b"17"),
        (serde("JSON", parse_type("array<struct<x: double>>")), b'[{"x":1e400},null]'),
        (serde("TW[STRING]", STRING), b"key" + bytes(8)),
        (serde("SW[JSON]", STRUCT, has_schema_id=True), HEAD + OBJECT + bytes(16)),
        (text_serde(Format("CSV"), parse_type(f"struct<{SCALARS}>"), {}), LINE),
        (
            text_serde(
                Format("XML"), parse_type(f"struct<{SCALARS}, tags: array<string>, inner: struct<x: long>>"), {}
            ),
            DOCUMENT,
        ),
        (proto_serde(PROTOBUF_FORMAT, PROTO), HEAD + MESSAGE),
    ],
    ids=[
        "STRING",
        "BYTES",
        "INT",
        "LONG",
        "JSON",
        "JSON-id",
        "JSON-long",
        "JSON-array",
        "TW",
        "SW",
        "CSV",
        "XML",
        "PROTOBUF",
    ],
)
def test_any_bytes_are_a_value_or_malformed(engine: MemoryEngine, read_as: Serde, record: bytes) -> None:
    session = engine.session
    register_schemas(REGISTRY, {7: PROTO})
    evaluate = evaluator(session, lambda raw: decode(raw, read_as, read_as.type))

    @settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
    @given(bytes_near(record))
    @example(record)
    @example(b"")
    @example(b"\xff" * 8)
    @example(b"\x80" + bytes(7))
    @example(b"\x7f" + b"\xff" * 7)
    @example(b"\xff" * 4)
    @example(b"\xfe\xff\x00{")
    @example(b"\x00\x00\xff\xfe{")
    @example(b"\x00\x00\xff\xfe\x00{\x00}")
    @example(b"[" * 5_000)
    @example(b'{"inner":' * 5_000)
    @example(b"<o>" * 5_000)
    @example(HEAD + b"\0" + b"\x0b" * 5_000)
    @example(HEAD + b"\0" + b"\x4a\x02\x12\0" * 2_000)
    @example(b'{"d":' + b"9" * 5_000 + b"}")
    @example(b'{"who":"\\ud800"}')
    def check(data: bytes) -> None:
        try:
            evaluate(data)
        except (PySparkException, Py4JError) as error:
            failure = classify(error)
            assert failure.kind == "malformed", failure
            assert failure.reason

    check()


def test_the_unchanged_record_is_decoded(engine: MemoryEngine) -> None:
    read_as = serde("JSON", STRUCT)
    [row] = records(engine.session, OBJECT).select(decode(F.col("raw"), read_as, read_as.type).alias("v")).collect()

    assert (row["v"]["who"], row["v"]["m"], row["v"]["inner"]["x"]) == ("grün", {"k": 7}, 1)
