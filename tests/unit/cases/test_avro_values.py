"""Values of cases in AVRO: encoding, decoding, comparison and notation."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lsql_runner.cases.avro_values import AvroSchema
from lsql_runner.cases.codecs import WriterSchema
from lsql_runner.cases.scalars import Day, Instant, InvalidValue, Single, yaml_value
from lsql_runner.cases.values import checked_expectation, decode_value, encode_value, in_notation_of, same_value
from lsql_runner.formats.catalog import Format

MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
MICROS = {"type": "long", "logicalType": "timestamp-micros"}
NANOS = {"type": "long", "logicalType": "timestamp-nanos"}
LOCAL = {"type": "long", "logicalType": "local-timestamp-micros"}
DATE = {"type": "int", "logicalType": "date"}
MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
FIXED_MONEY = {"type": "fixed", "name": "M", "size": 5, "logicalType": "decimal", "precision": 9, "scale": 2}
UUID = {"type": "fixed", "name": "U", "size": 16, "logicalType": "uuid"}
COLOUR = {"type": "enum", "name": "Colour", "symbols": ["RED", "BLUE"]}


def record(*fields: dict[str, Any], name: str = "R") -> dict[str, Any]:
    return {"type": "record", "name": name, "namespace": "x.y", "fields": list(fields)}


def field(name: str, kind: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


def avro(schema: Any) -> AvroSchema:
    return AvroSchema(json.dumps(schema))


@pytest.mark.parametrize(
    ("schema", "value", "data"),
    [
        ("null", None, ""),
        ("boolean", True, "01"),
        ("int", -3, "05"),
        ("long", 1 << 40, "808080808040"),
        ("double", 0.5, "000000000000e03f"),
        ("float", 0.1, "cdcccc3d"),
        ("string", "é", "04c3a9"),
        ("bytes", "cafe", "04cafe"),
        (COLOUR, "BLUE", "02"),
        ({"type": "fixed", "name": "F", "size": 2}, "cafe", "cafe"),
        ({"type": "array", "items": "int"}, [1, 2], "04020400"),
        ({"type": "map", "values": "string"}, {"a": "b"}, "020261026200"),
        (["null", "int"], None, "00"),
        (["null", "int"], 1, "0202"),
        (MILLIS, 1, "02"),
        (MILLIS, "1970-01-01T00:00:00.001Z", "02"),
        (MILLIS, "1970-01-01T01:00:00.001+01:00", "02"),
        (MICROS, 1, "d00f"),
        (MICROS, "1970-01-01T00:00:00.000001", "02"),
        (NANOS, "1970-01-01T00:00:00.000000001Z", "02"),
        (LOCAL, "1970-01-01T00:00:00.000001", "02"),
        (DATE, "1969-12-31", "01"),
        (MONEY, "12.50", "0404e2"),
        (MONEY, 12.5, "0404e2"),
        (MONEY, -1, "029c"),
        (FIXED_MONEY, 1, "0000000064"),
        (UUID, "00000000-0000-0000-0000-0000000000ff", "00" * 15 + "ff"),
        ({"type": "string", "logicalType": "uuid"}, "no uuid", "0e6e6f2075756964"),
        ({"type": "int", "logicalType": "time-millis"}, "00:00:00.001", "02"),
        ({"type": "long", "logicalType": "time-micros"}, "00:00:00.000001", "02"),
    ],
    ids=str,
)
def test_a_value_has_the_bytes_that_the_specification_says(schema: Any, value: Any, data: str) -> None:
    assert avro(schema).encode(value).hex() == data
    assert same_value(value, avro(schema).decode(bytes.fromhex(data)))


@pytest.mark.parametrize(
    ("schema", "value", "reason"),
    [
        ("int", 1 << 31, "2147483648 is not a valid int"),
        ("int", True, "true is not a valid int"),
        ("long", 1.5, "1.5 is not a valid long"),
        ("long", 1 << 63, "9223372036854775808 is not a valid long"),
        ("float", 1e39, "1e+39 is too large for a float"),
        ("double", "1", '"1" is not a valid double'),
        ("string", 1, "1 is not a valid string: quote it"),
        ("boolean", 0, "0 is not a valid boolean"),
        ("null", 0, "0 is not a valid null"),
        ("bytes", "xyz", "hexadecimal"),
        ({"type": "fixed", "name": "F", "size": 2}, "ca", "2 bytes are needed, not 1"),
        (COLOUR, "GREEN", '"GREEN" is not one of RED, BLUE'),
        (MILLIS, "yesterday", "a time is milliseconds"),
        (MILLIS, True, "a time is milliseconds"),
        (MILLIS, "1970-01-01T00:00:00.0001Z", "more digits than timestamp-millis holds"),
        (MILLIS, 1 << 70, "is not a valid long"),
        (DATE, 5, "a date is text"),
        (DATE, "2026-02-30", "a date is text"),
        (MONEY, "much", "a decimal is a number"),
        (MONEY, "1.005", "does not fit its schema"),
        (MONEY, 10**9, "does not fit its schema"),
        (UUID, "none", '"none" is not a valid UUID'),
        (["null", "int"], "1", '"1" is not a valid int'),
        (["int", "string"], 1.5, "the union of int, string does not allow 1.5"),
        (["int", "string"], None, "the union of int, string does not allow null"),
        (record(field("a", "int")), 1, "a record is {field: value}, not 1"),
        (record(field("a", "int")), {}, "no value, and the field has no default (field a)"),
        (record(field("a", "int")), {"a": 1, "b": 2}, "unknown field b; the fields are a"),
        (record(field("a", {"type": "array", "items": "int"})), {"a": [1, "x"]}, '"x" is not a valid int (field a[1])'),
        (
            record(field("a", record(field("b", "int"), name="S"))),
            {"a": {"b": None}},
            "null is not a valid int (field a.b)",
        ),
        ({"type": "map", "values": "int"}, {"k": "v"}, '"v" is not a valid int (field k)'),
    ],
    ids=str,
)
def test_a_value_that_the_schema_does_not_allow_is_refused_with_its_place(schema: Any, value: Any, reason: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        avro(schema).encode(value)
    assert reason in caught.value.reason


@pytest.mark.parametrize(
    ("kind", "default", "read"),
    [
        ("int", 7, 7),
        ("bytes", "\u00ff", b"\xff"),
        (MONEY, "\u0001", Decimal("0.01")),
        (["string", "null"], "q", "q"),
        (["null", "string"], None, None),
        ({"type": "array", "items": "int"}, [1], [1]),
        ({"type": "map", "values": "bytes"}, {"k": "\u00fe"}, {"k": b"\xfe"}),
        (record(field("v", "int", default=1), field("w", "int"), name="S"), {"w": 2}, {"v": 1, "w": 2}),
        (MILLIS, 5, Instant(5_000_000)),
        (COLOUR, "RED", "RED"),
    ],
    ids=str,
)
def test_a_missing_field_has_its_default(kind: Any, default: Any, read: Any) -> None:
    schema = avro(record(field("a", kind, default=default)))
    assert schema.decode(schema.encode({})) == {"a": read}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (["null", "string", "bytes"], "cafe"),
        (["null", {"type": "array", "items": "int"}, {"type": "map", "values": "int"}], {"a": 1}),
        (["null", COLOUR, "string"], "other"),
        (["int", "double"], 1.5),
        ([record(field("a", "int"), name="A"), record(field("b", "int"), name="B")], {"b": 1}),
        (["null", MILLIS, "string"], "2026-03-01T12:00:00Z"),
        (["null", DATE, "long"], 5),
        (record(field("u", UUID), field("second", "U"), field("other", ["null", "x.y.U"])), None),
    ],
    ids=str,
)
def test_a_union_takes_the_first_type_that_allows_the_value(schema: Any, value: Any) -> None:
    one = "00000000-0000-0000-0000-0000000000ff"
    value = {"u": one, "second": one, "other": one} if value is None else value
    assert same_value(value, avro(schema).decode(avro(schema).encode(value)))


@pytest.mark.parametrize(
    "schema",
    [
        "nothing",
        {"type": "recor"},
        {"type": "record", "name": "R", "fields": [{"name": "a"}]},
        5,
        {"type": "array"},
        record(field("a", "Other")),
    ],
    ids=str,
)
def test_an_invalid_schema_is_refused(schema: Any) -> None:
    with pytest.raises(InvalidValue) as caught:
        avro(schema)
    assert caught.value.reason.code == "NOT_A_SCHEMA"


@pytest.mark.parametrize("data", [b"", b"\x02", b"\x02\x02\x02", b"\xff" * 12])
def test_malformed_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(InvalidValue):
        avro(record(field("a", "int"), field("b", "int"))).decode(data + b"\x80" * 11)


def test_a_record_may_contain_itself() -> None:
    tree = avro(record(field("v", "int"), field("next", ["null", "R"], default=None)))
    value = {"v": 1, "next": {"v": 2, "next": None}}
    assert tree.decode(tree.encode(value)) == value


# --- any schema, any value ---

scalars: list[tuple[Any, st.SearchStrategy[Any]]] = [
    ("boolean", st.booleans()),
    ("int", st.integers(-(1 << 31), (1 << 31) - 1)),
    ("long", st.integers(-(1 << 63), (1 << 63) - 1)),
    ("float", st.floats(width=32, allow_nan=False)),
    ("double", st.floats(allow_nan=False)),
    ("string", st.text(st.characters(codec="utf-8"))),
    ("bytes", st.binary().map(bytes.hex)),
    (MILLIS, st.datetimes().map(lambda moment: moment.isoformat(timespec="milliseconds"))),
    (MICROS, st.datetimes().map(lambda moment: moment.isoformat() + "Z")),
    (MILLIS, st.integers(-(1 << 62), 1 << 62)),
    (DATE, st.dates().map(str)),
    (MONEY, st.decimals(-9999999, 9999999, places=2).map(str)),
]
typed = st.sampled_from(scalars).flatmap(lambda pair: st.tuples(st.just(pair[0]), pair[1]))


def nested(inner: st.SearchStrategy[tuple[Any, Any]]) -> st.SearchStrategy[tuple[Any, Any]]:
    return st.one_of(
        inner.map(lambda pair: ({"type": "array", "items": pair[0]}, [pair[1]])),
        inner.map(lambda pair: ({"type": "map", "values": pair[0]}, {"k": pair[1]})),
        inner.filter(lambda pair: not isinstance(pair[0], list)).map(lambda pair: (["null", pair[0]], pair[1])),
        st.tuples(inner, inner, st.uuids()).map(
            lambda parts: (
                record(field("a", parts[0][0]), field("b", parts[1][0]), name=f"R{parts[2].hex}"),
                {"a": parts[0][1], "b": parts[1][1]},
            )
        ),
    )


@given(st.recursive(typed, nested, max_leaves=6))
@example((MILLIS, -62135596800001))  # before the year 1
@example((MILLIS, 253402300800000))  # after the year 9999
@example(("float", 2.802596928649634e-44))  # subnormal
def test_an_encoded_value_decodes_to_an_equal_value(pair: tuple[Any, Any]) -> None:
    schema, value = pair
    decoded = avro(schema).decode(avro(schema).encode(value))
    assert same_value(value, decoded)
    # The notation of the value is an equal value in a case.
    assert same_value(yaml_value(decoded), decoded)
    assert in_notation_of(value, decoded) == value


# --- comparing ---


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        ("2026-03-01T12:00:00Z", Instant(1_772_366_400_000_000_000), True),
        ("2026-03-01T13:00:00+01:00", Instant(1_772_366_400_000_000_000), True),
        (1_772_366_400_000, Instant(1_772_366_400_000_000_000), True),
        ("2026-03-01T12:00:00.000000001Z", Instant(1_772_366_400_000_000_001), True),
        ("2026-03-01T12:00:00Z", Instant(1_772_366_400_000_000_001), False),
        ("noon", Instant(0), False),
        (None, Instant(0), False),
        ("1970-01-02", Day(1), True),
        (1, Day(1), False),
        (12.5, Decimal("12.50"), True),
        ("12.50", Decimal("12.5"), True),
        (12, Decimal("12.01"), False),
        ("twelve", Decimal(12), False),
        ("CAFE", b"\xca\xfe", True),
        ("cafe", b"\xca", False),
        (0.1, Single(0.10000000149011612), True),
        (122477408.0, Single(122477408.0), True),
        (0.1, Single(0.2), False),
        ("0.5", Single(0.5), False),
        (True, Single(1.0), False),
        ({"a": [0]}, {"a": [Instant(0)]}, True),
    ],
)
def test_equality_of_typed_values(expected: Any, actual: Any, same: bool) -> None:
    assert same_value(expected, actual) is same


def test_a_written_value_is_shown_in_the_notation_of_the_case_where_they_are_equal() -> None:
    expected = {"at": 0, "n": 1, "list": [1, "1970-01-01"], "gone": True}
    actual = {"at": Instant(0), "n": 2, "list": [1, Day(1), Decimal("1.50")], "new": b"\x01"}
    assert in_notation_of(expected, actual) == {"at": 0, "n": 2, "list": [1, "1970-01-02", "1.50"], "new": "01"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Instant(0), "1970-01-01T00:00:00Z"),
        (Instant(-1), "1969-12-31T23:59:59.999999999Z"),
        (Instant(1_500_000_000), "1970-01-01T00:00:01.5Z"),
        (Instant(-62_135_596_800_000_000_000), "0001-01-01T00:00:00Z"),
        (Instant(1 << 80), f"{1 << 80} ns since 1970 UTC"),
        (Day(-1), "1969-12-31"),
        (Day(1 << 40), f"{1 << 40} days since 1970-01-01"),
    ],
)
def test_times_and_days_are_shown_as_iso_text(value: Instant | Day, text: str) -> None:
    assert str(value) == text


@pytest.mark.parametrize("value", [0.1, 1.0, 3.4e38, 16777216.0, -2.5e-40, float("inf")])
def test_a_float_is_shown_with_the_shortest_digits(value: float) -> None:
    assert yaml_value(avro("float").decode(avro("float").encode(value))) == value


# --- the wire format ---

AVRO, WINDOWED = Format("AVRO"), Format("TW", "AVRO")
SCHEMAS = {1: '"long"', 7: json.dumps(record(field("id", "int")))}


def test_a_record_begins_with_the_id_of_its_schema() -> None:
    data = encode_value({"id": 1}, AVRO, WriterSchema(7, SCHEMAS[7]))
    assert data == b"\0\0\0\0\x07\x02"
    assert decode_value(data, AVRO, SCHEMAS) == {"id": 1}


def test_a_windowed_key_has_the_window_after_the_key() -> None:
    key = {"key": {"id": 1}, "window_start": 2}
    data = encode_value(key, WINDOWED, WriterSchema(7, SCHEMAS[7]))
    assert data == b"\0\0\0\0\x07\x02" + b"\0" * 7 + b"\x02"
    assert decode_value(data, WINDOWED, SCHEMAS) == key


def test_a_value_without_a_schema_is_refused() -> None:
    with pytest.raises(InvalidValue) as caught:
        encode_value({"id": 1}, AVRO)
    assert caught.value.reason.code == "SCHEMA_MISSING"


@pytest.mark.parametrize("data", [b"\0\0\0\0\x02\x02", b"\x01\0\0\0\x07\x02", b"\0\0\0", b"\0\0\0\0\x07"])
def test_bytes_without_a_known_schema_are_refused(data: bytes) -> None:
    with pytest.raises(InvalidValue):
        decode_value(data, AVRO, SCHEMAS)


def test_an_expected_windowed_key_must_have_a_window() -> None:
    with pytest.raises(InvalidValue):
        checked_expectation({"id": 1}, WINDOWED)


@pytest.mark.parametrize("name", ["AVRO", "JSON", "LONG", "INT"])
def test_a_windowed_key_without_bytes_before_the_window_is_null(name: str) -> None:
    key = {"key": None, "window_start": 2}
    assert decode_value(encode_value(key, Format("TW", name)), Format("TW", name)) == key
