"""Converts Avro schemas to types of the language and back. Pure: text in, frozen types out.

Source: the Avro 1.12 specification. The engine decodes records to the same types.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lsql_runner.errors import DetailTable
from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.formats.spec import FieldNameError, FormatError, RecursiveTypeError
from lsql_runner.types import (
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    NULL,
    NUMERIC,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
    describe,
)

PRIMITIVES: dict[str, DataType] = {
    "null": NULL,
    "boolean": BOOLEAN,
    "int": INT,
    "long": LONG,
    "float": FLOAT,
    "double": DOUBLE,
    "bytes": BYTES,
    "string": STRING,
}
_LOGICAL: dict[tuple[str, str], DataType] = {
    ("int", "date"): DATE,
    ("int", "time-millis"): TIME,
    ("long", "time-micros"): TIME,
    **{
        ("long", f"{kind}-{unit}"): TIMESTAMP
        for kind in ("timestamp", "local-timestamp")
        for unit in ("millis", "micros", "nanos")
    },
}
"""By type and logical type. All other logical types are read as their plain type: `duration` as bytes. A union of one
of these and a plain number has no common type."""
_UUID_BYTES = 16
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_LARGEST_PRECISION = 38
_REASONS = DetailTable(
    {
        "NOT_JSON": "not JSON",
        "NOT_A_SCHEMA": "not an Avro schema",
        "NAME_MISSING": "{type} without a name",
        "TYPE_UNKNOWN": "unknown type {type}",
        "PRECISION_TOO_LARGE": "decimal with more than {limit} digits",
        "TYPE_UNSUPPORTED": "Avro has no type {type}",
    }
)


def read_avro(text: str) -> tuple[DataType, bool]:
    """The type of a schema's values, and whether they may be null.

    Raises:
        FormatError: the text is not an Avro schema, or it uses something that the language has no type for.
        RecursiveTypeError: a type of the schema contains itself.
    """
    return _Reader().read(parse_schema(text), "", "")


def avro_serde(form: Format, text: str) -> Serde:
    """The serde of a part in AVRO, or of a windowed key whose key is in AVRO.

    Raises:
        FormatError: as `read_avro`.
    """
    return Serde(
        form, read_avro(text)[0], schema=json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False)
    )


@dataclass
class _Reader:
    """Reads one schema. `named` holds the named types read so far, and None for those that are being read."""

    named: dict[str, DataType | None] = field(default_factory=dict)

    def read(self, schema: Any, place: str, namespace: str) -> tuple[DataType, bool]:
        if isinstance(schema, list):
            return self._union(schema, place, namespace)
        if isinstance(schema, str):
            kind = PRIMITIVES.get(schema) or self._by_name(schema, place, namespace)
            return kind, kind == NULL
        if not isinstance(schema, Mapping):
            raise FormatError(_REASONS("NOT_A_SCHEMA"), place)
        kind = self._read_definition(schema, place, namespace)
        return kind, kind == NULL

    def _by_name(self, name: str, place: str, namespace: str) -> DataType:
        full = name if "." in name or not namespace else f"{namespace}.{name}"
        for known in (full, name):
            if known in self.named:
                kind = self.named[known]
                if kind is None:
                    raise RecursiveTypeError(name, place)
                return kind
        raise FormatError(_REASONS("TYPE_UNKNOWN", type=name), place)

    def _read_definition(self, schema: Mapping[str, Any], place: str, namespace: str) -> DataType:
        kind = schema.get("type")
        if kind == "array":
            return Array(self.read(schema.get("items"), f"{place}[]", namespace)[0])
        if kind == "map":
            return Map(self.read(schema.get("values"), f"{place}{{}}", namespace)[0])
        if kind in ("record", "error"):
            return self._record(schema, place, namespace)
        if kind in ("enum", "fixed"):
            definition = STRING if kind == "enum" else _logical(schema, "fixed", BYTES, place)
            self.named[full_name(schema, place, namespace)] = definition
            return definition
        if isinstance(kind, str) and kind in PRIMITIVES:
            return _logical(schema, kind, PRIMITIVES[kind], place)
        return self.read(kind, place, namespace)[0]

    def _record(self, schema: Mapping[str, Any], place: str, namespace: str) -> DataType:
        name = full_name(schema, place, namespace)
        inner = name.rpartition(".")[0]
        self.named[name] = None
        fields = []
        for one in schema.get("fields") or ():
            path = _field_path(place, str(one["name"]))
            kind, nullable = self.read(one.get("type"), path, inner)
            fields.append(Field(one["name"], kind, nullable))
        self.named[name] = struct = Struct(tuple(fields))
        return struct

    def _union(self, branches: list[Any], place: str, namespace: str) -> tuple[DataType, bool]:
        """The type of the branches except null: one branch keeps its type, int and long become long, float and double
        become double; other branches become the fields of a struct; a value sets one of them."""
        present = [branch for branch in branches if not _is_null(branch)]
        nullable = len(present) < len(branches)
        if not present:
            return NULL, True
        if len(present) == 1:
            return self.read(present[0], place, namespace)[0], nullable
        read = [self.read(branch, _field_path(place, f"member{n}"), namespace)[0] for n, branch in enumerate(present)]
        kinds = set(read)
        if len(read) == 2 and not any(map(_is_logical_number, present)):
            if kinds == {INT, LONG}:
                return LONG, nullable
            if kinds == {FLOAT, DOUBLE}:
                return DOUBLE, nullable
        return Struct(tuple(Field(f"member{n}", kind) for n, kind in enumerate(read))), nullable


def _field_path(outer: str, name: str) -> str:
    return f"{outer}.{name}" if outer else name


def _is_null(branch: Any) -> bool:
    return branch == "null" or (isinstance(branch, Mapping) and branch.get("type") == "null")


def _is_logical_number(branch: Any) -> bool:
    return isinstance(branch, Mapping) and (branch.get("type"), branch.get("logicalType")) in _LOGICAL


def full_name(schema: Mapping[str, Any], place: str, namespace: str) -> str:
    """The name of a record, enum or fixed, with its namespace or the enclosing definition's.

    Raises:
        FormatError: it has no name.
    """
    name = schema.get("name")
    if not isinstance(name, str) or not name:
        raise FormatError(_REASONS("NAME_MISSING", type=str(schema.get("type"))), place)
    space = schema.get("namespace", namespace)
    return name if "." in name or not space else f"{space}.{name}"


def _logical(schema: Mapping[str, Any], kind: str, plain: DataType, place: str) -> DataType:
    """The type of a logical type. Unknown and invalid logical types are ignored, as the specification requires.

    Raises:
        FormatError: a decimal with more digits than any type has.
    """
    logical = schema.get("logicalType")
    if logical == "decimal" and kind in ("bytes", "fixed"):
        precision, scale = schema.get("precision"), schema.get("scale", 0)
        if not (isinstance(precision, int) and isinstance(scale, int) and 0 <= scale <= precision and precision > 0):
            return plain
        if kind == "fixed" and precision > _digits(schema.get("size")):
            return plain
        if precision > _LARGEST_PRECISION:
            raise FormatError(_REASONS("PRECISION_TOO_LARGE", limit=_LARGEST_PRECISION), place)
        return Decimal(precision, scale)
    if logical == "uuid" and kind == "fixed" and schema.get("size") == _UUID_BYTES:
        return STRING
    return _LOGICAL.get((kind, str(logical)), plain)


def _digits(size: Any) -> int:
    """The largest precision of a decimal in `size` bytes."""
    return len(str((1 << (8 * size - 1)) - 1)) - 1 if isinstance(size, int) and size > 0 else 0


def parse_schema(text: str) -> Any:
    """The JSON of a schema.

    Raises:
        FormatError: the text is not JSON.
    """
    try:
        return json.loads(text)
    except ValueError:
        raise FormatError(_REASONS("NOT_JSON")) from None


def write_avro(kind: DataType, nullable: bool, name: str, namespace: str) -> str:
    """The schema to write values of a type with. The same type gives the same text.

    Args:
        kind: the type of a record's key or value.
        nullable: whether the schema allows null. Tombstones need no schema that does: they have no bytes.
        name: the name of the outermost record; nested records are named after their fields.
        namespace: empty for none.

    Raises:
        FieldNameError: a field's name is not a valid Avro name.
        FormatError: Avro has no such type.
    """
    schema = _write_type(kind, name)
    if isinstance(schema, dict) and schema["type"] == "record" and namespace:
        schema = {"type": "record", "name": name, "namespace": namespace, "fields": schema["fields"]}
    return json.dumps(["null", schema] if nullable else schema, separators=(",", ":"), ensure_ascii=False)


_WRITTEN: dict[DataType, Any] = {
    **{kind: name for name, kind in PRIMITIVES.items()},
    NUMERIC: "long",
    DATE: {"type": "int", "logicalType": "date"},
    TIME: {"type": "long", "logicalType": "time-micros"},
    TIMESTAMP: {"type": "long", "logicalType": "timestamp-millis"},
}


def _write_type(kind: DataType, name: str) -> Any:
    match kind:
        case Decimal(precision, scale):
            return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
        case Array(element):
            return {"type": "array", "items": ["null", _write_type(element, f"{name}_item")]}
        case Map(value):
            return {"type": "map", "values": ["null", _write_type(value, f"{name}_value")]}
        case Struct(fields):
            return {"type": "record", "name": name, "fields": [_write_field(f, name) for f in fields]}
    avro_type = _WRITTEN.get(kind)
    if avro_type is None:
        raise FormatError(_REASONS("TYPE_UNSUPPORTED", type=describe(kind)))
    return avro_type


def _write_field(f: Field, record: str) -> dict[str, Any]:
    if not _NAME.match(f.name):
        raise FieldNameError(f.name)
    kind = _write_type(f.type, f"{record}_{f.name}")
    if not f.nullable or f.type == NULL:
        return {"name": f.name, "type": kind}
    return {"name": f.name, "type": ["null", kind], "default": None}
