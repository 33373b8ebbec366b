"""Converts types of the language to Protobuf messages that keep the field numbers of earlier versions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lsql_runner.errors import DetailTable
from lsql_runner.formats.proto_file import Label, ProtoField, ProtoFile, ProtoMessage, print_proto
from lsql_runner.formats.proto_schema import SCALAR_TYPES, UNSIGNED
from lsql_runner.formats.proto_text import parse_proto
from lsql_runner.formats.spec import FieldNameError, FormatError
from lsql_runner.types import (
    BOOLEAN,
    BYTES,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    NUMERIC,
    STRING,
    TIMESTAMP,
    Array,
    DataType,
    Field,
    Map,
    Struct,
    describe,
)

_TIMESTAMP = "google.protobuf.Timestamp"
_TYPES: dict[DataType, str] = {
    INT: "int32",
    LONG: "int64",
    NUMERIC: "int64",
    FLOAT: "float",
    DOUBLE: "double",
    BOOLEAN: "bool",
    STRING: "string",
    BYTES: "bytes",
    UNSIGNED: "uint64",
    TIMESTAMP: _TIMESTAMP,
}
_RESERVED_BY_PROTOBUF = (19_000, 19_999)
"""Numbers that no field may have."""
_REASONS = DetailTable(
    {
        "NOT_A_STRUCT": "a Protobuf message is a struct with fields, not {type}",
        "JSON_NAMES_EQUAL": "the fields {first} and {second} have the same name in the JSON form of Protobuf",
        "TYPE_UNSUPPORTED": "Protobuf has no type {type}",
        "INNER_TYPE_UNSUPPORTED": "Protobuf has no type {type} inside {outer}",
    }
)


def write_proto(kind: DataType, name: str, package: str) -> str:
    """The file to write values of a type with. Its first message is the record; fields are numbered from 1.

    Args:
        name: the name of the message; nested messages are named after their fields.
        package: empty for none.

    Raises:
        FieldNameError: Protobuf does not allow the name of a field.
        FormatError: Protobuf has no such type.
    """
    if not isinstance(kind, Struct):
        raise FormatError(_REASONS("NOT_A_STRUCT", type=describe(kind)))
    text = print_proto(ProtoFile(syntax="proto3", package=package, imports=(), messages=(_message(kind, name),)))
    if _TIMESTAMP in text:
        file = parse_proto(text)
        text = print_proto(replace(file, imports=("google/protobuf/timestamp.proto",)))
    return text


def _message(kind: Struct, name: str) -> ProtoMessage:
    fields: list[ProtoField] = []
    inner: list[ProtoMessage] = []
    taken = {name, *kind.names}
    known: dict[str, str] = {}
    for number, member in enumerate(kind.fields, 1):
        if not (member.name.isascii() and member.name.isidentifier()):
            raise FieldNameError(member.name)
        before = known.setdefault(_json_name(member.name), member.name)
        if before != member.name:
            raise FormatError(_REASONS("JSON_NAMES_EQUAL", first=before, second=member.name))
        label: Label
        match member.type:
            case Array(element):
                one, label = element, "repeated"
            case Map(value):
                one, label = value, "map"
            case _:
                one, label = member.type, "optional" if member.nullable else ""
        if isinstance(one, Struct):
            type_name = _unused_name(member.name[0].upper() + member.name[1:], taken)
            taken.add(type_name)
            inner.append(_message(one, type_name))
        else:
            type_name = _scalar(one, member)
        fields.append(
            ProtoField(
                name=member.name, number=number, type=type_name, label=label, key="string" if label == "map" else None
            )
        )
    return ProtoMessage(name=name, fields=tuple(fields), messages=tuple(inner))


def _json_name(name: str) -> str:
    """The name of a field in JSON. Compilers reject messages with two fields of the same JSON name."""
    first, *more = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in more)


def _scalar(kind: DataType, member: Field) -> str:
    scalar = _TYPES.get(kind)
    if scalar is None:
        if kind == member.type:
            raise FormatError(_REASONS("TYPE_UNSUPPORTED", type=describe(kind)), member.name)
        reason = _REASONS("INNER_TYPE_UNSUPPORTED", type=describe(kind), outer=describe(member.type))
        raise FormatError(reason, member.name)
    return scalar


def _unused_name(name: str, taken: set[str]) -> str:
    while name in taken or name in SCALAR_TYPES:
        name += "_"
    return name


def keep_field_numbers(text: str, newest: str) -> str:
    """A file whose fields have the numbers of the fields with the same names in the newest version of its subject.

    New fields get numbers that were never used; the numbers of removed fields are reserved. The text is unchanged if
    no number changes, or if the newest version cannot be parsed.
    """
    file = parse_proto(text)
    try:
        before = parse_proto(newest)
    except FormatError:
        return text
    earlier = {message.name: message for message in before.messages}
    # The first message is the record, even if its name has changed.
    messages = tuple(
        _keep_numbers(one, earlier.get(one.name) or (before.messages[0] if not place and before.messages else None))
        for place, one in enumerate(file.messages)
    )
    return text if messages == file.messages else print_proto(replace(file, messages=messages))


def _keep_numbers(message: ProtoMessage, before: ProtoMessage | None) -> ProtoMessage:
    if before is None:
        return message
    numbers = {field.name: field.number for field in before.fields}
    gone = {n for name, n in numbers.items() if all(field.name != name for field in message.fields)}
    ranges = sorted({*message.reserved, *before.reserved, *((n, n) for n in gone)})
    highest = max((0, *numbers.values()))
    fields = []
    for field in message.fields:
        number = numbers.get(field.name)
        if number is None:
            highest = number = _next(highest, ranges)
        fields.append(replace(field, number=number))
    earlier = {inner.name: inner for inner in before.messages}
    inner = tuple(_keep_numbers(one, earlier.get(one.name)) for one in message.messages)
    used = {field.number for field in fields}
    reserved = tuple(one for one in ranges if not any(one[0] <= n <= one[1] for n in used))
    return replace(message, fields=tuple(fields), messages=inner, reserved=reserved)


def _next(number: int, ranges: Iterable[tuple[int, int]]) -> int:
    """The next larger number that a field may have."""
    number += 1
    while ends := [end for start, end in (*ranges, _RESERVED_BY_PROTOBUF) if start <= number <= end]:
        number = max(ends) + 1
    return number
