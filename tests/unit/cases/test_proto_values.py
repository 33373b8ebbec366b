"""Values of case files, encoded as Protobuf and decoded."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsql_runner.cases.proto_values import proto_schema
from lsql_runner.cases.scalars import Instant, InvalidValue
from lsql_runner.cases.values import same_value

TEXT = """
    syntax = "proto3";
    import "google/protobuf/timestamp.proto";
    message M {
      int32 i = 1; sint64 s = 2; uint64 u = 3; fixed32 f = 4; sfixed64 g = 5; float h = 6; double d = 7; bool b = 8;
      string t = 9; bytes y = 10; E e = 11; N n = 12; repeated int32 ri = 13; repeated string rt = 14;
      map<bool, N> m = 15; google.protobuf.Timestamp at = 16; optional int32 o = 17;
      oneof one { int32 x = 18; N z = 19; }
    }
    enum E { A = 0; B = -1; }
    message N { int32 k = 1; message In { int32 v = 1; } }
"""


def round_trip(value: Any, name: str | None = None) -> Any:
    return proto_schema(TEXT).decode(proto_schema(TEXT).encode(value, name))


EMPTY: dict[str, Any] = {
    **dict.fromkeys(("i", "s", "u", "f", "g", "h", "d"), 0),
    "b": False,
    "t": "",
    "y": "",
    "e": "A",
    "n": None,
    "ri": [],
    "rt": [],
    "m": {},
    "at": None,
    "o": None,
    "x": None,
    "z": None,
}


def test_missing_fields_are_zero_or_null() -> None:
    assert same_value(EMPTY, round_trip({}))


@pytest.mark.parametrize(
    "part",
    [
        {"i": -(1 << 31)},
        {"s": -(1 << 63)},
        {"u": (1 << 64) - 1},
        {"f": (1 << 32) - 1, "g": -1},
        {"h": 0.5, "d": -1e300, "b": True, "t": "é", "y": "00ff"},
        {"e": "B"},
        {"e": "7"},
        {"n": {"k": -5}, "ri": [1, -2], "rt": ["", "a"], "m": {"true": {"k": 1}, "false": {"k": 0}}},
        {"at": "1969-12-31T23:59:59.000000001Z", "o": 0},
        {"z": {"k": 0}},
    ],
)
def test_a_decoded_value_equals_the_encoded_value(part: dict[str, Any]) -> None:
    assert same_value({**EMPTY, **part}, round_trip(part))


def test_bytes_are_as_in_the_specification() -> None:
    assert proto_schema(TEXT).encode({"i": 150}, None) == bytes.fromhex("00089601")
    assert proto_schema(TEXT).encode({"s": -2, "at": 1500}, None) == bytes.fromhex("00100382010808011080cab5ee01")
    assert proto_schema(TEXT).encode({"v": 1}, "N.In") == bytes.fromhex("040200" + "0801")


def test_the_indexes_of_a_record_select_the_message() -> None:
    assert round_trip({"v": 1}, "N.In") == {"v": 1}
    with pytest.raises(InvalidValue):
        proto_schema(TEXT).decode(b"\x02\x09")


@pytest.mark.parametrize(
    "value",
    [
        {"i": 1 << 31},
        {"u": -1},
        {"b": 1},
        {"t": 5},
        {"e": "C"},
        {"n": 5},
        {"ri": 5},
        {"m": []},
        {"unknown": 1},
        {"i": 0.5},
        {"h": 1e39},
        {"e": []},
        {"m": {"yes": {}}},
        {5: 1},
        5,
    ],
)
def test_an_invalid_value_is_refused(value: Any) -> None:
    with pytest.raises(InvalidValue):
        proto_schema(TEXT).encode(value, None)


@pytest.mark.parametrize(
    ("value", "path"),
    [({"n": {"k": "x"}}, "n.k"), ({"y": "xyz"}, "y"), ({"at": "noon"}, "at"), ({"ri": ["1"]}, "ri[]")],
)
def test_an_invalid_value_is_refused_with_its_place(value: Any, path: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        proto_schema(TEXT).encode(value, None)
    assert caught.value.reason.params["place"] == path


def test_packed_and_unpacked_values_are_equal_and_the_last_field_of_a_oneof_is_used() -> None:
    message = proto_schema(TEXT).decode(bytes.fromhex("00" + "6a020102" + "6803" + "900105" + "9a0100"))
    assert (message["ri"], message["x"], message["z"]) == ([1, 2, 3], None, {"k": 0})


def test_times_are_instants() -> None:
    assert round_trip({"at": 1500})["at"] == Instant(1_500_000_000)


@given(st.binary(max_size=60))
def test_any_bytes_are_decoded_or_refused(data: bytes) -> None:
    try:
        message = proto_schema(TEXT).decode(data)
    except InvalidValue:
        return
    assert isinstance(message, dict)


PROTO2 = """
    package a.b;
    message M {
      required int32 must = 1; optional int32 may = 2 [default = 7]; repeated E es = 3; map<string, .a.b.In> ins = 4;
      optional In own = 5; enum E { X = 1; Y = 2; } message In { optional bool inner = 1; }
    }
    message In { optional bool outer = 1; }
"""


def test_proto2_has_no_zeros_and_no_defaults() -> None:
    empty: dict[str, Any] = {"must": None, "may": None, "es": [], "ins": {}, "own": None}
    assert proto_schema(PROTO2).decode(proto_schema(PROTO2).encode({}, "M")) == empty
    assert proto_schema(PROTO2).decode(proto_schema(PROTO2).encode({"es": ["Y"], "may": 0}, "M")) == {
        **empty,
        "es": ["Y"],
        "may": 0,
    }


def test_a_type_name_is_resolved_in_the_innermost_scope() -> None:
    value = {"ins": {"k": {"outer": True}}, "own": {"inner": True}}
    message = proto_schema(PROTO2).decode(proto_schema(PROTO2).encode(value, "M"))
    assert (message["ins"], message["own"]) == ({"k": {"outer": True}}, {"inner": True})


@pytest.mark.parametrize("text", ["message {", 'syntax = "proto3"; message M { Nobody n = 1; }'])
def test_an_invalid_file_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        proto_schema(text).encode({}, None)
    assert caught.value.reason.code == "NOT_A_FILE"
