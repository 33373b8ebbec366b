"""Converts Protobuf messages to types of the language. Pure: text in, frozen data out.

Source: the specifications of proto2 and proto3, and their JSON mapping for the keys of maps. A message is read by the
numbers of its fields, so reading a record does not need the schema with which it was written.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Literal

from lsql_runner.errors import DetailTable
from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.formats.proto_file import Presence, ProtoEnum, ProtoField, ProtoFile, ProtoMessage
from lsql_runner.formats.proto_names import WELL_KNOWN, full_name, message_names, presence, resolved, types_of
from lsql_runner.formats.proto_text import parse_proto
from lsql_runner.formats.spec import FormatError, RecursiveTypeError
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
    Decimal,
    Field,
    Map,
    Struct,
)

UNSIGNED = Decimal(20, 0)
"""Holds every uint64."""
SCALAR_TYPES: dict[str, DataType] = {
    "double": DOUBLE,
    "float": FLOAT,
    **dict.fromkeys(("int32", "sint32", "sfixed32"), INT),
    **dict.fromkeys(("uint32", "fixed32", "int64", "sint64", "sfixed64"), LONG),
    **dict.fromkeys(("uint64", "fixed64"), UNSIGNED),
    "bool": BOOLEAN,
    "string": STRING,
    "bytes": BYTES,
}
_NOT_MAP_KEYS = ("double", "float", "bytes")
_SHAPES: dict[str, Literal["timestamp", "wrapper"]] = {
    "google.protobuf.Timestamp": "timestamp",
    **{
        f"google.protobuf.{name}Value": "wrapper"
        for name in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
    },
}
"""Well-known messages that are read as one value."""
_REASONS = DetailTable(
    {
        "MESSAGE_MISSING": "the file has no message",
        "MESSAGE_UNKNOWN": "the file has no message {name}; its messages are {known}",
        "MAP_KEY_TYPE": "the keys of a map cannot have the type {type}",
        "TYPE_UNKNOWN": "unknown type {type}",
    }
)


@dataclass(frozen=True, slots=True)
class Slot:
    """A field, with everything that is needed to read and write it.

    Args:
        kind: the name of a scalar type, `enum`, `message`, `timestamp` or `wrapper`.
        presence: `implicit` (the zero is not written), `optional` or `required` for one value; `repeated`; `map`.
        key: the scalar type of a map's keys.
        symbols: names and numbers of an enum.
        inner: fields of a message, a timestamp or a wrapper.
    """

    name: str
    number: int
    kind: str
    presence: Presence
    oneof: str | None = None
    key: str | None = None
    symbols: tuple[tuple[str, int], ...] = ()
    inner: tuple[Slot, ...] = ()

    @property
    def member(self) -> Field:
        """The field of the struct type. Arrays and maps are never null: Protobuf has empty ones instead."""
        one = self._one
        if self.presence == "repeated":
            return Field(self.name, Array(one), False)
        if self.presence == "map":
            return Field(self.name, Map(one), False)
        return Field(self.name, one, self.presence == "optional")

    @property
    def _one(self) -> DataType:
        match self.kind:
            case "enum":
                return STRING
            case "timestamp":
                return TIMESTAMP
            case "wrapper":
                return self.inner[0]._one
            case "message":
                return Struct(tuple(slot.member for slot in self.inner))
        return SCALAR_TYPES[self.kind]


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a file: its name (`Outer.Inner`), its place in the file, its fields."""

    name: str
    place: tuple[int, ...]
    slots: tuple[Slot, ...]

    @property
    def type(self) -> Struct:
        return Struct(tuple(slot.member for slot in self.slots))


def read_proto(text: str, name: str | None = None) -> Message:
    """A message of a file that imports only the well-known types; the first message if `name` is None.

    Raises:
        FormatError: the text is not such a file, it has no such message, or the language has no type for a field.
        RecursiveTypeError: the message contains itself.
    """
    file = parse_proto(text)
    names = message_names(file)
    if not names:
        raise FormatError(_REASONS("MESSAGE_MISSING"))
    chosen = next(iter(names)) if name is None else name
    if chosen not in names:
        raise FormatError(_REASONS("MESSAGE_UNKNOWN", name=chosen, known=", ".join(names)))
    full = full_name(file.package, chosen)
    return Message(chosen, names[chosen], _Reader(file).slots(full, "", ()))


def proto_serde(form: Format, text: str, name: str | None = None) -> Serde:
    """The serde of a part in PROTOBUF, alone or inside a windowed key.

    Raises:
        FormatError: as `read_proto`.
    """
    message = read_proto(text, name)
    return Serde(form, message.type, text, options=(("message", message.name),))


def descriptor(text: str, name: str | None = None) -> str:
    """A message for the JVM, as JSON: its name, its place in the file, its fields."""
    message = read_proto(text, name)
    return json.dumps(
        {"name": message.name, "place": message.place, "fields": [_described(slot) for slot in message.slots]},
        separators=(",", ":"),
        ensure_ascii=False,
    )


def _described(slot: Slot) -> dict[str, object]:
    found: dict[str, object] = {
        "name": slot.name,
        "number": slot.number,
        "kind": slot.kind,
        "presence": slot.presence,
    }
    if slot.oneof is not None:
        found["oneof"] = slot.oneof
    if slot.key is not None:
        found["key"] = slot.key
    if slot.symbols:
        found["symbols"] = slot.symbols
    if slot.inner:
        found["fields"] = [_described(one) for one in slot.inner]
    return found


class _Reader:
    """Reads messages, and resolves the type names of their fields."""

    def __init__(self, file: ProtoFile) -> None:
        self._file = file
        self._known: dict[str, tuple[ProtoFile, ProtoMessage | ProtoEnum]] = {}
        for one in (WELL_KNOWN, file):
            self._known |= {name: (one, kind) for name, kind in types_of(one).items()}

    def slots(self, full: str, place: str, around: tuple[str, ...]) -> tuple[Slot, ...]:
        """The fields of the message with this full name."""
        file, message = self._known[full]
        assert isinstance(message, ProtoMessage)
        if full in around:
            raise RecursiveTypeError(full, place)
        return tuple(
            self._slot(field, file, full, f"{place}.{field.name}" if place else field.name, (*around, full))
            for field in message.fields
        )

    def _slot(self, field: ProtoField, file: ProtoFile, scope: str, place: str, around: tuple[str, ...]) -> Slot:
        slot = Slot(field.name, field.number, field.type, presence(field, file), field.oneof, field.key)
        if field.key is not None and (field.key not in SCALAR_TYPES or field.key in _NOT_MAP_KEYS):
            raise FormatError(_REASONS("MAP_KEY_TYPE", type=field.key), place)
        if field.type in SCALAR_TYPES:
            return slot
        full = resolved(field.type, scope, self._known)
        if full is None:
            raise FormatError(_REASONS("TYPE_UNKNOWN", type=field.type), place)
        kind = self._known[full][1]
        if isinstance(kind, ProtoEnum):
            return replace(slot, kind="enum", symbols=kind.values)
        if slot.presence == "implicit":
            slot = replace(slot, presence="optional")
        return replace(slot, kind=_SHAPES.get(full, "message"), inner=self.slots(full, place, around))
