"""Converts values of case files to Avro and back with fastavro, which checks our own encoder and decoder.

fastavro's logical types are not used where Python's types hold less than Avro's: datetime has no nanoseconds and no
year 10000. Logical types that the language reads as plain numbers and text are plain here too.
"""

from __future__ import annotations

import io
import json
import math
import struct
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from uuid import UUID

import fastavro
from fastavro.read import LOGICAL_READERS

from lsql_runner.cases.scalars import (
    NANOS_PER_MS,
    Day,
    Instant,
    InvalidValue,
    Single,
    TimeOfDay,
    bytes_of,
    decimal_of,
)
from lsql_runner.errors import DetailTable

_NANOS = {"millis": NANOS_PER_MS, "micros": 1_000, "nanos": 1}
_TIMES = {f"{kind}-{unit}": nanos for kind in ("timestamp", "local-timestamp") for unit, nanos in _NANOS.items()}
_CLOCKS = {"time-millis": NANOS_PER_MS, "time-micros": 1_000}
"""Nanoseconds per unit, by logical type."""
_SIZES = {"int": 1 << 31, "long": 1 << 63}
_LARGEST_FLOAT = struct.unpack(">f", b"\x7f\x7f\xff\xff")[0]
_NAMED = ("record", "error", "enum", "fixed")
_REASONS = DetailTable(
    {
        "NOT_A_SCHEMA": "not an Avro schema ({problem})",
        "NOT_WRITABLE": "the value does not fit its schema ({problem})",
        "NOT_DECODABLE": "not a value of the schema ({problem})",
        "BYTES_LEFT": "{count} bytes follow the value",
        "NOT_A_RECORD": "a record is {{field: value}}, not {value}",
        "FIELD_UNKNOWN": "unknown field {field}; the fields are {known}",
        "VALUE_MISSING": "no value, and the field has no default",
        "NOT_IN_UNION": "the union of {union} does not allow {value}",
        "TOO_PRECISE": "{value} has more digits than {type} holds",
        "TOO_LARGE": "{value} is too large for a float",
        "NOT_A_SYMBOL": "{value} is not one of {known}",
        "NOT_A_STRING": "{value} is not a valid string: quote it",
        "NOT_A_VALUE": "{value} is not a valid {type}",
        "SIZE": "{size} bytes are needed, not {found}",
    }
)


class AvroSchema:
    """Writes and reads values with a schema.

    Raises:
        InvalidValue: the text is not a schema.
    """

    def __init__(self, text: str) -> None:
        self._named: dict[str, Any] = {}
        try:
            self._schema = fastavro.parse_schema(_add_logical_types(json.loads(text)), self._named)
        except Exception as error:  # fastavro raises many types of exceptions
            raise InvalidValue(_REASONS("NOT_A_SCHEMA", problem=_problem(error))) from None

    def encode(self, value: Any) -> bytes:
        """The bytes of a value.

        Raises:
            InvalidValue: the schema does not allow the value.
        """
        body = io.BytesIO()
        plain = self._plain(value, self._schema, "")
        try:
            fastavro.schemaless_writer(body, self._schema, plain)
        except Exception as error:  # only for decimals: other values are checked above
            raise InvalidValue(_REASONS("NOT_WRITABLE", problem=_problem(error))) from None
        return body.getvalue()

    def decode(self, data: bytes) -> Any:
        """The value of some bytes, with the types of YAML and `cases.scalars`.

        Raises:
            InvalidValue: the bytes are not a value of the schema.
        """
        body = io.BytesIO(data)
        try:
            value = fastavro.schemaless_reader(body, self._schema, None)
        except Exception as error:  # fastavro has no exception for malformed bytes
            raise InvalidValue(_REASONS("NOT_DECODABLE", problem=_problem(error))) from None
        if body.tell() < len(data):
            raise InvalidValue(_REASONS("BYTES_LEFT", count=len(data) - body.tell()))
        return value

    def _plain(self, value: Any, schema: Any, place: str) -> Any:
        """The value as fastavro takes it: times as numbers, digits as bytes, values of a union with the name of their
        branch."""
        if isinstance(schema, list):
            return self._in_union(value, schema, place)
        if isinstance(schema, str):
            schema = self._named.get(schema) or {"type": schema}
        match schema["type"]:
            case "record" | "error":
                return self._fields(value, schema, place)
            case "array" if isinstance(value, list):
                return [self._plain(one, schema["items"], f"{place}[{n}]") for n, one in enumerate(value)]
            case "map" if isinstance(value, dict):
                return {
                    str(key): self._plain(one, schema["values"], _field_place(place, key)) for key, one in value.items()
                }
        try:
            return _scalar(value, schema)
        except InvalidValue as error:
            raise InvalidValue(error.reason, place) from None

    def _fields(self, value: Any, schema: Any, place: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise InvalidValue(_REASONS("NOT_A_RECORD", value=_show(value)), place)
        fields = {one["name"]: one for one in schema["fields"]}
        unknown = [str(name) for name in value if name not in fields]
        if unknown:
            raise InvalidValue(_REASONS("FIELD_UNKNOWN", field=unknown[0], known=", ".join(fields)), place)
        plain = {}
        for name, one in fields.items():
            if name in value:
                plain[name] = self._plain(value[name], one["type"], _field_place(place, name))
            elif "default" in one:
                plain[name] = self._default(one["default"], one["type"])
            else:
                raise InvalidValue(_REASONS("VALUE_MISSING"), _field_place(place, name))
        return plain

    def _in_union(self, value: Any, union: list[Any], place: str) -> tuple[str, Any]:
        """The name of the first branch that allows the value, and the value as fastavro takes it."""
        errors = []
        for branch in union:
            try:
                return _name(branch), self._plain(value, branch, place)
            except InvalidValue as error:
                if _name(branch) != "null":
                    errors.append(error)
        if len(errors) == 1 and value is not None:
            raise errors[0]
        names = ", ".join(map(_name, union))
        raise InvalidValue(_REASONS("NOT_IN_UNION", union=names, value=_show(value)), place)

    def _default(self, value: Any, schema: Any) -> Any:
        """The default of a field. In Avro's JSON, bytes are text and a union's default belongs to its first branch."""
        if isinstance(schema, list):
            return _name(schema[0]), self._default(value, schema[0])
        if isinstance(schema, str):
            schema = self._named.get(schema) or {"type": schema}
        match schema["type"]:
            case "bytes" | "fixed":
                return str(value).encode("latin-1")
            case "record" | "error":
                given = {one["name"]: value.get(one["name"], one.get("default")) for one in schema["fields"]}
                return {one["name"]: self._default(given[one["name"]], one["type"]) for one in schema["fields"]}
            case "array":
                return [self._default(one, schema["items"]) for one in value]
            case "map":
                return {key: self._default(one, schema["values"]) for key, one in value.items()}
        return value


@lru_cache(maxsize=256)
def avro_schema(text: str) -> AvroSchema:
    """The schema with this text, parsed once.

    Raises:
        InvalidValue: as `AvroSchema`.
    """
    return AvroSchema(text)


def _add_logical_types(schema: Any) -> Any:
    """The schema with our own logical types, whose readers are registered below; only decimals keep fastavro's."""
    if isinstance(schema, list):
        return [_add_logical_types(branch) for branch in schema]
    if isinstance(schema, str):
        return {"type": "float", "logicalType": "lsql-float"} if schema == "float" else schema
    kind, logical = schema["type"], schema.get("logicalType")
    if not isinstance(kind, str):
        return _add_logical_types(kind)
    plain = {key: part for key, part in schema.items() if key != "logicalType"}
    match kind:
        case "record" | "error":
            return {**plain, "fields": [{**one, "type": _add_logical_types(one["type"])} for one in schema["fields"]]}
        case "array":
            return {**plain, "items": _add_logical_types(schema["items"])}
        case "map":
            return {**plain, "values": _add_logical_types(schema["values"])}
    mark = _mark(kind, str(logical), schema)
    return plain if mark is None else {**plain, "logicalType": mark}


def _mark(kind: str, logical: str, schema: Mapping[str, Any]) -> str | None:
    match kind, logical:
        case "float", _:
            return "lsql-float"
        case "int", "date":
            return "lsql-date"
        case "long", _ if logical in _TIMES:
            return f"lsql-{logical}"
        case ("int", "time-millis") | ("long", "time-micros"):
            return f"lsql-{logical}"
        case "fixed", "uuid" if schema.get("size") == 16:
            return "lsql-uuid"
        case (("bytes" | "fixed"), "decimal"):
            precision, scale = schema.get("precision"), schema.get("scale", 0)
            sane = isinstance(precision, int) and isinstance(scale, int) and 0 <= scale <= precision
            return "decimal" if sane else None  # Avro ignores an invalid decimal
    return None


def _scalar(value: Any, schema: Mapping[str, Any]) -> Any:
    kind, mark = schema["type"], str(schema.get("logicalType", ""))
    logical = mark.removeprefix("lsql-")
    match kind:
        case "int" if logical == "date":
            return Day.of(value).number
        case "int" | "long" if mark:
            return _in_unit(value, kind, logical)
        case "int" | "long":
            return _whole(value, kind)
        case "bytes" | "fixed":
            return _bytes(value, schema, mark)
        case "float" | "double" if isinstance(value, int | float) and not isinstance(value, bool):
            if kind == "float" and _LARGEST_FLOAT < abs(value) < math.inf:
                raise InvalidValue(_REASONS("TOO_LARGE", value=_show(value)))
            return float(value)
        case "null" if value is None:
            return None
        case "boolean" if isinstance(value, bool):
            return value
        case "string" if isinstance(value, str):
            return value
        case "enum" if value in schema["symbols"]:
            return value
        case "enum":
            raise InvalidValue(_REASONS("NOT_A_SYMBOL", value=_show(value), known=", ".join(schema["symbols"])))
        case "string":
            raise InvalidValue(_REASONS("NOT_A_STRING", value=_show(value)))
    raise _not_valid(value, kind)


def _in_unit(value: Any, kind: str, logical: str) -> int:
    is_clock = logical in _CLOCKS
    nanos = TimeOfDay.of(value).nanos if is_clock else Instant.of(value).nanos
    number, rest = divmod(nanos, _CLOCKS[logical] if is_clock else _TIMES[logical])
    if rest:
        raise InvalidValue(_REASONS("TOO_PRECISE", value=_show(value), type=logical))
    return _whole(number, kind)


def _not_valid(value: Any, kind: str) -> InvalidValue:
    return InvalidValue(_REASONS("NOT_A_VALUE", value=_show(value), type=kind))


def _whole(value: Any, kind: str) -> int:
    limit = _SIZES[kind]
    if not isinstance(value, int) or isinstance(value, bool) or not -limit <= value < limit:
        raise _not_valid(value, kind)
    return value


def _bytes(value: Any, schema: Mapping[str, Any], mark: str) -> Any:
    if mark == "decimal":
        return decimal_of(value)
    if mark == "lsql-uuid":
        try:
            return UUID(value).bytes
        except (ValueError, AttributeError, TypeError):
            raise _not_valid(value, "UUID") from None
    data = bytes_of(value)
    if schema["type"] == "fixed" and len(data) != schema["size"]:
        raise InvalidValue(_REASONS("SIZE", size=schema["size"], found=len(data)))
    return data


def _name(branch: Any) -> str:
    """The name of a branch of a union in fastavro."""
    if isinstance(branch, str):
        return branch
    return str(branch["name"] if branch["type"] in _NAMED else branch["type"])


LOGICAL_READERS["float-lsql-float"] = lambda value, *_: Single(value)
LOGICAL_READERS["int-lsql-date"] = lambda value, *_: Day(value)
LOGICAL_READERS["fixed-lsql-uuid"] = lambda value, *_: str(UUID(bytes=value))
for _logical, _unit in _TIMES.items():
    LOGICAL_READERS[f"long-lsql-{_logical}"] = lambda value, *_, unit=_unit: Instant(value * unit)
for _logical, _unit in _CLOCKS.items():
    for _kind in _SIZES:
        LOGICAL_READERS[f"{_kind}-lsql-{_logical}"] = lambda value, *_, unit=_unit: TimeOfDay(value * unit)


def _field_place(place: str, name: Any) -> str:
    return f"{place}.{name}" if place else str(name)


def _problem(error: Exception) -> str:
    """The exception of the library."""
    return f"{type(error).__name__}: {error}"


def _show(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:80]
