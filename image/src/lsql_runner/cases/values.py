"""Values of a case file to bytes and back, for every format of this version. Pure Python, no engine: a second opinion.

A value is what YAML gives: JSON formats take any value, STRING text, INT and LONG whole numbers, BYTES
hexadecimal digits, CSV and XML the text of the record. A windowed key is `{key: ..., window_start: <ms>}`, that of a
session `{key: ..., window_start: <ms>, window_end: <ms>}`. None is null.
"""

from __future__ import annotations

import json
import math
from typing import Any

from lsql_runner.bind.catalog import Format

_TIME_BYTES = 8
_WINDOWS = {"TW": ("window_start",), "SW": ("window_end", "window_start")}
"""What stands behind the key, in the order of its bytes."""


class ValueMisfit(ValueError):
    """A value cannot be written in a format, or bytes cannot be read in it; the message says why."""


def encode_value(value: Any, form: Format) -> bytes | None:
    """The bytes of a value.

    Raises:
        ValueMisfit: it is no value of the format.
    """
    if form.is_windowed:
        return _encode_windowed(value, form)
    if value is None:
        return None
    match form.name:
        case "STRING":
            if not isinstance(value, str):
                raise ValueMisfit(f"STRING holds text, not {_shown(value)}: quote it")
            return value.encode()
        case "INT" | "LONG":
            size = 4 if form.name == "INT" else 8
            if not _is_whole(value, size):
                raise ValueMisfit(f"{form} holds a whole number of {size} bytes, not {_shown(value)}")
            return int(value).to_bytes(size, "big", signed=True)
        case "BYTES":
            return _from_hex(value)
        case "CSV" | "XML":
            if not isinstance(value, str):
                raise ValueMisfit(f"{form} is text, as it stands in the record, not {_shown(value)}")
            return value.encode()
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _encode_windowed(value: Any, form: Format) -> bytes:
    times = _WINDOWS[form.name]
    if (
        not isinstance(value, dict)
        or set(value) != {"key", *times}
        or not all(_is_whole(value[name], _TIME_BYTES) for name in times)
    ):
        shape = ", ".join(f"{name}: <ms>" for name in sorted(times, reverse=True))
        raise ValueMisfit(f"a key in {form} is {{key: ..., {shape}}}")
    key = encode_value(value["key"], form.bare) or b""
    return key + b"".join(int(value[name]).to_bytes(_TIME_BYTES, "big", signed=True) for name in times)


def guess_format(value: Any) -> Format | None:
    """How a value of an undescribed topic is written: objects as JSON, text as it is; None if that is unclear."""
    if isinstance(value, dict | list):
        return Format("JSON")
    return Format("STRING") if isinstance(value, str) or value is None else None


def decode_value(data: bytes | None, form: Format) -> Any:
    """The value in some bytes.

    Raises:
        ValueMisfit: they are not written in the format.
    """
    if data is None:
        return None
    if form.is_windowed:
        return _decode_windowed(data, form)
    try:
        match form.name:
            case "STRING":
                return data.decode()
            case "INT" | "LONG":
                size = 4 if form.name == "INT" else 8
                if len(data) != size:
                    raise ValueMisfit(f"{form} has {size} bytes, not {len(data)}")
                return int.from_bytes(data, "big", signed=True)
            case "BYTES":
                return data.hex()
        return json.loads(data)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueMisfit(f"{data!r} is not {form}: {error}") from None


def _decode_windowed(data: bytes, form: Format) -> Any:
    times = _WINDOWS[form.name]
    end = len(data) - _TIME_BYTES * len(times)
    if end < 0:
        raise ValueMisfit(f"a key in {form} has {_TIME_BYTES * len(times)} bytes or more, not {len(data)}")
    found = {"key": decode_value(data[:end], form.bare)}
    for place, name in enumerate(times):
        at = end + _TIME_BYTES * place
        found[name] = int.from_bytes(data[at : at + _TIME_BYTES], "big", signed=True)
    return found


def same_value(expected: Any, actual: Any) -> bool:
    """Whether two values are the same: 1 is 1.0 but not true, order of an object's fields is no difference.

    Sums of floating-point numbers depend on their order, so the last digits of such numbers may differ.
    """
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, float) and isinstance(actual, float):
        return math.isclose(expected, actual, rel_tol=1e-12) or (math.isnan(expected) and math.isnan(actual))
    if isinstance(expected, dict) and isinstance(actual, dict):
        return set(expected) == set(actual) and all(same_value(value, actual[name]) for name, value in expected.items())
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(same_value, expected, actual))
    return (type(expected) is type(actual) and bool(expected == actual)) or _same_number(expected, actual)


def _same_number(a: Any, b: Any) -> bool:
    return isinstance(a, int | float) and isinstance(b, int | float) and a == b


def _is_whole(value: Any, size: int) -> bool:
    limit = 1 << (8 * size - 1)
    return isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit


def _from_hex(value: Any) -> bytes:
    try:
        if isinstance(value, str):
            return bytes.fromhex(value)
    except ValueError:
        pass
    raise ValueMisfit(f'BYTES are hexadecimal digits in quotes, as "cafe", not {_shown(value)}')


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
