"""All formats by name: the rows of the modules beside this one, in the order of the reference pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal as OneOf

from lsql_runner.formats import avro, json_format, primitives, protobuf, text_formats
from lsql_runner.formats.catalog import WINDOW_BOUNDS, Format, Serde
from lsql_runner.formats.spec import FormatRow, RegistryRow

ROWS: tuple[FormatRow, ...] = (
    *primitives.FORMATS,
    *json_format.FORMATS,
    *avro.FORMATS,
    *protobuf.FORMATS,
    *text_formats.FORMATS,
)
FORMATS: dict[str, FormatRow] = {row.name: row for row in ROWS}
REGISTRY_KINDS: dict[str, FormatRow] = {row.registry.kind: row for row in ROWS if row.registry is not None}
"""By the name that schema registries use (`schemaType`)."""

SCHEMA_SETTINGS = tuple(setting for row in ROWS for setting in row.settings)

KEY_FORMATS = tuple(row.name for row in ROWS if row.is_of_keys)
READABLE = (*FORMATS, *WINDOW_BOUNDS)
"""Formats of sources, including windowed keys."""
WRITABLE = tuple(row.name for row in ROWS if row.is_written)


def row_of(form: Format) -> FormatRow:
    """The row of a format; for a windowed key the row of the key's format."""
    return FORMATS[form.bare.name]


def records_have_schema_id(serde: Serde) -> bool:
    """Whether records of a part begin with the id of a schema, in any format."""
    return serde.has_schema_id or row_of(serde.format).needs_registry


def registry_row(form: Format) -> RegistryRow:
    """How a format uses a schema registry; only for formats that do."""
    registry = row_of(form).registry
    assert registry is not None, form
    return registry


def parse_format(text: str) -> Format | None:
    """The format with a name such as `JSON` or `TW[STRING]`, in upper or lower case; None if it is not supported."""
    outer, _, inner = text.strip().upper().partition("[")
    inner = inner.removesuffix("]")
    is_windowed = outer in WINDOW_BOUNDS
    if outer not in READABLE or is_windowed != bool(inner) or (inner and inner not in KEY_FORMATS):
        return None
    return Format(outer, inner or None)


def readable_as(part: OneOf["key", "value"]) -> tuple[str, ...]:
    """Names of the formats that keys or values of a source may have."""
    return tuple(name for name in READABLE if part == "value" or name in KEY_FORMATS or name in WINDOW_BOUNDS)


def known_formats(names: Iterable[str]) -> str:
    """The names as a list for errors: `STRING, TW[...]`."""
    return ", ".join(f"{name}[...]" if name in WINDOW_BOUNDS else name for name in names)


def recognize(samples: list[bytes]) -> Format:
    """The format of records without a declared format: JSON if some are JSON objects, STRING if all are text, else
    BYTES."""
    order = ("JSON", "STRING", "BYTES")
    name_of_format = next(name for name in order if (test := FORMATS[name].recognizes) is not None and test(samples))
    return Format(name_of_format)
