"""The parts of a `.proto` file that determine the bytes of messages, as frozen data, and their text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Label = Literal["", "optional", "required", "repeated", "map"]
Presence = Literal["implicit", "optional", "required", "repeated", "map"]
"""`implicit`: a missing value is the zero of its type, and the zero is not written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtoField:
    """A field of a message; `key` is the type of a map's keys."""

    name: str
    number: int
    type: str
    label: Label = ""
    key: str | None = None
    oneof: str | None = None


@dataclass(frozen=True, slots=True)
class ProtoEnum:
    name: str
    values: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtoMessage:
    name: str
    fields: tuple[ProtoField, ...] = ()
    messages: tuple[ProtoMessage, ...] = ()
    enums: tuple[ProtoEnum, ...] = ()
    reserved: tuple[tuple[int, int], ...] = ()
    """Ranges of numbers that no field may have, both ends included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtoFile:
    syntax: Literal["proto2", "proto3"]
    package: str
    imports: tuple[str, ...]
    messages: tuple[ProtoMessage, ...]
    enums: tuple[ProtoEnum, ...] = ()


def print_proto(file: ProtoFile) -> str:
    """The text of a file. The same data gives the same text."""
    lines = [f'syntax = "{file.syntax}";']
    lines += [f"package {file.package};"] if file.package else []
    lines += [f'import "{name}";' for name in file.imports]
    for one in file.enums:
        lines += ["", *_enum_lines(one, "")]
    for message in file.messages:
        lines += ["", *_message_lines(message, "")]
    return "\n".join(lines) + "\n"


def _message_lines(message: ProtoMessage, indent: str) -> Iterator[str]:
    inner = indent + "  "
    yield f"{indent}message {message.name} {{"
    if message.reserved:
        ranges = ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in message.reserved)
        yield f"{inner}reserved {ranges};"
    for enum in message.enums:
        yield from _enum_lines(enum, inner)
    for nested in message.messages:
        yield from _message_lines(nested, inner)
    shown: set[str] = set()
    for field in message.fields:
        if field.oneof is None:
            yield f"{inner}{_field_text(field)}"
        elif field.oneof not in shown:
            shown.add(field.oneof)
            yield f"{inner}oneof {field.oneof} {{"
            yield from (f"{inner}  {_field_text(one)}" for one in message.fields if one.oneof == field.oneof)
            yield f"{inner}}}"
    yield f"{indent}}}"


def _field_text(field: ProtoField) -> str:
    kind = f"map<{field.key}, {field.type}>" if field.label == "map" else f"{field.label} {field.type}".lstrip()
    return f"{kind} {field.name} = {field.number};"


def _enum_lines(enum: ProtoEnum, indent: str) -> Iterator[str]:
    yield f"{indent}enum {enum.name} {{"
    if len({number for _, number in enum.values}) < len(enum.values):
        yield f"{indent}  option allow_alias = true;"
    yield from (f"{indent}  {name} = {number};" for name, number in enum.values)
    yield f"{indent}}}"
