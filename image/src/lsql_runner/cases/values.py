"""Converts values of case files to bytes and back, and compares them.

Pure Python without the engine, so that cases check the engine's encoders and decoders. `cases.codecs` defines the
values of each format. A windowed key is `{key: ..., window_start: <ms>}`, with `window_end: <ms>` for a session. None
is null.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from lsql_runner.cases.codecs import PLAIN, WITH_SCHEMA, WriterSchema, is_whole
from lsql_runner.cases.scalars import InvalidValue, same_scalar, yaml_value
from lsql_runner.errors import DetailTable
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, WINDOW_BOUNDS, Format
from lsql_runner.formats.schema_id import SCHEMA_ID_BYTES, schema_id_of, schema_id_prefix, starts_with_schema_id

_BOUND_BYTES = 8

Schemas = Mapping[int, str]
"""The texts of schemas by id."""
NO_SCHEMAS: Schemas = {}
_REASONS = DetailTable(
    {
        "SCHEMA_MISSING": "{format} needs a schema: declare the topic, with its schema, under topics",
        "WINDOWED_KEY": "a key in {format} is {{key: ..., {bounds}}}",
        "WINDOWED_KEY_SHORT": "a key in {format} has at least {size} bytes, not {found}",
        "NOT_DECODABLE": "{data} is not {format}: {problem}",
        "SCHEMA_ID_MISSING": "{data} is not {format} with the id of a schema",
        "SCHEMA_ID_UNKNOWN": "no schema has the id in {data}",
    }
)


def encode_value(value: Any, form: Format, writer: WriterSchema | None = None) -> bytes | None:
    """The bytes of a value.

    Args:
        writer: the schema, for formats with schemas; also for the key inside a windowed key.

    Raises:
        InvalidValue: the format does not support the value.
    """
    if form.is_windowed:
        return _encode_windowed(value, form, writer)
    if value is None:
        return None
    if form.name in PLAIN:
        return PLAIN[form.name].encode(value)
    if writer is None:
        raise InvalidValue(_REASONS("SCHEMA_MISSING", format=str(form)))
    return schema_id_prefix(writer.id) + WITH_SCHEMA[form.name].encode(value, writer)


def _bounds(form: Format) -> tuple[str, ...]:
    """The names of the window's bounds, in the order of their bytes after the key."""
    return tuple(f"window_{bound}" for bound in WINDOW_BOUNDS[form.name])


def _encode_windowed(value: Any, form: Format, writer: WriterSchema | None) -> bytes:
    _check_windowed(value, form)
    key = encode_value(value["key"], form.bare, writer) or b""
    return key + b"".join(int(value[name]).to_bytes(_BOUND_BYTES, "big", signed=True) for name in _bounds(form))


def _check_windowed(value: Any, form: Format) -> None:
    times = _bounds(form)
    is_one = isinstance(value, dict) and set(value) == {"key", *times}
    if not is_one or not all(is_whole(value[name], _BOUND_BYTES) for name in times):
        bounds = ", ".join(f"{name}: <ms>" for name in sorted(times, reverse=True))
        raise InvalidValue(_REASONS("WINDOWED_KEY", format=str(form), bounds=bounds))


def guess_format(value: Any) -> Format | None:
    """The format of a value in a topic without a declaration: JSON for objects and lists, STRING for text; None if
    unclear."""
    if isinstance(value, dict | list):
        return JSON_FORMAT
    return STRING_FORMAT if isinstance(value, str) or value is None else None


def decode_value(data: bytes | None, form: Format, schemas: Schemas = NO_SCHEMAS) -> Any:
    """The value of some bytes. Scalars of formats with schemas have the types of `cases.scalars`.

    Args:
        schemas: schemas by id, for formats with schemas; also for the key inside a windowed key.

    Raises:
        InvalidValue: the bytes are not in the format.
    """
    if data is None:
        return None
    if form.is_windowed:
        return _decode_windowed(data, form, schemas)
    if form.name in WITH_SCHEMA:
        return _decode_with_schema(data, form, schemas)
    try:
        return PLAIN[form.name].decode(data)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InvalidValue(_REASONS("NOT_DECODABLE", data=repr(data), format=str(form), problem=str(error))) from None


def _decode_windowed(data: bytes, form: Format, schemas: Schemas) -> Any:
    times = _bounds(form)
    end = len(data) - _BOUND_BYTES * len(times)
    if end < 0:
        size = _BOUND_BYTES * len(times)
        raise InvalidValue(_REASONS("WINDOWED_KEY_SHORT", format=str(form), size=size, found=len(data)))
    is_empty_value = form.inner in PLAIN and PLAIN[form.inner].may_be_empty
    key = data[:end] or (b"" if is_empty_value else None)
    decoded = {"key": decode_value(key, form.bare, schemas)}
    for place, name in enumerate(times):
        at = end + _BOUND_BYTES * place
        decoded[name] = int.from_bytes(data[at : at + _BOUND_BYTES], "big", signed=True)
    return decoded


def _decode_with_schema(data: bytes, form: Format, schemas: Schemas) -> Any:
    if not starts_with_schema_id(data):
        raise InvalidValue(_REASONS("SCHEMA_ID_MISSING", data=repr(data), format=str(form)))
    schema = schemas.get(schema_id_of(data))
    if schema is None:
        raise InvalidValue(_REASONS("SCHEMA_ID_UNKNOWN", data=repr(data)))
    return WITH_SCHEMA[form.name].decode(data[SCHEMA_ID_BYTES:], schema)


def has_schema(form: Format) -> bool:
    """Whether records in a format begin with the id of their schema; for a windowed key, whether its key does."""
    return form.bare.name in WITH_SCHEMA


def checked_expectation(value: Any, form: Format) -> Any:
    """An expected value of a format with schemas, checked as far as possible without the schema.

    Raises:
        InvalidValue: the format does not support the value.
    """
    if form.is_windowed:
        _check_windowed(value, form)
    return value


def same_value(expected: Any, actual: Any) -> bool:
    """Whether a written value equals the value of a case. 1 equals 1.0 but not true; the order of fields is ignored.

    The last digits of floating-point numbers may differ, because their sum depends on the order of addition.
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


def in_notation_of(expected: Any, actual: Any) -> Any:
    """The actual value in the notation of the case: the expected value where the two are equal."""
    if same_value(expected, actual):
        return expected
    if isinstance(expected, dict) and isinstance(actual, dict):
        return {
            name: in_notation_of(expected[name], part) if name in expected else yaml_value(part)
            for name, part in actual.items()
        }
    if isinstance(expected, list) and isinstance(actual, list):
        shared = [in_notation_of(one, part) for one, part in zip(expected, actual, strict=False)]
        return [*shared, *yaml_value(actual[len(shared) :])]
    return yaml_value(actual)


def _same_number(a: Any, b: Any) -> bool:
    return isinstance(a, int | float) and isinstance(b, int | float) and a == b
