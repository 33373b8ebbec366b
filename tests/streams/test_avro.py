"""Avro with a registry in a Spark session, interpreted and with generated code, compared with fastavro."""

from __future__ import annotations

import io
import json
import ssl
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import fastavro
import pytest
import trustme
from hypothesis import HealthCheck, given, settings
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import AnalysisException, IllegalArgumentException, PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from devkit.avro_schemas import REFUSED, TYPED
from devkit.column_evaluator import evaluator
from devkit.mutations import bytes_near
from devkit.spark_rows import records
from lsql_runner.compile.codecs.avro import avro_type, decode_avro, encode_avro, register_registry
from lsql_runner.compile.schema import spark_type
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.formats.avro_schema import read_avro
from lsql_runner.jvm.failures import classify

REGISTRY = "avro-test"
FAILURES = (PySparkException, Py4JError)
EVERYTHING: Any = {
    "type": "record",
    "name": "Everything",
    "fields": [
        {"name": "b", "type": "boolean"},
        {"name": "i", "type": "int"},
        {"name": "l", "type": ["null", "long"]},
        {"name": "none", "type": ["null", "long"]},
        {"name": "f", "type": "float"},
        {"name": "d", "type": "double"},
        {"name": "s", "type": "string"},
        {"name": "y", "type": "bytes"},
        {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["A", "B"]}},
        {"name": "x", "type": {"type": "fixed", "name": "X", "size": 3}},
        {"name": "a", "type": {"type": "array", "items": ["null", "string"]}},
        {"name": "m", "type": {"type": "map", "values": "double"}},
        {"name": "r", "type": {"type": "record", "name": "R", "fields": [{"name": "v", "type": "int"}]}},
        {"name": "dec", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}},
        {
            "name": "fdec",
            "type": {"type": "fixed", "name": "D", "size": 9, "logicalType": "decimal", "precision": 20, "scale": 3},
        },
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "ms", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "us", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "local", "type": {"type": "long", "logicalType": "local-timestamp-micros"}},
    ],
}
VALUE: dict[str, Any] = {
    "b": True,
    "i": -5,
    "l": 1 << 40,
    "none": None,
    "f": 1.5,
    "d": -0.25,
    "s": "grün 🦊",
    "y": b"\x00\xff",
    "e": "B",
    "x": b"abc",
    "a": ["p", None],
    "m": {"k": 2.5},
    "r": {"v": 7},
    "dec": Decimal("-12.34"),
    "fdec": Decimal("12345678901234567.890"),
    "day": date(2024, 2, 29),
    "ms": datetime(2024, 2, 29, 12, 30, 15, 123000, UTC),
    "us": datetime(1960, 1, 1, 0, 0, 0, 1, UTC),
    "local": datetime(2024, 2, 29, 12, 30, 15, 123456),
}
IDS: dict[int, Any] = {
    1: EVERYTHING,
    2: {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]},
    3: {
        "type": "record",
        "name": "Order",
        "fields": [{"name": "who", "type": "string"}, {"name": "id", "type": "long"}],
    },
    4: "string",
    5: "long",
}
ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "long"}, {"name": "who", "type": "string", "default": "?"}],
}


class RegistryHandler(BaseHTTPRequestHandler):
    """GET /schemas/ids/<id>, for IDS."""

    def do_GET(self) -> None:
        schema = IDS.get(int(self.path.rsplit("/", 1)[1]))
        answer = {"error_code": 40403} if schema is None else {"schema": json.dumps(schema)}
        body = json.dumps(answer).encode()
        self.send_response(404 if schema is None else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module", autouse=True)
def registry(engine: MemoryEngine) -> Iterator[None]:
    """A registry with the schemas IDS, under the name REGISTRY."""
    assert engine.session is not None  # opens the session
    with serving() as url:
        register_registry(REGISTRY, {"urls": url, "timeout_ms": "5000"})
        yield


@contextmanager
def serving(secure: ssl.SSLContext | None = None) -> Iterator[str]:
    """The address of a registry with the schemas IDS."""
    with ThreadingHTTPServer(("127.0.0.1", 0), RegistryHandler) as server:
        if secure:
            server.socket = secure.wrap_socket(server.socket, server_side=True)
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"{'https' if secure else 'http'}://localhost:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def tls(authority: trustme.CA) -> ssl.SSLContext:
    """TLS of a server that requires a client certificate of the same authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    return context


def avro_record(schema_id: int, value: object) -> bytes:
    """A record in the wire format, encoded by fastavro."""
    body = io.BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(IDS[schema_id]), value)
    return struct.pack(">bI", 0, schema_id) + body.getvalue()


def avro_value(record: bytes) -> object:
    """The value of a record, decoded by fastavro."""
    return fastavro.schemaless_reader(io.BytesIO(record[5:]), IDS[struct.unpack(">I", record[1:5])[0]], None)


def decoded(session: SparkSession, schema: object, *raw: bytes | None) -> list[Any]:
    frame = records(session, *raw).select(decode_avro(F.col("raw"), json.dumps(schema), REGISTRY).alias("v"))
    return [row["v"] for row in frame.collect()]


def plain(value: Any) -> Any:
    return value.asDict(recursive=True) if isinstance(value, Row) else value


def test_a_record_of_fastavro_is_decoded(session: SparkSession) -> None:
    [value] = decoded(session, EVERYTHING, avro_record(1, VALUE))

    expected = VALUE | {name: VALUE[name].astimezone().replace(tzinfo=None) for name in ("ms", "us")}
    assert plain(value) == expected


def test_an_encoded_record_is_read_by_fastavro(session: SparkSession) -> None:
    value = decode_avro(F.col("raw"), json.dumps(EVERYTHING), REGISTRY)
    again = encode_avro(value, json.dumps(EVERYTHING), 1)

    [[encoded]] = records(session, avro_record(1, VALUE)).select(again).collect()

    assert avro_value(bytes(encoded)) == VALUE
    assert bytes(encoded) == avro_record(1, VALUE)


def test_each_record_is_read_with_its_own_schema(session: SparkSession) -> None:
    raw = [avro_record(2, {"id": 1}), avro_record(3, {"who": "a", "id": 2}), None, avro_record(2, {"id": 3})]

    values = decoded(session, ORDER, *raw)

    assert values == [Row(id=1, who="?"), Row(id=2, who="a"), None, Row(id=3, who="?")]


@pytest.mark.parametrize(("schema_id", "value"), [(4, "key"), (5, 1 << 40)])
def test_a_value_that_is_not_a_record_is_decoded_and_encoded(
    session: SparkSession, schema_id: int, value: object
) -> None:
    schema = json.dumps(IDS[schema_id])
    again = encode_avro(decode_avro(F.col("raw"), schema, REGISTRY), schema, schema_id)

    rows = records(session, avro_record(schema_id, value), None).select(
        decode_avro(F.col("raw"), schema, REGISTRY), again
    )

    assert [tuple(row) for row in rows.collect()] == [(value, avro_record(schema_id, value)), (None, None)]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (b"\x01\x00\x00\x00\x02\x02", "the first byte is 1, not 0"),
        (b"\x00\x00\x00\x00\x09\x02", "the registry has no schema 9"),
        (b"\x00\x00\x00\x00\x02\x02\x02", "1 bytes remain after the value"),
    ],
)
def test_invalid_bytes_are_malformed(session: SparkSession, record: bytes, reason: str) -> None:
    with pytest.raises(FAILURES) as error:
        decoded(session, ORDER, record)

    failure = classify(error.value)
    assert failure.kind == "malformed"
    assert (failure.error.condition, failure.error.parameters) == ("MALFORMED_RECORD_IN_PARSING", {"reason": reason})


def test_an_unreachable_registry_is_not_an_error_of_the_record(session: SparkSession) -> None:
    register_registry("unreachable", {"urls": "http://127.0.0.1:1", "timeout_ms": "1000"})
    value = decode_avro(F.col("raw"), json.dumps(ORDER), "unreachable")

    with pytest.raises(FAILURES) as error:
        records(session, avro_record(2, {"id": 1})).select(value).collect()

    failure = classify(error.value)
    assert failure.kind == "temporary"
    assert failure.error.condition == "LSQL_REGISTRY_UNREACHABLE"
    assert failure.error.parameters == {"reason": "http://127.0.0.1:1: Connection refused"}


def test_a_registry_can_require_a_client_certificate(engine: MemoryEngine) -> None:
    rows = records(engine.session, avro_record(2, {"id": 1}))
    authority = trustme.CA()
    client = authority.issue_cert("runner")
    ca = {"ca": authority.cert_pem.bytes().decode()}
    certificate = {
        "certificate": b"".join(blob.bytes() for blob in client.cert_chain_pems).decode(),
        "key": client.private_key_pem.bytes().decode(),
    }
    with serving(tls(authority)) as url:
        register_registry("mutual", {"urls": url} | ca | certificate)
        register_registry("no certificate", {"urls": url} | ca)
        register_registry("no ca", {"urls": url} | certificate)

        results = {name: result_of_decoding(rows, name) for name in ("mutual", "no certificate", "no ca")}

    assert results == {"mutual": "read", "no certificate": "temporary", "no ca": "temporary"}


def result_of_decoding(rows: DataFrame, registry: str) -> str:
    """`read`, or the kind of the failure of decoding records with a registry."""
    try:
        rows.select(decode_avro(F.col("raw"), json.dumps(ORDER), registry)).collect()
    except FAILURES as error:
        return classify(error).kind
    return "read"


@pytest.mark.parametrize("settings", [{}, {"urls": "http://a", "pasword": "x"}, {"urls": "http://a", "ca": "none"}])
def test_invalid_settings_are_refused(engine: MemoryEngine, settings: dict[str, str]) -> None:
    assert engine.session is not None  # opens the session

    with pytest.raises(IllegalArgumentException):
        register_registry("x", settings)


def test_a_null_that_the_schema_does_not_allow_is_refused(session: SparkSession) -> None:
    row = F.struct(F.when(F.col("n") > 0, F.lit(1)).alias("id"))

    with pytest.raises(FAILURES) as error:
        records(session, b"").select(encode_avro(row, json.dumps(IDS[2]), 2)).collect()

    failure = classify(error.value)
    assert failure.kind == "refused"
    assert failure.error.condition == "LSQL_VALUE_DOES_NOT_FIT_SCHEMA"
    assert failure.error.parameters == {"reason": "field id: a value is null, and the schema does not allow it"}


def test_a_type_that_does_not_fit_the_schema_is_refused_at_planning_time(engine: MemoryEngine) -> None:
    rows = records(engine.session, b"")

    with pytest.raises(AnalysisException, match="string does not fit Avro's int: field id"):
        rows.select(encode_avro(F.struct(F.lit("x").alias("id")), json.dumps(IDS[2]), 2))


def test_a_recursive_type_is_refused_at_planning_time(engine: MemoryEngine) -> None:
    recursive = {"type": "record", "name": "L", "fields": [{"name": "next", "type": ["null", "L"]}]}
    rows = records(engine.session, b"")

    with pytest.raises(FAILURES) as error:
        rows.select(decode_avro(F.col("raw"), json.dumps(recursive), REGISTRY))

    refusal = classify(error.value).error
    assert (refusal.condition, refusal.reason) == ("LSQL_SCHEMA_UNUSABLE", "the type L contains itself: field next")


def test_avro_type_is_the_type_of_decoded_values(engine: MemoryEngine) -> None:
    assert engine.session is not None  # opens the session
    order = spark.StructType([spark.StructField("id", spark.LongType()), spark.StructField("who", spark.StringType())])

    assert avro_type(json.dumps(ORDER)) == order
    assert avro_type('"string"') == spark.StringType()


@pytest.mark.parametrize("schema", [schema for schema, _ in TYPED], ids=json.dumps)
def test_the_jvm_and_binding_give_a_schema_the_same_type(engine: MemoryEngine, schema: Any) -> None:
    assert engine.session is not None  # opens the session
    text = json.dumps(schema)

    bound = spark_type(read_avro(text)[0]).simpleString()

    assert avro_type(text).simpleString().replace("timestamp_ntz", "timestamp") == bound


@pytest.mark.parametrize("schema", [schema for schema, _ in REFUSED], ids=json.dumps)
def test_the_jvm_and_binding_refuse_the_same_schemas(engine: MemoryEngine, schema: Any) -> None:
    assert engine.session is not None  # opens the session

    with pytest.raises(FAILURES):
        avro_type(json.dumps(schema))


def test_a_plan_shows_no_secret(engine: MemoryEngine) -> None:
    register_registry("secret", {"urls": "http://127.0.0.1:1", "username": "u", "password": "hunter2"})
    rows = records(engine.session, b"").select(decode_avro(F.col("raw"), json.dumps(ORDER), "secret"))

    shown = rows._jdf.queryExecution().toString()

    assert "lsql_decode_avro" in shown
    assert "hunter2" not in shown


def test_any_bytes_are_a_value_or_malformed(engine: MemoryEngine) -> None:
    evaluators = [
        evaluator(engine.session, partial(decode_avro, reader_schema=json.dumps(schema), registry=REGISTRY))
        for schema in (EVERYTHING, ORDER)
    ]

    @settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
    @given(bytes_near(avro_record(1, VALUE), avro_record(2, {"id": 1})))
    def check(data: bytes) -> None:
        for evaluate in evaluators:
            try:
                evaluate(data)
            except FAILURES as error:
                failure = classify(error)
                assert failure.kind == "malformed", failure

    check()
