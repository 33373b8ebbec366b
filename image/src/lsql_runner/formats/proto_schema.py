"""Protobuf messages to the language's types. Pure: text in, frozen data out.

Source: the specifications of proto2 and proto3, and of their JSON mapping for what a map's keys are as text. A message
is read by the numbers of its fields, so the schema that a record was written with is not needed to read it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.formats.proto_text import (
    ProtoEnum,
    ProtoError,
    ProtoField,
    ProtoFile,
    ProtoMessage,
    parse_proto,
    print_proto,
)
from lsql_runner.formats.schema_id import SCHEMA_ID_BYTES
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
"""What holds every number of uint64."""
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
_NO_KEYS = ("double", "float", "bytes")
_SHAPES: dict[str, Literal["timestamp", "wrapper"]] = {
    "google.protobuf.Timestamp": "timestamp",
    **{
        f"google.protobuf.{name}Value": "wrapper"
        for name in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
    },
}
"""Messages of Protobuf's own that are one value here."""
_WELL_KNOWN = parse_proto(
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
_OF_GOOGLE = "google/protobuf/"
_LONGEST_SHIFT = 28


@dataclass(frozen=True, slots=True)
class Slot:
    """A field with all that reading and writing it needs.

    Args:
        kind: a scalar's name, `enum`, `message`, `timestamp` or `wrapper`.
        presence: of one value `implicit` (its zero is not written), `optional` or `required`; `repeated`; `map`.
        key: a map's keys: a scalar's name.
        symbols: of an enum.
        inner: fields of a message, also of a timestamp and a wrapper.
    """

    name: str
    number: int
    kind: str
    presence: Literal["implicit", "optional", "required", "repeated", "map"]
    oneof: str | None = None
    key: str | None = None
    symbols: tuple[tuple[str, int], ...] = ()
    inner: tuple[Slot, ...] = ()

    @property
    def member(self) -> Field:
        """The field of a struct that it is. Arrays and maps are never null: Protobuf has them empty."""
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
    """A message of a file: its name within the file (`Outer.Inner`), its place in it, its fields."""

    name: str
    place: tuple[int, ...]
    slots: tuple[Slot, ...]

    @property
    def type(self) -> Struct:
        return Struct(tuple(slot.member for slot in self.slots))


def read_proto(text: str, name: str | None = None) -> Message:
    """A message of a file that imports no files but Protobuf's own; the first where none is named.

    Raises:
        ProtoError: it is no such file, has no such message, or the message holds what no type stands for.
    """
    file = parse_proto(text)
    names = message_names(file)
    if not names:
        raise ProtoError("the file has no message")
    chosen = next(iter(names)) if name is None else name
    if chosen not in names:
        raise ProtoError(f"the file has no message {chosen}; it has {', '.join(names)}")
    full = _full(file.package, chosen)
    return Message(chosen, names[chosen], _Reader(file).slots(full, "", ()))


def message_names(file: ProtoFile) -> dict[str, tuple[int, ...]]:
    """Every message of a file by its name within it, with its place: the numbers that records have before them."""
    found: dict[str, tuple[int, ...]] = {}

    def add(messages: tuple[ProtoMessage, ...], outer: str, place: tuple[int, ...]) -> None:
        for number, message in enumerate(messages):
            name = _full(outer, message.name)
            found[name] = (*place, number)
            add(message.messages, name, found[name])

    add(file.messages, "", ())
    return found


def is_first(text: str, name: str | None) -> bool:
    """Whether a message is the first of its file, which records name in one byte; None is that one."""
    return name in (None, next(iter(message_names(parse_proto(text))), None))


def message_place(data: bytes) -> tuple[int, ...] | None:
    """Which message of its file a record holds, by the numbers after its schema id; None if they make no sense."""
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


def proto_serde(form: Format, text: str, name: str | None = None) -> Serde:
    """How a part in PROTOBUF is read, alone or within a windowed key.

    Raises:
        ProtoError: as `read_proto`.
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
    """Looks types up by the names that fields call them."""

    def __init__(self, file: ProtoFile) -> None:
        self._file = file
        self._known: dict[str, tuple[ProtoFile, ProtoMessage | ProtoEnum]] = {}
        for one in (_WELL_KNOWN, file):
            self._known |= {name: (one, kind) for name, kind in _types(one).items()}

    def slots(self, full: str, place: str, around: tuple[str, ...]) -> tuple[Slot, ...]:
        """The fields of the message with this full name."""
        file, message = self._known[full]
        assert isinstance(message, ProtoMessage)
        if full in around:
            raise ProtoError(f"{place} contains itself ({full})")
        return tuple(
            self._slot(field, file, full, f"{place}.{field.name}" if place else field.name, (*around, full))
            for field in message.fields
        )

    def _slot(self, field: ProtoField, file: ProtoFile, scope: str, place: str, around: tuple[str, ...]) -> Slot:
        slot = Slot(field.name, field.number, field.type, _presence(field, file), field.oneof, field.key)
        if field.key is not None and (field.key not in SCALAR_TYPES or field.key in _NO_KEYS):
            raise ProtoError(f"{place} is a map whose keys are {field.key}")
        if field.type in SCALAR_TYPES:
            return slot
        full = resolved(field.type, scope, self._known)
        if full is None:
            raise ProtoError(f"{place} names the unknown type {field.type}")
        kind = self._known[full][1]
        if isinstance(kind, ProtoEnum):
            return replace(slot, kind="enum", symbols=kind.values)
        if slot.presence == "implicit":
            slot = replace(slot, presence="optional")
        return replace(slot, kind=_SHAPES.get(full, "message"), inner=self.slots(full, place, around))


def _presence(field: ProtoField, file: ProtoFile) -> Literal["implicit", "optional", "required", "repeated", "map"]:
    if field.label:
        return field.label
    return "implicit" if field.oneof is None and file.syntax == "proto3" else "optional"


def resolved(name: str, scope: str, known: Mapping[str, object]) -> str | None:
    """The full name of the type that `name` means within a message: the innermost scope that has it."""
    if name.startswith("."):
        return name[1:] if name[1:] in known else None
    while True:
        full = _full(scope, name)
        if full in known:
            return full
        if not scope:
            return None
        scope = scope.rpartition(".")[0]


def _types(file: ProtoFile) -> dict[str, ProtoMessage | ProtoEnum]:
    """Every message and enum of a file by its full name."""
    found: dict[str, ProtoMessage | ProtoEnum] = {_full(file.package, enum.name): enum for enum in file.enums}

    def add(messages: tuple[ProtoMessage, ...], outer: str) -> None:
        for message in messages:
            name = _full(outer, message.name)
            found[name] = message
            found.update({_full(name, enum.name): enum for enum in message.enums})
            add(message.messages, name)

    add(file.messages, file.package)
    return found


def _full(outer: str, name: str) -> str:
    return f"{outer}.{name}" if outer else name


def whole_proto(text: str, imports: Mapping[str, str]) -> str:
    """One file that needs no other but Protobuf's own: what it imports stands behind its own messages, renamed.

    Args:
        text: the file.
        imports: other files by the names that they are imported by, those that they import too.

    Raises:
        ProtoError: one of them is no such file, or there is no file of a name.
    """
    file = parse_proto(text)
    others = _imported(file, imports, {})
    if not others:
        return text
    moved = {}  # the full name of what is imported: the one that it has in the file
    for other in others.values():
        for name in _types(other):
            own = name.removeprefix(f"{other.package}.")
            prefix = f"{other.package.replace('.', '_')}_" if other.package else "imported_"
            moved[name] = _full(file.package, prefix + own)
    known = {**{name: name for name in (*_types(_WELL_KNOWN), *_types(file))}, **moved}
    messages, enums = list(_rewritten(file, known, "")[0]), list(file.enums)
    for other in others.values():
        prefix = f"{other.package.replace('.', '_')}_" if other.package else "imported_"
        more, kinds = _rewritten(other, known, prefix)
        messages += more
        enums += kinds
    google = sorted({name for one in (file, *others.values()) for name in one.imports if name.startswith(_OF_GOOGLE)})
    # Of the two, only proto3 has both kinds of presence.
    return print_proto(ProtoFile("proto3", file.package, tuple(google), tuple(messages), tuple(enums)))


def _imported(file: ProtoFile, texts: Mapping[str, str], found: dict[str, ProtoFile]) -> dict[str, ProtoFile]:
    for name in file.imports:
        if name in found or name.startswith(_OF_GOOGLE):
            continue
        if name not in texts:
            raise ProtoError(f"it imports {name}, which it has no reference for")
        found[name] = parse_proto(texts[name])
        _imported(found[name], texts, found)
    return found


def _rewritten(
    file: ProtoFile, known: Mapping[str, str], prefix: str
) -> tuple[tuple[ProtoMessage, ...], tuple[ProtoEnum, ...]]:
    """The types of a file with full names for what fields name; the outermost have a prefix."""

    def field(one: ProtoField, scope: str) -> ProtoField:
        full = None if one.type in SCALAR_TYPES else resolved(one.type, scope, known)
        presence = _presence(one, file)
        label = "" if presence == "implicit" or one.oneof else "optional" if presence == "required" else presence
        return replace(one, type=one.type if full is None else f".{known[full]}", label=label)

    def message(one: ProtoMessage, outer: str) -> ProtoMessage:
        name = _full(outer, one.name)
        fields = tuple(field(f, name) for f in one.fields)
        return replace(one, fields=fields, messages=tuple(message(inner, name) for inner in one.messages))

    messages = (message(one, file.package) for one in file.messages)
    return (
        tuple(replace(one, name=prefix + one.name) for one in messages),
        tuple(replace(one, name=prefix + one.name) for one in file.enums),
    )
