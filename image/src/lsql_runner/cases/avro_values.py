"""Values of a case file to Avro and back, by fastavro: a second opinion on our own encoder and decoder.

The only importer of fastavro. Its logical types are not used where Python's types hold less than Avro's: datetime has
no nanoseconds and no year 10000. What the language reads as plain numbers and text is so here too.
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

from lsql_runner.cases.scalars import NANOS_PER_MS, Day, Instant, InvalidValue, Single, bytes_of, decimal_of

_NANOS = {"millis": NANOS_PER_MS, "micros": 1_000, "nanos": 1}
_TIMES = {f"{kind}-{unit}": nanos for kind in ("timestamp", "local-timestamp") for unit, nanos in _NANOS.items()}
"""Nanoseconds in one of what they count, by logical type."""
_SIZES = {"int": 1 << 31, "long": 1 << 63}
_LARGEST_FLOAT = struct.unpack(">f", b"\x7f\x7f\xff\xff")[0]
_NAMED = ("record", "error", "enum", "fixed")


class AvroSchema:
    """What values are written and read with.

    Raises:
        InvalidValue: the text is no schema; the message says why.
    """

    def __init__(self, text: str) -> None:
        self._named: dict[str, Any] = {}
        try:
            self._schema = fastavro.parse_schema(_marked(json.loads(text)), self._named)
        except Exception as error:  # it raises exceptions of many types
            raise InvalidValue(f"not an Avro schema: {type(error).__name__}: {error}") from None

    def encode(self, value: Any) -> bytes:
        """The bytes of a value.

        Raises:
            InvalidValue: it is no value of the schema; the message says at which field.
        """
        body = io.BytesIO()
        plain = self._plain(value, self._schema, "")
        try:
            fastavro.schemaless_writer(body, self._schema, plain)
        except Exception as error:  # only for decimals: other values are checked above
            raise InvalidValue(f"the value does not fit its schema: {error}") from None
        return body.getvalue()

    def decode(self, data: bytes) -> Any:
        """The value in some bytes: of YAML's types, and those of `cases.scalars`.

        Raises:
            InvalidValue: they hold none.
        """
        body = io.BytesIO(data)
        try:
            value = fastavro.schemaless_reader(body, self._schema, None)
        except Exception as error:  # it has no exception of its own for malformed bytes
            raise InvalidValue(f"{type(error).__name__}: {error}") from None
        if body.tell() < len(data):
            raise InvalidValue(f"{len(data) - body.tell()} bytes follow the value")
        return value

    def _plain(self, value: Any, schema: Any, place: str) -> Any:
        """What fastavro writes: numbers for times, bytes for digits, the branch of a union beside its value."""
        if isinstance(schema, list):
            return self._chosen(value, schema, place)
        if isinstance(schema, str):
            schema = self._named.get(schema) or {"type": schema}
        match schema["type"]:
            case "record" | "error":
                return self._fields(value, schema, place)
            case "array" if isinstance(value, list):
                return [self._plain(one, schema["items"], f"{place}[{n}]") for n, one in enumerate(value)]
            case "map" if isinstance(value, dict):
                return {str(key): self._plain(one, schema["values"], _below(place, key)) for key, one in value.items()}
        try:
            return _scalar(value, schema)
        except InvalidValue as error:
            raise InvalidValue(f"{error}{_at(place)}") from None

    def _fields(self, value: Any, schema: Any, place: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise InvalidValue(f"a record is {{field: value}}, not {_shown(value)}{_at(place)}")
        fields = {one["name"]: one for one in schema["fields"]}
        strange = [str(name) for name in value if name not in fields]
        if strange:
            known = ", ".join(fields)
            raise InvalidValue(f"the schema has no field {strange[0]}; it has {known}{_at(place)}")
        found = {}
        for name, one in fields.items():
            if name in value:
                found[name] = self._plain(value[name], one["type"], _below(place, name))
            elif "default" in one:
                found[name] = self._default(one["default"], one["type"])
            else:
                raise InvalidValue(f"there is no value for {_below(place, name)}, which has no default")
        return found

    def _chosen(self, value: Any, union: list[Any], place: str) -> tuple[str, Any]:
        """The first branch that holds the value, by its name."""
        reasons = []
        for branch in union:
            try:
                return _name(branch), self._plain(value, branch, place)
            except InvalidValue as error:
                if _name(branch) != "null":
                    reasons.append(error)
        if len(reasons) == 1 and value is not None:
            raise reasons[0]
        raise InvalidValue(f"the union of {', '.join(map(_name, union))} holds no {_shown(value)}{_at(place)}")

    def _default(self, value: Any, schema: Any) -> Any:
        """A default from Avro's JSON, where bytes are text and a union has the type of its first branch."""
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
    """The schema of a text, read once.

    Raises:
        InvalidValue: as `AvroSchema`.
    """
    return AvroSchema(text)


def _marked(schema: Any) -> Any:
    """The schema with logical types of our own, for which LOGICAL_READERS below has readers; only decimals stay."""
    if isinstance(schema, list):
        return [_marked(branch) for branch in schema]
    if isinstance(schema, str):
        return {"type": "float", "logicalType": "lsql-float"} if schema == "float" else schema
    kind, logical = schema["type"], schema.get("logicalType")
    if not isinstance(kind, str):
        return _marked(kind)
    plain = {key: part for key, part in schema.items() if key != "logicalType"}
    match kind:
        case "record" | "error":
            return {**plain, "fields": [{**one, "type": _marked(one["type"])} for one in schema["fields"]]}
        case "array":
            return {**plain, "items": _marked(schema["items"])}
        case "map":
            return {**plain, "values": _marked(schema["values"])}
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
        case "fixed", "uuid" if schema.get("size") == 16:
            return "lsql-uuid"
        case (("bytes" | "fixed"), "decimal"):
            precision, scale = schema.get("precision"), schema.get("scale", 0)
            sane = isinstance(precision, int) and isinstance(scale, int) and 0 <= scale <= precision
            return "decimal" if sane else None  # Avro ignores an invalid decimal
    return None


def _scalar(value: Any, schema: Mapping[str, Any]) -> Any:
    kind, mark = schema["type"], str(schema.get("logicalType", ""))
    match kind:
        case "long" if mark:
            nanos, rest = divmod(Instant.of(value).nanos, _TIMES[mark.removeprefix("lsql-")])
            if rest:
                raise InvalidValue(f"{_shown(value)} has more digits than {mark.removeprefix('lsql-')} holds")
            return _whole(nanos, "long")
        case "int" if mark:
            return Day.of(value).number
        case "int" | "long":
            return _whole(value, kind)
        case "bytes" | "fixed":
            return _bytes(value, schema, mark)
        case "float" | "double" if isinstance(value, int | float) and not isinstance(value, bool):
            if kind == "float" and _LARGEST_FLOAT < abs(value) < math.inf:
                raise InvalidValue(f"{_shown(value)} is too large for a float")
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
            raise InvalidValue(f"{_shown(value)} is not one of {', '.join(schema['symbols'])}")
    raise InvalidValue(f"{_shown(value)} is not a valid {kind}" + (": quote it" if kind == "string" else ""))


def _whole(value: Any, kind: str) -> int:
    limit = _SIZES[kind]
    if not isinstance(value, int) or isinstance(value, bool) or not -limit <= value < limit:
        raise InvalidValue(f"{_shown(value)} is not a valid {kind}")
    return value


def _bytes(value: Any, schema: Mapping[str, Any], mark: str) -> Any:
    if mark == "decimal":
        return decimal_of(value)
    if mark == "lsql-uuid":
        try:
            return UUID(value).bytes
        except (ValueError, AttributeError, TypeError):
            raise InvalidValue(f"{_shown(value)} is not a UUID") from None
    data = bytes_of(value)
    if schema["type"] == "fixed" and len(data) != schema["size"]:
        raise InvalidValue(f"{schema['size']} bytes are needed, not {len(data)}")
    return data


def _name(branch: Any) -> str:
    """What fastavro calls a branch of a union."""
    if isinstance(branch, str):
        return branch
    return str(branch["name"] if branch["type"] in _NAMED else branch["type"])


LOGICAL_READERS["float-lsql-float"] = lambda value, *_: Single(value)
LOGICAL_READERS["int-lsql-date"] = lambda value, *_: Day(value)
LOGICAL_READERS["fixed-lsql-uuid"] = lambda value, *_: str(UUID(bytes=value))
for _logical, _unit in _TIMES.items():
    LOGICAL_READERS[f"long-lsql-{_logical}"] = lambda value, *_, unit=_unit: Instant(value * unit)


def _below(place: str, name: Any) -> str:
    return f"{place}.{name}" if place else str(name)


def _at(place: str) -> str:
    return f": field {place}" if place else ""


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:80]
