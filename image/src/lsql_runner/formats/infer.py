"""Formats and schemas from a sample of records. Pure: bytes in, types out; the same sample gives the same schema."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from lsql_runner.formats.catalog import BYTES_FORMAT, JSON_FORMAT, PRIMITIVE_FORMATS, STRING_FORMAT, Format, Serde
from lsql_runner.formats.json_types import merged, type_of_json
from lsql_runner.formats.schema_id import without_schema_id
from lsql_runner.types import BYTES, NULL, STRING, DataType, Struct


def infer_serde(samples: Sequence[bytes | None], named: Format | None) -> Serde | None:
    """How a part of a topic's records is written.

    Args:
        samples: that part of some records; nulls say nothing.
        named: the format where the program or the configuration names it.

    Returns:
        None when the samples say nothing and a schema is needed.
    """
    data = [sample for sample in samples if sample is not None]
    if named is not None and named.bare.name in PRIMITIVE_FORMATS:
        return Serde(named, PRIMITIVE_FORMATS[named.bare.name])
    if not data:
        return None
    if named is None and not all(_is_text(sample) for sample in data):
        return Serde(BYTES_FORMAT, BYTES)
    objects = [_parse(sample) for sample in data]
    if named is None and not any(isinstance(value, dict) for value in objects):
        return Serde(STRING_FORMAT, STRING)
    return Serde(named or JSON_FORMAT, json_type(value for value in objects if isinstance(value, dict)))


def _is_text(data: bytes) -> bool:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return "\0" not in text


def _parse(data: bytes) -> Any:
    """The value of a JSON text; None for what is none: a sample may hold bad records."""
    try:
        return json.loads(without_schema_id(data))
    except (ValueError, RecursionError):
        return None


def json_type(values: Iterable[Any]) -> DataType:
    """The type that holds all of the values: fields in order of first sight, unlike types as text."""
    found: DataType = NULL
    for value in values:
        found = merged(found, type_of_json(value))
    return found if isinstance(found, Struct) else Struct(())
