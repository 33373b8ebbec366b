"""Formats of output records: the defaults, and the check of STORE clauses."""

from __future__ import annotations

from dataclasses import replace

from lsql_runner.bind.bound import Part, Unchanged, WindowSpec
from lsql_runner.bind.topic_settings import PartSettings
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, WINDOW_BOUNDS, Format, Serde, windowed_format
from lsql_runner.formats.spec import FieldNameError, FormatError, OutputSchema
from lsql_runner.formats.table import FORMATS, WRITABLE, known_formats, row_of
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.types import JSON, Array, DataType, Map, Struct, describe

_BY_TYPE = {row.one_type: Format(row.name) for row in FORMATS.values() if row.one_type is not None}


def with_schema(serde: Serde, part: str, name: str, settings: PartSettings, is_open: bool, span: Span) -> Serde:
    """The serde with the schema for writing, if its format uses the schema registry.

    Args:
        serde: the format and type of the part.
        part: `key` or `value`.
        name: the name of the schema, unless the settings name it.
        settings: the settings of the part.
        is_open: whether JSON can have fields that the type does not declare.
        span: the SELECT list, for errors.

    Raises:
        LsqlError: FIELD_NAME_INVALID, SCHEMA_UNWRITABLE.
    """
    registry = row_of(serde.format).registry
    if registry is None:
        return serde
    try:
        return registry.write(serde, OutputSchema(name, is_open, dict(settings.schema)))
    except FieldNameError as error:
        raise LsqlError("FIELD_NAME_INVALID", span, field=error.field, format=str(serde.format.bare)) from None
    except FormatError as error:
        form = serde.format.bare
        raise LsqlError("SCHEMA_UNWRITABLE", span, part=part, format=str(form), reason=error.reason) from None


def default_format(kind: DataType) -> Format:
    """The default format of a type: JSON for structs, arrays and maps, LONG for long and so on, else STRING."""
    if isinstance(kind, Struct | Array | Map) or kind == JSON:
        return JSON_FORMAT
    return _BY_TYPE.get(kind, STRING_FORMAT)


def computed_format(kind: DataType, source: Format) -> Format:
    """The format of a computed part. A struct keeps the source's format, if that is a format for structs."""
    keeps_format = isinstance(kind, Struct) and not source.is_windowed and row_of(source).keeps_structs
    return source if keeps_format else default_format(kind)


def computed_serde(kind: DataType, source: Serde) -> Serde:
    """The serde of a computed part without a STORE clause."""
    return _with_schema_id_of(source, Serde(computed_format(kind, source.format), kind))


def _with_schema_id_of(source: Serde, serde: Serde) -> Serde:
    """The serde. If it has the source's format, its records have a schema id if the source's records have one."""
    is_same = serde.format.bare == source.format.bare and row_of(serde.format).may_have_schema_id
    return replace(serde, has_schema_id=source.has_schema_id) if is_same else serde


def output_serde(
    part: Part, kind: DataType, source: Serde, store: ast.FormatName | None, name: str, span: Span
) -> Serde:
    """The serde of a part of an INSERT. An unchanged part keeps its format, if that format can be written.

    Args:
        part: the part.
        kind: its type.
        source: the serde of the same part in the SELECT.
        store: the format of the STORE clause.
        name: `key` or `value`.
        span: the SELECT list, for errors without a STORE clause.

    Raises:
        LsqlError: FORMAT_UNSUPPORTED, FORMAT_MISMATCH.
    """
    if store is None:
        if isinstance(part, Unchanged) and row_of(source.format).is_written:
            return source
        chosen = _with_window_of(source.format, computed_format(kind, source.format))
    else:
        chosen = _store_format(store)
        if not chosen.is_windowed:
            chosen = _with_window_of(source.format, chosen)  # the clause names the format of the key inside the window
        span = store.span
    if chosen == source.format and isinstance(part, Unchanged):
        return source
    window_fits = chosen == _with_window_of(source.format, chosen.bare) and not (
        chosen.is_windowed and isinstance(part, Unchanged)
    )
    if not window_fits or not fits(kind, chosen):
        raise LsqlError(
            "FORMAT_MISMATCH",
            span,
            part=name,
            type=describe(kind),
            format=str(chosen),
            suggested=str(default_format(kind)),
        )
    return _with_schema_id_of(source, Serde(chosen, kind))


def _with_window_of(source: Format, form: Format) -> Format:
    """The format with a window around it, if the source's format has one."""
    return replace(source, inner=form.name) if source.is_windowed else form


def _store_format(name: ast.FormatName) -> Format:
    """The format of a STORE clause."""
    form = Format(name.name, name.inner)
    has_inner = (name.name in WINDOW_BOUNDS) == (name.inner is not None)
    if (name.name not in (*WRITABLE, *WINDOW_BOUNDS)) or (name.inner or name.name) not in WRITABLE or not has_inner:
        known = known_formats((*WRITABLE, *WINDOW_BOUNDS))
        raise LsqlError("FORMAT_UNSUPPORTED", name.span, format=str(form), known=known)
    return form


def fits(kind: DataType, form: Format) -> bool:
    """Whether all values of this type can be written in this format without loss."""
    return row_of(form).fits(kind)


def grouped_key_serde(serde: Serde, window: WindowSpec | None) -> Serde:
    """The serde of the key of an aggregate. With a window, the key includes its start; with a session, also its end."""
    if window is None:
        return serde
    return replace(serde, format=windowed_format(serde.format, "SW" if window.is_session else "TW"))
