"""Reads `.proto` files as types, and writes types as `.proto` files that keep field numbers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsql_runner.formats.proto_file import print_proto
from lsql_runner.formats.proto_imports import inline_imports
from lsql_runner.formats.proto_names import indexes_of_record, message_indexes
from lsql_runner.formats.proto_output import keep_field_numbers, write_proto
from lsql_runner.formats.proto_schema import descriptor, read_proto
from lsql_runner.formats.proto_text import parse_proto
from lsql_runner.formats.spec import FormatError
from lsql_runner.types import Struct, describe, parse_type

SCHEMA_ID = b"\0\0\0\0\7"


def described(body: str, syntax: str = "proto3", name: str | None = None) -> str:
    return describe(read_proto(f'syntax = "{syntax}"; package p.q; {body}', name).type)


def message(fields: str, syntax: str = "proto3") -> str:
    return described(f"message M {{ {fields} }} enum E {{ A = 0; }} message N {{ int32 n = 1; }}", syntax)


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        ("int32 a = 1;", "a: int not null"),
        ("sint32 a = 1;", "a: int not null"),
        ("sfixed32 a = 1;", "a: int not null"),
        ("uint32 a = 1;", "a: long not null"),
        ("fixed32 a = 1;", "a: long not null"),
        ("int64 a = 1;", "a: long not null"),
        ("uint64 a = 1;", "a: decimal(20,0) not null"),
        ("fixed64 a = 1;", "a: decimal(20,0) not null"),
        ("float a = 1;", "a: float not null"),
        ("double a = 1;", "a: double not null"),
        ("bool a = 1;", "a: boolean not null"),
        ("string a = 1;", "a: string not null"),
        ("bytes a = 1;", "a: bytes not null"),
        ("E a = 1;", "a: string not null"),
        ("N a = 1;", "a: struct<n: int not null>"),
        (".p.q.N a = 1;", "a: struct<n: int not null>"),
        ("q.N a = 1;", "a: struct<n: int not null>"),
        ("optional int32 a = 1;", "a: int"),
        ("repeated N a = 1;", "a: array<struct<n: int not null>> not null"),
        ("map<int32, N> a = 1;", "a: map<string, struct<n: int not null>> not null"),
        ("oneof o { int32 a = 1; N b = 2; }", "a: int, b: struct<n: int not null>"),
        ("google.protobuf.Timestamp a = 1;", "a: timestamp"),
        ("google.protobuf.UInt64Value a = 1;", "a: decimal(20,0)"),
        ("repeated google.protobuf.StringValue a = 1;", "a: array<string> not null"),
        ("google.protobuf.Duration a = 1;", "a: struct<seconds: long not null, nanos: int not null>"),
        (
            "enum E { X = 0; } E a = 1; message N { E e = 1; } N b = 2;",
            "a: string not null, b: struct<e: string not null>",
        ),
        (
            "option x = {a: 1}; reserved 3, 5 to max; reserved 'b'; int32 a = 0x1 [deprecated = true];",
            "a: int not null",
        ),
        (
            "int32 message = 1; int32 optional = 2; int32 map = 3;",
            "message: int not null, optional: int not null, map: int not null",
        ),
    ],
)
def test_a_field_has_a_type(field: str, kind: str) -> None:
    assert message(field) == f"struct<{kind}>"


def test_in_proto2_fields_that_are_not_required_may_be_null() -> None:
    assert message(
        "required int32 a = 1; optional int32 b = 2 [default = 5];"
        "extensions 100 to 199 [declaration = { number: 100 }, verification = X];",
        "proto2",
    ) == ("struct<a: int not null, b: int>")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("message M { M again = 1; }", "the type M contains itself (field again)"),
        ("message M { repeated N n = 1; } message N { map<string, M> m = 1; }",
         "the type M contains itself (field n.m)"),
        ('import "google/protobuf/struct.proto"; message M { google.protobuf.Struct s = 1; }',
         "the type google.protobuf.Struct contains itself (field s.fields.struct_value)"),
        ("message M { X x = 1; }", "unknown type X (field x)"),
        ("message M { map<double, int32> m = 1; }", "the keys of a map cannot have the type double (field m)"),
        ("message M { optional group G = 1 { } }", "groups are not supported"),
        ('edition = "2023"; message M {}', "editions are not supported, only proto2 and proto3"),
        ('syntax = "proto4";', "the syntax `proto4` is neither proto2 nor proto3"),
        ("enum E { A = 0; }", "the file has no message"),
        ("message M { int32 a = 1; int32 b = 1; }", "M has two fields with the number 1"),
        ("message M { int32 a = 1; int64 a = 2; }", "M has two fields with the name a"),
        ("message M { int32 a = 0; }", "0 is not a valid field number (field M.a)"),
        ("message M { int32 a 1; }", "found `1`, expected `=`"),
        ("message M { int32 a = x; }", "found `x`, expected a whole number"),
        ("message M {", "the text ends inside a definition"),
        ("message A { " * 40, "the message A is nested more than 32 levels deep"),
        ('{"type": "record"}', "found `{`, expected a definition"),
    ],
)  # fmt: skip
def test_an_invalid_or_unsupported_file_is_refused(text: str, reason: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_proto(text)
    assert caught.value.reason == reason


def test_a_message_is_found_by_its_name_and_has_indexes() -> None:
    text = "message A { message B {} map<string, B> m = 1; message C { message D {} } } service S {} message E {}"
    assert message_indexes(parse_proto(text)) == {
        "A": (0,),
        "A.B": (0, 0),
        "A.C": (0, 1),
        "A.C.D": (0, 1, 0),
        "E": (1,),
    }
    assert read_proto(text).name == "A"
    with pytest.raises(FormatError):
        read_proto(text, "F")


def test_a_group_of_an_extension_counts_as_a_message_of_the_scope_of_the_extension() -> None:
    text = """
        message A { extensions 5 to 9; }
        extend A { optional int32 x = 5; repeated group Items = 6 [lazy = true] { optional int32 n = 1; }; }
        message B { extend A { optional group Inner = 7 { message Deep {} } } message C {} }
    """
    assert message_indexes(parse_proto(text)) == {
        "A": (0,),
        "Items": (1,),
        "B": (2,),
        "B.Inner": (2, 0),
        "B.Inner.Deep": (2, 0, 0),
        "B.C": (2, 1),
    }


@pytest.mark.parametrize(
    ("data", "indexes"),
    [
        (b"\0", (0,)),
        (b"\x02\0", (0,)),
        (b"\x04\x02\x04", (1, 2)),
        (b"\x02\x80\x02", (128,)),
        (b"\x01", None),
        (b"\x04\x02", None),
        (b"", None),
        (b"\xff" * 9, None),
    ],
)
def test_the_indexes_of_a_message_follow_the_schema_id(data: bytes, indexes: tuple[int, ...] | None) -> None:
    assert indexes_of_record(SCHEMA_ID + data) == indexes


def test_imported_types_become_part_of_the_file() -> None:
    money = (
        'syntax = "proto2"; package c; import "k.proto"; message Money { required int64 units = 1; optional K k = 2; }'
    )
    kinds = 'syntax = "proto3"; package c; enum K { EUR = 0; }'
    text = (
        'syntax = "proto3"; package s; import public "m.proto"; import "google/protobuf/timestamp.proto";'
        "message Order { c.Money total = 1; google.protobuf.Timestamp at = 2; int32 n = 3; oneof o { int32 a = 4; } }"
    )
    whole = inline_imports(text, {"m.proto": money, "k.proto": kinds})
    assert describe(read_proto(whole).type) == (
        "struct<total: struct<units: long, k: string>, at: timestamp, n: int not null, a: int>"
    )
    assert print_proto(parse_proto(whole)) == whole
    with pytest.raises(FormatError) as caught:
        inline_imports(text, {"m.proto": money})
    assert (caught.value.reason.code, caught.value.reason.params) == ("IMPORT_MISSING", {"name": "k.proto"})


def test_a_file_without_imports_is_unchanged() -> None:
    text = 'syntax = "proto3"; // kept\nmessage A {}'
    assert inline_imports(text, {"other.proto": "message B {}"}) == text


TYPES = [
    "struct<a: int not null, b: long, c: float, d: double, e: boolean, f: string not null, g: bytes, h: timestamp>",
    "struct<a: struct<x: int>, b: struct<x: struct<y: string not null>>>",
    "struct<a: array<int> not null, b: array<struct<x: long>> not null, c: map<string, struct<x: int>> not null>",
    "struct<a: decimal(20,0), A: struct<x: int>, b_c: struct<B_c: int>>",
]


@pytest.mark.parametrize("kind", TYPES)
def test_a_written_file_reads_back_as_the_same_type(kind: str) -> None:
    assert describe(read_proto(write_proto(parse_type(kind), "M", "a.b")).type) == kind


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("int", "a Protobuf message is a struct with fields, not int"),
        ("struct<a: date>", "Protobuf has no type date (field a)"),
        ("struct<a: decimal(38,18)>", "Protobuf has no type decimal(38,18) (field a)"),
        ("struct<a: array<array<int>>>", "Protobuf has no type array<int> inside array<array<int>> (field a)"),
        (
            "struct<a_b: int, aB: int>",
            "the fields a_b and aB have the same name in the JSON form of Protobuf",
        ),
        ("struct<`a b`: int>", "`a b` is not a valid field name: use letters, digits and _"),
    ],
)
def test_a_type_that_protobuf_cannot_hold_is_refused(kind: str, reason: str) -> None:
    with pytest.raises(FormatError) as caught:
        write_proto(parse_type(kind), "M", "")
    assert caught.value.reason == reason


def numbers(text: str) -> dict[str, int]:
    return {field.name: field.number for field in parse_proto(text).messages[0].fields}


def written(kind: str) -> str:
    return write_proto(parse_type(kind), "M", "")


class TestNumbers:
    def test_fields_keep_the_numbers_of_their_names(self) -> None:
        before = written("struct<a: int, b: int, c: int>")
        after = keep_field_numbers(written("struct<c: int, new: int, a: int>"), before)
        assert numbers(after) == {"c": 3, "new": 4, "a": 1}
        assert parse_proto(after).messages[0].reserved == ((2, 2),)

    def test_the_number_of_a_removed_field_is_never_used_again(self) -> None:
        before = keep_field_numbers(written("struct<a: int>"), written("struct<a: int, b: int>"))
        assert numbers(keep_field_numbers(written("struct<a: int, c: int>"), before)) == {"a": 1, "c": 3}

    def test_the_same_program_always_writes_the_same_text(self) -> None:
        program = written("struct<c: int, a: int>")
        first = keep_field_numbers(program, written("struct<a: int, b: int, c: int>"))
        assert keep_field_numbers(program, first) == first
        assert keep_field_numbers(first, first) == first

    def test_fields_of_nested_messages_keep_their_numbers(self) -> None:
        after = keep_field_numbers(written("struct<s: struct<y: int>>"), written("struct<s: struct<x: int, y: int>>"))
        assert parse_proto(after).messages[0].messages[0].fields[0].number == 2

    def test_reserved_numbers_are_skipped(self) -> None:
        before = "message M { reserved 2, 4 to 6; optional int32 a = 1; }"
        assert numbers(keep_field_numbers(written("struct<a: int, b: int, c: int>"), before)) == {
            "a": 1,
            "b": 3,
            "c": 7,
        }
        late = "message M { optional int32 a = 18999; }"
        assert numbers(keep_field_numbers(written("struct<a: int, b: int>"), late)) == {"a": 18999, "b": 20000}

    def test_an_unreadable_newest_version_is_ignored(self) -> None:
        text = written("struct<a: int>")
        assert keep_field_numbers(text, 'edition = "2024";') == text


def test_the_descriptor_for_the_jvm_has_every_property_of_a_field() -> None:
    text = (
        'syntax = "proto3"; message X {} message M { oneof o { E e = 5; } map<bool, int32> m = 6; enum E { A = 1; } }'
    )
    assert json.loads(descriptor(text, "M")) == {
        "name": "M",
        "indexes": [1],
        "fields": [
            {"name": "e", "number": 5, "kind": "enum", "presence": "optional", "oneof": "o", "symbols": [["A", 1]]},
            {"name": "m", "number": 6, "kind": "int32", "presence": "map", "key": "bool"},
        ],
    }


WORDS = st.sampled_from(
    'syntax = "proto3" ; message M { } enum oneof map < > , int32 a 1 -1 optional repeated reserved to max [ ] ( )'
    " option import package // /* */ ' \" . group extend service N edition 0x 1e5".split()
)


@given(st.lists(WORDS, max_size=40))
def test_any_text_is_a_file_or_refused(words: list[str]) -> None:
    for text in (" ".join(words), 'syntax = "proto3"; message M { ' + " ".join(words)):
        try:
            kind = read_proto(text).type
        except FormatError:
            continue
        assert isinstance(kind, Struct)


@given(st.text(max_size=60))
def test_any_characters_are_a_file_or_refused(text: str) -> None:
    try:
        indexes = message_indexes(parse_proto(text))
    except FormatError:
        return
    assert all(indexes.values())
