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
from lsql_runner.formats.proto_names import WELL_KNOWN, full_name, message_indexes, presence, resolve_name, types_of
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSpec:
    """A field of a message with its resolved type, as the JVM reads and writes it.

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
    inner: tuple[FieldSpec, ...] = ()

    @property
    def member(self) -> Field:
        """The field of a struct with the values of this field. Arrays and maps are never null: Protobuf has empty ones
        instead."""
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
                return Struct(tuple(spec.member for spec in self.inner))
        return SCALAR_TYPES[self.kind]


@dataclass(frozen=True, slots=True)
class MessageSpec:
    """A message of a file: its name (`Outer.Inner`), its indexes in the file, its fields."""

    name: str
    indexes: tuple[int, ...]
    fields: tuple[FieldSpec, ...]

    @property
    def type(self) -> Struct:
        return Struct(tuple(spec.member for spec in self.fields))


def read_proto(text: str, name: str | None = None) -> MessageSpec:
    """A message of a file that imports only the well-known types; the first message if `name` is None.

    Raises:
        FormatError: the text is not such a file, it has no such message, or the language has no type for a field.
        RecursiveTypeError: the message contains itself.
    """
    file = parse_proto(text)
    indexes = message_indexes(file)
    if not indexes:
        raise FormatError(_REASONS("MESSAGE_MISSING"))
    chosen = next(iter(indexes)) if name is None else name
    if chosen not in indexes:
        raise FormatError(_REASONS("MESSAGE_UNKNOWN", name=chosen, known=", ".join(indexes)))
    full = full_name(file.package, chosen)
    return MessageSpec(chosen, indexes[chosen], _Reader(file).fields(full, "", ()))


def proto_serde(form: Format, text: str, name: str | None = None) -> Serde:
    """The serde of a part in PROTOBUF, or of a windowed key whose key is in PROTOBUF.

    Raises:
        FormatError: as `read_proto`.
    """
    message = read_proto(text, name)
    return Serde(form, message.type, schema=text, options=(("message", message.name),))


def descriptor(text: str, name: str | None = None) -> str:
    """A message for the JVM (com.lsqlrunner.protobuf.MessageSpec), as JSON.

    Raises:
        FormatError: as `read_proto`.
    """
    message = read_proto(text, name)
    return json.dumps(
        {"name": message.name, "indexes": message.indexes, "fields": [_describe(spec) for spec in message.fields]},
        separators=(",", ":"),
        ensure_ascii=False,
    )


def _describe(spec: FieldSpec) -> dict[str, object]:
    description: dict[str, object] = {
        "name": spec.name,
        "number": spec.number,
        "kind": spec.kind,
        "presence": spec.presence,
    }
    if spec.oneof is not None:
        description["oneof"] = spec.oneof
    if spec.key is not None:
        description["key"] = spec.key
    if spec.symbols:
        description["symbols"] = spec.symbols
    if spec.inner:
        description["fields"] = [_describe(one) for one in spec.inner]
    return description


class _Reader:
    """Reads messages, and resolves the type names of their fields."""

    def __init__(self, file: ProtoFile) -> None:
        self._file = file
        self._known: dict[str, tuple[ProtoFile, ProtoMessage | ProtoEnum]] = {}
        for one in (WELL_KNOWN, file):
            self._known |= {name: (one, kind) for name, kind in types_of(one).items()}

    def fields(self, full: str, path: str, enclosing: tuple[str, ...]) -> tuple[FieldSpec, ...]:
        """The fields of the message with this full name, inside the messages `enclosing`; `path` is for errors."""
        file, message = self._known[full]
        assert isinstance(message, ProtoMessage)
        if full in enclosing:
            raise RecursiveTypeError(full, path)
        return tuple(
            self._field(field, file, full, f"{path}.{field.name}" if path else field.name, (*enclosing, full))
            for field in message.fields
        )

    def _field(
        self, field: ProtoField, file: ProtoFile, scope: str, path: str, enclosing: tuple[str, ...]
    ) -> FieldSpec:
        spec = FieldSpec(
            name=field.name,
            number=field.number,
            kind=field.type,
            presence=presence(field, file),
            oneof=field.oneof,
            key=field.key,
        )
        if field.key is not None and (field.key not in SCALAR_TYPES or field.key in _NOT_MAP_KEYS):
            raise FormatError(_REASONS("MAP_KEY_TYPE", type=field.key), path)
        if field.type in SCALAR_TYPES:
            return spec
        full = resolve_name(field.type, scope, self._known)
        if full is None:
            raise FormatError(_REASONS("TYPE_UNKNOWN", type=field.type), path)
        kind = self._known[full][1]
        if isinstance(kind, ProtoEnum):
            return replace(spec, kind="enum", symbols=kind.values)
        if spec.presence == "implicit":
            spec = replace(spec, presence="optional")
        return replace(spec, kind=_SHAPES.get(full, "message"), inner=self.fields(full, path, enclosing))
