"""Bytes to typed columns and back: the codec of each format, and windowed keys. Malformed bytes are an error."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.compile.codecs import avro, csv_xml, json_text, primitives, protobuf
from lsql_runner.compile.codecs.spec import Codec, SchemaOutput
from lsql_runner.compile.codecs.wire import long_be, require_min_length
from lsql_runner.formats.catalog import WINDOW_BOUNDS, Format, Serde
from lsql_runner.formats.table import row_of
from lsql_runner.types import DataType, Struct

CODECS: dict[str, Codec] = {
    **primitives.CODECS,
    **json_text.CODECS,
    **avro.CODECS,
    **protobuf.CODECS,
    **csv_xml.CODECS,
}
"""By the name of the format."""

_BOUND_BYTES = 8


@dataclass(frozen=True, slots=True)
class Window:
    """The window of a key: its start and, for a session, its end. LONG, milliseconds since 1970 UTC."""

    start: Column
    end: Column | None = None


def decode(raw: Column, serde: Serde, kind: DataType) -> Column:
    """The typed value of `raw` (BINARY); null stays null. `kind` is the type of the serde, or one with fewer fields."""
    if serde.format.is_windowed:
        return decode(_remove_window(raw, serde.format), replace(serde, format=serde.format.bare), kind)
    return CODECS[serde.format.name].decode(raw, serde, kind)


def check_unread(raw: Column, serde: Serde) -> Column | None:
    """A BOOLEAN that is true, or fails for malformed bytes.

    The fields of a struct are not decoded. None for formats whose bytes are not checked unless they are decoded."""
    if not CODECS[serde.format.bare.name].is_checked_unread:
        return None
    is_null = raw.isNull()
    if serde.format.is_windowed:
        raw, serde = _remove_window(raw, serde.format), replace(serde, format=serde.format.bare)
        is_null |= F.length(raw) == F.lit(0)  # a null key has no bytes before the window
    return is_null | decode(raw, serde, Struct(()) if isinstance(serde.type, Struct) else serde.type).isNotNull()


def encode(
    value: Column,
    form: Format,
    kind: DataType,
    window: Window | None = None,
    output: SchemaOutput | None = None,
) -> Column:
    """The bytes of a typed value; null stays null (a tombstone).

    Args:
        window: for windowed formats.
        output: for formats with a schema id, alone or inside a windowed format.
    """
    if form.is_windowed:
        assert window is not None
        return windowed_key(encode(value, form.bare, kind, output=output), form, window)
    encode_value = CODECS[form.name].encode
    assert encode_value is not None
    return encode_value(value, kind, output)


def replace_schema_id(raw: Column, serde: Serde, output: SchemaOutput | None) -> Column | None:
    """The bytes with the schema id of `output`, or without one; None for formats that always or never have one."""
    form = serde.format
    replaced = CODECS[form.bare.name].replace_schema_id
    if replaced is None:
        return None
    if not form.is_windowed:
        return replaced(raw, serde.has_schema_id, output)
    bare = replaced(_remove_window(raw, form), serde.has_schema_id, output)
    return F.concat(bare, window_bounds(raw, form))


def extend(raw: Column, serde: Serde, fields: Column, kind: Struct, inside: Struct) -> tuple[Column, Serde] | None:
    """The bytes, without a schema id, with the fields of a struct of type `kind` added or replaced, and their serde.

    The fields in `inside` are not replaced, but extended in the same way, with the fields that it has inside of them.
    None for formats that must be decoded to add fields."""
    codec = CODECS[serde.format.bare.name]
    if serde.format.is_windowed or codec.extend is None:
        return None
    plain = replace_schema_id(raw, serde, None) if serde.has_schema_id else raw
    assert plain is not None
    return codec.extend(plain, fields, kind, inside), replace(serde, has_schema_id=False)


def canonical(raw: Column, serde: Serde) -> Column | None:
    """The bytes in a form that is equal for equal values, with `canonical_serde`; null stays null.

    None for formats that must be decoded to compare values.
    """
    form = serde.format
    if row_of(form).key_identity == "bytes":
        return raw
    codec = CODECS[form.bare.name]
    if codec.canonical is None:
        return None
    plain = replace_schema_id(raw, serde, None) if serde.has_schema_id else raw
    assert plain is not None
    if not form.is_windowed:
        return codec.canonical(plain)
    bare = _remove_window(plain, form)
    # A null key has no bytes before the window.
    return F.concat(
        F.when(F.length(bare) == F.lit(0), bare).otherwise(codec.canonical(bare)), window_bounds(plain, form)
    )


def canonical_serde(serde: Serde) -> Serde:
    """The serde of the result of `canonical`."""
    return replace(serde, has_schema_id=False) if row_of(serde.format).key_identity == "canonical" else serde


def windowed_key(key: Column, form: Format, window: Window) -> Column:
    """Key bytes followed by a window, in the layout of Kafka Streams' `TimeWindowedSerializer` (TW) or
    `SessionWindowedSerializer` (SW). A null key has no bytes before the window.
    """
    bounds = [getattr(window, bound) for bound in WINDOW_BOUNDS[form.name]]
    return F.concat(F.coalesce(key, F.lit(b"")), *map(long_be, bounds))


def _window_bytes(form: Format) -> int:
    return _BOUND_BYTES * len(WINDOW_BOUNDS[form.name])


def window_bounds(raw: Column, form: Format) -> Column:
    """The bytes of the window of a windowed key."""
    window_bytes = _window_bytes(form)
    return F.substring(raw, -window_bytes, window_bytes)


def _remove_window(raw: Column, form: Format) -> Column:
    """The key of a windowed key."""
    window_bytes = _window_bytes(form)
    return F.substring(raw, F.lit(1), F.length(require_min_length(raw, window_bytes)) - F.lit(window_bytes))
