"""The language's types to Protobuf messages, with the field numbers of earlier versions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lsql_runner.formats.proto_file import Label, ProtoError, ProtoField, ProtoFile, ProtoMessage, print_proto
from lsql_runner.formats.proto_schema import SCALAR_TYPES, UNSIGNED
from lsql_runner.formats.proto_text import parse_proto
from lsql_runner.types import (
    BOOLEAN,
    BYTES,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
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
    FLOAT: "float",
    DOUBLE: "double",
    BOOLEAN: "bool",
    STRING: "string",
    BYTES: "bytes",
    UNSIGNED: "uint64",
    TIMESTAMP: _TIMESTAMP,
}
_PROTOBUFS_OWN = (19_000, 19_999)
"""Numbers that no field may have."""


def write_proto(kind: DataType, name: str, package: str) -> str:
    """The file that values of a type are written with. The first message is theirs; fields are numbered from 1.

    Args:
        name: of the message; nested messages take the names of their fields.
        package: empty for none.

    Raises:
        ProtoError: Protobuf has no such type, or not this field name.
    """
    if not isinstance(kind, Struct):
        raise ProtoError(f"a record of Protobuf is a struct of fields, not {describe(kind)}")
    text = print_proto(ProtoFile("proto3", package, (), (_message(kind, name),)))
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
            raise ProtoError(f"`{member.name}` is not a valid Protobuf field name: use letters, digits and _")
        before = known.setdefault(_json_name(member.name), member.name)
        if before != member.name:
            raise ProtoError(
                f"the fields {before} and {member.name} are the same to Protobuf, which has them in JSON too"
            )
        label: Label
        match member.type:
            case Array(element):
                one, label = element, "repeated"
            case Map(value):
                one, label = value, "map"
            case _:
                one, label = member.type, "optional" if member.nullable else ""
        if isinstance(one, Struct):
            called = _free(member.name[0].upper() + member.name[1:], taken)
            taken.add(called)
            inner.append(_message(one, called))
        else:
            called = _scalar(one, member)
        fields.append(ProtoField(member.name, number, called, label, "string" if label == "map" else None))
    return ProtoMessage(name, tuple(fields), tuple(inner))


def _json_name(name: str) -> str:
    """The name of a field in JSON. Compilers refuse two fields of a message with the same one."""
    first, *more = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in more)


def _scalar(kind: DataType, member: Field) -> str:
    found = _TYPES.get(kind)
    if found is None:
        raise ProtoError(f"Protobuf has no {describe(kind)}{_within(kind, member)}")
    return found


def _within(kind: DataType, member: Field) -> str:
    return f": field {member.name}" + ("" if kind == member.type else f", {describe(member.type)}")


def _free(name: str, taken: set[str]) -> str:
    while name in taken or name in SCALAR_TYPES:
        name += "_"
    return name


def renumbered(text: str, newest: str) -> str:
    """A file with the numbers that fields of the same names have in the newest version of its subject.

    New fields get numbers that were never used; the numbers of removed fields are reserved. The text is unchanged if
    the numbers are, or if the newest version cannot be read.
    """
    file = parse_proto(text)
    try:
        before = parse_proto(newest)
    except ProtoError:
        return text
    earlier = {message.name: message for message in before.messages}
    # The first message is the record's, whatever it is called now.
    messages = tuple(
        _kept(one, earlier.get(one.name) or (before.messages[0] if not place and before.messages else None))
        for place, one in enumerate(file.messages)
    )
    return text if messages == file.messages else print_proto(replace(file, messages=messages))


def _kept(message: ProtoMessage, before: ProtoMessage | None) -> ProtoMessage:
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
    inner = tuple(_kept(one, earlier.get(one.name)) for one in message.messages)
    used = {field.number for field in fields}
    reserved = tuple(one for one in ranges if not any(one[0] <= n <= one[1] for n in used))
    return replace(message, fields=tuple(fields), messages=inner, reserved=reserved)


def _next(number: int, ranges: Iterable[tuple[int, int]]) -> int:
    """The next larger number that a field may have."""
    number += 1
    while ends := [end for start, end in (*ranges, _PROTOBUFS_OWN) if start <= number <= end]:
        number = max(ends) + 1
    return number
