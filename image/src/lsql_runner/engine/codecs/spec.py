"""What one row of the codec table holds: how a format is decoded and encoded in Spark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column

from lsql_runner.formats.catalog import Serde
from lsql_runner.types import DataType


@dataclass(frozen=True, slots=True)
class SchemaOutput:
    """What values are written with: a schema, and its id at the registry."""

    schema: str
    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """Bytes of a format to typed columns and back. Null stays null; malformed bytes stop the query."""

    decode: Callable[[Column, Serde, DataType], Column]
    """The value in bytes. The type is the serde's or a narrowing of it."""
    encode: Callable[[Column, DataType, SchemaOutput | None], Column] | None = None
    """The bytes of a value; None for formats that are only read."""
    replace_schema_id: Callable[[Column, bool, SchemaOutput | None], Column] | None = None
    """The bytes with another schema id before them, or none; the flag says whether they may have one. None for formats
    whose records always have one, or never."""
    extend: Callable[[Column, list[tuple[str, Column]]], Column] | None = None
    """The bytes with fields set: replaced where they have them, else added, all else as it was. None for formats that
    must be decoded for that."""
