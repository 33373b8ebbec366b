"""Output formats: what a part is written as where the program does not say, and what it may ask for."""

from __future__ import annotations

from dataclasses import replace

from lsql_runner.bind.bound import Part, Whole, WindowSpec
from lsql_runner.bind.topic_settings import PartSettings
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, WINDOW_BOUNDS, Format, Serde, windowed
from lsql_runner.formats.spec import FieldNameError, FormatError, OutputSchema
from lsql_runner.formats.table import FORMATS, WRITABLE, known_formats, row_of
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.types import Array, DataType, Map, Struct, describe

_BY_TYPE = {row.one_type: Format(row.name) for row in FORMATS.values() if row.one_type is not None}


def written(serde: Serde, part: str, name: str, settings: PartSettings, is_open: bool, span: Span) -> Serde:
    """The serde with the schema that it is written with, if it has one.

    Args:
        part: `key` or `value`.
        name: of the schema, unless the settings say another.
        is_open: whether JSON may have fields that the type does not name.

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
    """The format for a computed part: a struct is JSON, one value takes the format of its type."""
    if isinstance(kind, Struct | Array | Map):
        return JSON_FORMAT
    return _BY_TYPE.get(kind, STRING_FORMAT)


def computed_format(kind: DataType, source: Format) -> Format:
    """The format of a computed part: a struct keeps the source's format if that holds structs, else it goes by type."""
    keeps = isinstance(kind, Struct) and not source.is_windowed and row_of(source).keeps_structs
    return source if keeps else default_format(kind)


def computed_serde(kind: DataType, source: Serde) -> Serde:
    """The serde of a computed part where the program does not say."""
    return _like_source(Serde(computed_format(kind, source.format), kind), source)


def _like_source(serde: Serde, source: Serde) -> Serde:
    """A part in the format of its source has a schema id if the source's records have one."""
    is_same = serde.format.bare == source.format.bare and row_of(serde.format).may_have_schema_id
    return replace(serde, has_schema_id=source.has_schema_id) if is_same else serde


def output_serde(
    part: Part, kind: DataType, source: Serde, asked: ast.FormatName | None, name: str, span: Span
) -> Serde:
    """The serde of an INSERT's part; `asked` is its STORE clause. A part that passes through whole keeps its format if
    that can be written.

    Raises:
        LsqlError: FORMAT_UNSUPPORTED, FORMAT_MISMATCH.
    """
    if asked is None:
        if isinstance(part, Whole) and row_of(source.format).is_written:
            return source
        chosen = computed_format(kind, source.format)
        chosen = _like(source.format, chosen)
    else:
        chosen = _asked_format(asked)
        if not chosen.is_windowed:
            chosen = _like(source.format, chosen)  # the window stays in the key; what is asked for is the key inside
        span = asked.span
    if chosen == source.format and isinstance(part, Whole):
        return source
    window_fits = chosen == _like(source.format, chosen.bare) and not (chosen.is_windowed and isinstance(part, Whole))
    if not window_fits or not fits(kind, chosen):
        raise LsqlError(
            "FORMAT_MISMATCH",
            span,
            part=name,
            type=describe(kind),
            format=str(chosen),
            suggested=str(default_format(kind)),
        )
    return _like_source(Serde(chosen, kind), source)


def _like(source: Format, form: Format) -> Format:
    """A format with the window of the source's around it, if that has one."""
    return replace(source, inner=form.name) if source.is_windowed else form


def _asked_format(asked: ast.FormatName) -> Format:
    inner = asked.inner or asked.name
    windowed_well = (asked.name in WINDOW_BOUNDS) == (asked.inner is not None)
    if (asked.name not in (*WRITABLE, *WINDOW_BOUNDS)) or inner not in WRITABLE or not windowed_well:
        raise LsqlError(
            "FORMAT_UNSUPPORTED",
            asked.span,
            format=str(Format(asked.name, asked.inner)),
            known=known_formats((*WRITABLE, *WINDOW_BOUNDS)),
        )
    return Format(asked.name, asked.inner)


def fits(kind: DataType, form: Format) -> bool:
    """Whether a value of this type can be written in this format without loss."""
    return row_of(form).fits(kind)


def grouped_key_serde(serde: Serde, window: WindowSpec | None) -> Serde:
    """The serde of an aggregate's key: inside a window it gains the window's start, inside a session also its end."""
    if window is None:
        return serde
    return replace(serde, format=windowed(serde.format, "SW" if window.is_session else "TW"))
