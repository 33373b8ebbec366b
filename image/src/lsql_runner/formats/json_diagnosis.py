"""Explains why a JSON record does not match its schema. Runs once, for the record that stopped the processor."""

from __future__ import annotations

import json
from decimal import Decimal as Number
from typing import Any

from lsql_runner.formats.json_budget import exceeds_budget
from lsql_runner.types import (
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    NUMERIC,
    STRING,
    TIMESTAMP,
    Array,
    DataType,
    Decimal,
    Map,
    Struct,
    describe,
)

MAX_TIMESTAMP_MS = (2**63 - 1) // 1000
"""Timestamps are microseconds in a long."""
_NOT_FINITE = ("NaN", "INF", "-INF", "Infinity", "-Infinity")


def diagnose_json(data: bytes, kind: DataType, includes_values: bool) -> str | None:
    """The error as a clause with the path in the record, for example `id is a string, not long`; None if the record
    matches, or has too many values to tell.

    Args:
        data: the key or value of the record.
        kind: its type.
        includes_values: whether the clause may have values of the record, as in `id is the string "x", not long`.
    """
    if not data:
        return "it is empty"
    if exceeds_budget(data):
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"byte {error.start} is not UTF-8"
    try:
        value = json.loads(text, parse_float=Number, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        return f"{error.msg[0].lower()}{error.msg[1:]} at character {error.pos} of {len(text)}"
    except _NoNumberError as error:
        return f"{error} is not JSON"
    except RecursionError:
        return "it is nested too deeply"
    return _mismatch(value, kind, "the record", includes_values)


def _mismatch(value: Any, kind: DataType, path: str, includes_values: bool) -> str | None:
    if value is None or _matches(value, kind):
        return _mismatch_inside(value, kind, path, includes_values)
    name = _name(value) if includes_values else _TYPES.get(type(value), "a number")
    return f"{path} is {name}, not {describe(kind) if not isinstance(kind, Struct) else 'an object'}"


def _mismatch_inside(value: Any, kind: DataType, path: str, includes_values: bool) -> str | None:
    prefix = "" if path == "the record" else f"{path}."
    nullable = True
    match kind:
        case Struct(fields) if isinstance(value, dict):
            missing = next((f.name for f in fields if not f.nullable and value.get(f.name) is None), None)
            if missing is not None:
                return f"{prefix}{missing} is {'null' if missing in value else 'missing'}, which is not allowed"
            parts = [(value.get(f.name), f.type, f"{prefix}{f.name}") for f in fields]
        case Map(inner, nullable) if isinstance(value, dict):
            # The key of an entry is a value of the record.
            paths = {name: f"{prefix}{name}" if includes_values else f"{path}{{}}" for name in value}
            parts = [(item, inner, paths[name]) for name, item in value.items()]
        case Array(element, nullable) if isinstance(value, list):
            parts = [(item, element, f"{path}[{n}]") for n, item in enumerate(value)]
        case _:
            return None
    for part in parts:
        if part[0] is None and not nullable:
            return f"{part[2]} is null, which is not allowed"
        mismatch = _mismatch(*part, includes_values)
        if mismatch is not None:
            return mismatch
    return None


class _NoNumberError(ValueError):
    """NaN or Infinity, which are no numbers of JSON."""


def _refuse(name: str) -> None:
    raise _NoNumberError(name)


def _matches(value: Any, kind: DataType) -> bool:
    """Whether a value has a form of its type. Texts may: the JVM reports the reason for them."""
    match kind:
        case Struct() | Map():
            return isinstance(value, dict)
        case Array():
            return isinstance(value, list)
        case Decimal(precision, scale):
            fits = _is_number(value) and _places(value) <= scale and abs(value) < 10 ** (precision - scale)
            return isinstance(value, str) or fits
    if kind == NUMERIC:
        return _is_number(value) and _matches(value, Decimal())
    if kind in (DOUBLE, FLOAT):
        return str(value) in _NOT_FINITE if isinstance(value, str) else _is_number(value)
    if kind in (INT, LONG):
        bits = 31 if kind == INT else 63
        return _is_whole(value) and bool(-(2**bits) <= value < 2**bits)
    if kind == BOOLEAN:
        return isinstance(value, bool)
    if kind == TIMESTAMP and _is_whole(value):
        return bool(abs(value) <= MAX_TIMESTAMP_MS)
    return isinstance(value, str) or kind == STRING  # every JSON value can be read as a STRING


def _is_number(value: Any) -> bool:
    return isinstance(value, int | Number) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return _is_number(value) and _places(value) == 0


def _places(value: int | Number) -> int:
    """The number of digits after the point, without zeros at the end. Divisions would write out a large exponent."""
    _, digits, exponent = Number(value).as_tuple()
    zeros = next((n for n, digit in enumerate(reversed(digits)) if digit), len(digits))
    return max(0, -int(exponent) - zeros) if any(digits) else 0


def _name(value: Any) -> str:
    text = str(value) if isinstance(value, Number) else json.dumps(value, ensure_ascii=False, default=str)
    shown = text if len(text) <= 40 else text[:37] + "..."
    name = _TYPES.get(type(value), "a number")
    return name if isinstance(value, dict | list) else f"the {name.removeprefix('a ')} {shown}"


_TYPES: dict[type, str] = {dict: "an object", list: "an array", str: "a string", bool: "a boolean"}
