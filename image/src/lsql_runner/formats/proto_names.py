"""Names in `.proto` files: resolves type names, and lists messages with the indexes by which records refer to them."""

from __future__ import annotations

from collections.abc import Mapping

from lsql_runner.formats.proto_file import Presence, ProtoEnum, ProtoField, ProtoFile, ProtoMessage
from lsql_runner.formats.proto_text import parse_proto
from lsql_runner.formats.schema_id import SCHEMA_ID_BYTES

WELL_KNOWN = parse_proto(
    'syntax = "proto3"; package google.protobuf;'
    "message Timestamp { int64 seconds = 1; int32 nanos = 2; }"
    "message Duration { int64 seconds = 1; int32 nanos = 2; }"
    "message DoubleValue { double value = 1; } message FloatValue { float value = 1; }"
    "message Int64Value { int64 value = 1; } message UInt64Value { uint64 value = 1; }"
    "message Int32Value { int32 value = 1; } message UInt32Value { uint32 value = 1; }"
    "message BoolValue { bool value = 1; } message StringValue { string value = 1; }"
    "message BytesValue { bytes value = 1; }"
    "message Any { string type_url = 1; bytes value = 2; }"
    "message Empty {} message FieldMask { repeated string paths = 1; }"
    "message Struct { map<string, Value> fields = 1; }"
    "message Value { oneof kind { NullValue null_value = 1; double number_value = 2; string string_value = 3;"
    " bool bool_value = 4; Struct struct_value = 5; ListValue list_value = 6; } }"
    "message ListValue { repeated Value values = 1; } enum NullValue { NULL_VALUE = 0; }"
)
"""The well-known types of Protobuf. A file may import them although no text of them is given."""
_LONGEST_SHIFT = 28


def message_indexes(file: ProtoFile) -> dict[str, tuple[int, ...]]:
    """The indexes of every message of a file, by its name without the package (`Outer.Inner`): the indexes of its
    enclosing messages, and its own. Its records begin with them, after the schema id."""
    indexes: dict[str, tuple[int, ...]] = {}

    def add(messages: tuple[ProtoMessage, ...], outer: str, enclosing: tuple[int, ...]) -> None:
        for number, message in enumerate(messages):
            name = full_name(outer, message.name)
            indexes[name] = (*enclosing, number)
            add(message.messages, name, indexes[name])

    add(file.messages, "", ())
    return indexes


def is_first_message(text: str, name: str | None) -> bool:
    """Whether a message is the first of the file with this text. None means the first."""
    return name in (None, next(iter(message_indexes(parse_proto(text))), None))


def indexes_of_record(data: bytes) -> tuple[int, ...] | None:
    """The indexes after the schema id of a record; None if they are invalid."""
    at = SCHEMA_ID_BYTES
    numbers: list[int] = []
    count = None
    while count is None or len(numbers) < count:
        bits = shift = 0
        while True:
            if at >= len(data) or shift > _LONGEST_SHIFT:
                return None
            bits |= (data[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 0x80:
                break
        number = (bits >> 1) ^ -(bits & 1)
        if count is not None:
            numbers.append(number)
        else:
            count = number
            if not count:
                return (0,)
            if count < 0:
                return None
    return tuple(numbers)


def presence(field: ProtoField, file: ProtoFile) -> Presence:
    """The presence of a field, by its label and the syntax of the file."""
    if field.label:
        return field.label
    return "implicit" if field.oneof is None and file.syntax == "proto3" else "optional"


def resolve_name(name: str, scope: str, known: Mapping[str, object]) -> str | None:
    """The full name of the type that `name` refers to inside a message, in the innermost scope; None if unknown."""
    if name.startswith("."):
        return name[1:] if name[1:] in known else None
    while True:
        full = full_name(scope, name)
        if full in known:
            return full
        if not scope:
            return None
        scope = scope.rpartition(".")[0]


def types_of(file: ProtoFile) -> dict[str, ProtoMessage | ProtoEnum]:
    """Every message and enum of a file by its full name."""
    types: dict[str, ProtoMessage | ProtoEnum] = {full_name(file.package, enum.name): enum for enum in file.enums}

    def add(messages: tuple[ProtoMessage, ...], outer: str) -> None:
        for message in messages:
            name = full_name(outer, message.name)
            types[name] = message
            types.update({full_name(name, enum.name): enum for enum in message.enums})
            add(message.messages, name)

    add(file.messages, file.package)
    return types


def full_name(outer: str, name: str) -> str:
    return f"{outer}.{name}" if outer else name
