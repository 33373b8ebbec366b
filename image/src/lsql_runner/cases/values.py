"""Values of a case file to bytes and back, for every format of this version. Pure Python, no engine: a second opinion.

A value is what YAML gives: JSON formats take any value, STRING text, INT and LONG whole numbers, BYTES
hexadecimal digits, AVRO and PROTOBUF what their schema says, CSV and XML the text of the record.
A windowed key is `{key: ..., window_start: <ms>}`, that of a session `{key: ..., window_start: <ms>,
window_end: <ms>}`. None is null.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lsql_runner.cases.scalars import InvalidValue, bytes_of, natural, same_scalar
from lsql_runner.formats.catalog import OF_REGISTRY, Format

_TIME_BYTES = 8
_WINDOWS = {"TW": ("window_start",), "SW": ("window_end", "window_start")}
"""What stands behind the key, in the order of its bytes."""
_MAY_BE_EMPTY = ("STRING", "BYTES")
"""Formats with a value of no bytes; in a windowed key no bytes are a null key in the others."""
_MAGIC = b"\0"
_SCHEMA_ID_BYTES = 5
"""AVRO, PROTOBUF: the magic byte, then the id of the schema as 4 bytes, big-endian."""

Schemas = Mapping[int, str]
"""AVRO, PROTOBUF: the texts of the schemas behind ids."""


NO_SCHEMAS: Schemas = {}


@dataclass(frozen=True, slots=True)
class Writer:
    """The schema that a value is written with, and its id at the registry."""

    id: int
    schema: str
    message: str | None = None
    """PROTOBUF: the message of the file, where that has it; else the first."""


def encode_value(value: Any, form: Format, writer: Writer | None = None) -> bytes | None:
    """The bytes of a value.

    Args:
        writer: for AVRO and PROTOBUF, alone or inside a windowed key.

    Raises:
        InvalidValue: it is no value of the format.
    """
    if form.is_windowed:
        return _encode_windowed(value, form, writer)
    if value is None:
        return None
    match form.name:
        case "STRING":
            if not isinstance(value, str):
                raise InvalidValue(f"STRING holds text, not {_shown(value)}: quote it")
            return value.encode()
        case "INT" | "LONG":
            size = 4 if form.name == "INT" else 8
            if not _is_whole(value, size):
                raise InvalidValue(f"{form} holds a whole number of {size} bytes, not {_shown(value)}")
            return int(value).to_bytes(size, "big", signed=True)
        case "BYTES":
            return bytes_of(value)
        case "AVRO" | "PROTOBUF":
            return _encode_registered(value, form, writer)
        case "CSV" | "XML":
            if not isinstance(value, str):
                raise InvalidValue(f"{form} is text, as it stands in the record, not {_shown(value)}")
            return value.encode()
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _encode_windowed(value: Any, form: Format, writer: Writer | None) -> bytes:
    _check_windowed(value, form)
    key = encode_value(value["key"], form.bare, writer) or b""
    return key + b"".join(int(value[name]).to_bytes(_TIME_BYTES, "big", signed=True) for name in _WINDOWS[form.name])


def _check_windowed(value: Any, form: Format) -> None:
    times = _WINDOWS[form.name]
    is_one = isinstance(value, dict) and set(value) == {"key", *times}
    if not is_one or not all(_is_whole(value[name], _TIME_BYTES) for name in times):
        shape = ", ".join(f"{name}: <ms>" for name in sorted(times, reverse=True))
        raise InvalidValue(f"a key in {form} is {{key: ..., {shape}}}")


def _encode_registered(value: Any, form: Format, writer: Writer | None) -> bytes:
    if writer is None:
        raise InvalidValue(f"{form} is written with a schema: declare the topic, with its schema, under topics")
    head = _MAGIC + writer.id.to_bytes(4, "big")
    if form.name == "PROTOBUF":
        from lsql_runner.cases.proto_values import encode_message

        return head + encode_message(value, writer.schema, writer.message)
    from lsql_runner.cases.avro_values import avro_schema  # fastavro, which most cases need not wait for

    return head + avro_schema(writer.schema).encode(value)


def guess_format(value: Any) -> Format | None:
    """How a value of an undescribed topic is written: objects as JSON, text as it is; None if that is unclear."""
    if isinstance(value, dict | list):
        return Format("JSON")
    return Format("STRING") if isinstance(value, str) or value is None else None


def decode_value(data: bytes | None, form: Format, schemas: Schemas = NO_SCHEMAS) -> Any:
    """The value in some bytes; parts that are typed in AVRO or PROTOBUF are those of `cases.scalars`.

    Args:
        schemas: for AVRO and PROTOBUF, alone or inside a windowed key.

    Raises:
        InvalidValue: they are not written in the format.
    """
    if data is None:
        return None
    if form.is_windowed:
        return _decode_windowed(data, form, schemas)
    try:
        match form.name:
            case "STRING":
                return data.decode()
            case "INT" | "LONG":
                size = 4 if form.name == "INT" else 8
                if len(data) != size:
                    raise InvalidValue(f"{form} has {size} bytes, not {len(data)}")
                return int.from_bytes(data, "big", signed=True)
            case "BYTES":
                return data.hex()
            case "AVRO" | "PROTOBUF":
                return _decode_registered(data, form, schemas)
        return json.loads(data)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InvalidValue(f"{data!r} is not {form}: {error}") from None


def _decode_windowed(data: bytes, form: Format, schemas: Schemas) -> Any:
    times = _WINDOWS[form.name]
    end = len(data) - _TIME_BYTES * len(times)
    if end < 0:
        raise InvalidValue(f"a key in {form} has {_TIME_BYTES * len(times)} bytes or more, not {len(data)}")
    key = data[:end] or (b"" if form.inner in _MAY_BE_EMPTY else None)
    found = {"key": decode_value(key, form.bare, schemas)}
    for place, name in enumerate(times):
        at = end + _TIME_BYTES * place
        found[name] = int.from_bytes(data[at : at + _TIME_BYTES], "big", signed=True)
    return found


def _decode_registered(data: bytes, form: Format, schemas: Schemas) -> Any:
    if len(data) < _SCHEMA_ID_BYTES or not data.startswith(_MAGIC):
        raise InvalidValue(f"{data!r} is not {form} with the id of a schema")
    schema = schemas.get(int.from_bytes(data[1:_SCHEMA_ID_BYTES], "big"))
    if schema is None:
        raise InvalidValue(f"no schema has the id in {data!r}")
    if form.name == "PROTOBUF":
        from lsql_runner.cases.proto_values import decode_message

        return decode_message(data, schema)
    from lsql_runner.cases.avro_values import avro_schema

    return avro_schema(schema).decode(data[_SCHEMA_ID_BYTES:])


def has_schema(form: Format) -> bool:
    """Whether records of one topic may have been written with several schemas, alone or in a windowed key."""
    return form.bare.name in OF_REGISTRY


def checked_expectation(value: Any, form: Format) -> Any:
    """A value of a format with schemas, as far as the format alone says what it may be.

    Raises:
        InvalidValue: it is no value of the format.
    """
    if form.is_windowed:
        _check_windowed(value, form)
    return value


def same_value(expected: Any, actual: Any) -> bool:
    """Whether a case's value is what was written: 1 is 1.0 but not true, order of an object's fields is no difference.

    Sums of floating-point numbers depend on their order, so the last digits of such numbers may differ.
    """
    same = same_scalar(expected, actual)
    if same is not None:
        return same
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, float) and isinstance(actual, float):
        return math.isclose(expected, actual, rel_tol=1e-12) or (math.isnan(expected) and math.isnan(actual))
    if isinstance(expected, dict) and isinstance(actual, dict):
        return set(expected) == set(actual) and all(same_value(value, actual[name]) for name, value in expected.items())
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(same_value, expected, actual))
    return (type(expected) is type(actual) and bool(expected == actual)) or _same_number(expected, actual)


def as_written(expected: Any, actual: Any) -> Any:
    """What was found, as the case would write it: in its own words wherever the two agree."""
    if same_value(expected, actual):
        return expected
    if isinstance(expected, dict) and isinstance(actual, dict):
        return {
            name: as_written(expected[name], part) if name in expected else natural(part)
            for name, part in actual.items()
        }
    if isinstance(expected, list) and isinstance(actual, list):
        both = [as_written(one, part) for one, part in zip(expected, actual, strict=False)]
        return [*both, *natural(actual[len(both) :])]
    return natural(actual)


def _same_number(a: Any, b: Any) -> bool:
    return isinstance(a, int | float) and isinstance(b, int | float) and a == b


def _is_whole(value: Any, size: int) -> bool:
    limit = 1 << (8 * size - 1)
    return isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
