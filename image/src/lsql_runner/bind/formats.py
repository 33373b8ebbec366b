"""Output formats: what a part is written as when the program does not say, and what fits into what."""

from __future__ import annotations

from dataclasses import replace

from lsql_runner.bind.bound import Part, Whole, WindowSpec
from lsql_runner.bind.topic_settings import PartSettings
from lsql_runner.errors import LsqlError
from lsql_runner.formats.avro_schema import AvroSchemaError, write_avro
from lsql_runner.formats.catalog import (
    AVRO_FORMAT,
    BYTES_FORMAT,
    JSON_FORMAT,
    OF_REGISTRY,
    OF_VALUES_ONLY,
    PROTOBUF_FORMAT,
    STRING_FORMAT,
    WINDOWED,
    Format,
    Serde,
    known_formats,
    windowed,
)
from lsql_runner.formats.json_schema import write_json_schema
from lsql_runner.formats.proto_output import write_proto
from lsql_runner.formats.proto_schema import is_first
from lsql_runner.formats.proto_text import ProtoError
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.types import BYTES, INT, LONG, NULL, STRING, Array, DataType, Map, Struct, describe

WRITABLE = ("STRING", "INT", "LONG", "BYTES", "JSON", *OF_REGISTRY)


_BY_TYPE: dict[DataType, Format] = {INT: Format("INT"), LONG: Format("LONG"), BYTES: BYTES_FORMAT}


def written(serde: Serde, name: str, settings: PartSettings, is_open: bool, span: Span) -> Serde:
    """The serde with the schema that it is written with, where it has one.

    Args:
        is_open: whether JSON may have fields that the type does not name.

    Raises:
        LsqlError: SCHEMA_UNWRITABLE.
    """
    if serde.format.bare == JSON_FORMAT:
        headed = serde.has_head if settings.json_schema is None else settings.json_schema
        schema = write_json_schema(serde.type, settings.record, is_open) if headed else None
        return replace(serde, has_head=headed, schema=schema)
    if serde.format.bare.name not in OF_REGISTRY or _is_written_with(serde):
        return serde
    try:
        if serde.format.bare == PROTOBUF_FORMAT:
            return replace(serde, schema=write_proto(serde.type, settings.message, settings.package), options=())
        return replace(serde, schema=write_avro(serde.type, False, settings.record, settings.namespace))
    except (AvroSchemaError, ProtoError) as error:
        form = serde.format.bare
        raise LsqlError("SCHEMA_UNWRITABLE", span, part=name, format=str(form), reason=str(error)) from None


def _is_written_with(serde: Serde) -> bool:
    """Whether the schema that a part came with is one to write it with: in PROTOBUF, its message is the first."""
    if serde.schema is None or serde.format.bare == AVRO_FORMAT:
        return serde.schema is not None
    return is_first(serde.schema, dict(serde.options).get("message"))


def default_format(kind: DataType) -> Format:
    """The format for a computed part: a struct is JSON, one value takes the format of its type."""
    if isinstance(kind, Struct | Array | Map):
        return JSON_FORMAT
    return _BY_TYPE.get(kind, STRING_FORMAT)


def computed_format(kind: DataType, source: Format) -> Format:
    """The format of a computed part: the source's if that is one for structs and this is one, else by type."""
    return source if isinstance(kind, Struct) and source.name in ("JSON", *OF_REGISTRY) else default_format(kind)


def computed_serde(kind: DataType, source: Serde) -> Serde:
    """How a computed part goes on, where the program does not say."""
    return _with_head(Serde(computed_format(kind, source.format), kind), source)


def _with_head(serde: Serde, source: Serde) -> Serde:
    """JSON from JSON that names its schema names its own."""
    is_json = serde.format.bare == source.format.bare == JSON_FORMAT
    return replace(serde, has_head=source.has_head) if is_json else serde


def output_serde(
    part: Part, kind: DataType, source: Serde, asked: ast.FormatName | None, name: str, span: Span
) -> Serde:
    """How a part goes out; `asked` is its STORE clause. A part passed through whole keeps its format if that is one
    that is written.

    Raises:
        LsqlError: FORMAT_UNSUPPORTED, FORMAT_MISMATCH.
    """
    if asked is None:
        if isinstance(part, Whole) and source.format.name not in OF_VALUES_ONLY:
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
    if not window_fits or not fits(kind, chosen.bare):
        raise LsqlError(
            "FORMAT_MISMATCH",
            span,
            part=name,
            type=describe(kind),
            format=str(chosen),
            suggested=str(default_format(kind)),
        )
    return _with_head(Serde(chosen, kind), source)


def _like(source: Format, form: Format) -> Format:
    """A format with the window of the source's around it, if that has one."""
    return replace(source, inner=form.name) if source.is_windowed else form


def _asked_format(asked: ast.FormatName) -> Format:
    inner = asked.inner or asked.name
    windowed_well = (asked.name in WINDOWED) == (asked.inner is not None)
    if (asked.name not in (*WRITABLE, *WINDOWED)) or inner not in WRITABLE or not windowed_well:
        raise LsqlError(
            "FORMAT_UNSUPPORTED",
            asked.span,
            format=str(Format(asked.name, asked.inner)),
            known=known_formats((*WRITABLE, *WINDOWED)),
        )
    return Format(asked.name, asked.inner)


def fits(kind: DataType, form: Format) -> bool:
    """Whether a value of this type can be written in this format without loss."""
    match form.name:
        case "JSON":
            return kind != BYTES
        case "AVRO":
            return kind != NULL
        case "PROTOBUF":
            return isinstance(kind, Struct)
        case "STRING":
            return not isinstance(kind, Struct | Array | Map) and kind != BYTES
        case "INT":
            return kind == INT
        case "LONG":
            return kind in (INT, LONG)
        case "BYTES":
            return kind in (BYTES, STRING)
    return False


def grouped_key_serde(serde: Serde, window: WindowSpec | None) -> Serde:
    """The serde of an aggregate's key: inside a window it gains the window's start, inside a session also its end."""
    if window is None:
        return serde
    return replace(serde, format=windowed(serde.format, "SW" if window.is_session else "TW"))
