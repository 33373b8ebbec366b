"""Why a record does not match its JSON schema, in words. Runs once, for the record that stopped the processor."""

from __future__ import annotations

import json
from typing import Any

from lsql_runner.types import BOOLEAN, DOUBLE, FLOAT, INT, LONG, STRING, Array, DataType, Decimal, Map, Struct, describe


def diagnose_json(data: bytes, kind: DataType) -> str | None:
    """What is wrong, as a clause with the place in the record; None if nothing is found."""
    if not data:
        return "it is empty"
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"byte {error.start} is not UTF-8"
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        return f"{error.msg[0].lower()}{error.msg[1:]} at character {error.pos} of {len(text)}"
    except RecursionError:
        return "it is nested too deeply"
    return _misfit(value, kind, "the record")


def _misfit(value: Any, kind: DataType, place: str) -> str | None:
    if value is None or _fits(value, kind):
        return _inside(value, kind, place)
    return f"{place} is {_name(value)}, not {describe(kind) if not isinstance(kind, Struct) else 'an object'}"


def _inside(value: Any, kind: DataType, place: str) -> str | None:
    prefix = "" if place == "the record" else f"{place}."
    match kind:
        case Struct(fields) if isinstance(value, dict):
            lacking = next((f.name for f in fields if not f.nullable and value.get(f.name) is None), None)
            if lacking is not None:
                return f"{prefix}{lacking} is {'null' if lacking in value else 'missing'}, which it may not be"
            parts = [(value.get(f.name), f.type, f"{prefix}{f.name}") for f in fields]
        case Map(inner) if isinstance(value, dict):
            parts = [(item, inner, f"{prefix}{name}") for name, item in value.items()]
        case Array(element) if isinstance(value, list):
            parts = [(item, element, f"{place}[{n}]") for n, item in enumerate(value)]
        case _:
            return None
    return next((found for part in parts if (found := _misfit(*part)) is not None), None)


def _fits(value: Any, kind: DataType) -> bool:
    match kind:
        case Struct() | Map():
            return isinstance(value, dict)
        case Array():
            return isinstance(value, list)
        case Decimal():
            return isinstance(value, int | float) and not isinstance(value, bool)
    if kind in (DOUBLE, FLOAT):
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind in (INT, LONG):
        bits = 31 if kind == INT else 63
        return isinstance(value, int) and not isinstance(value, bool) and -(2**bits) <= value < 2**bits
    if kind == BOOLEAN:
        return isinstance(value, bool)
    return isinstance(value, str) or kind == STRING  # any JSON value has a text


def _name(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    shown = text if len(text) <= 40 else text[:37] + "..."
    names: dict[type, str] = {dict: "an object", list: "an array", str: "the string", bool: "the boolean"}
    name = names.get(type(value), "the number")
    return name if isinstance(value, dict | list) else f"{name} {shown}"
