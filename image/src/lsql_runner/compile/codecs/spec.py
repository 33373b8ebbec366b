"""A row of the codec table: how a format is decoded and encoded in Spark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column

from lsql_runner.formats.catalog import Serde
from lsql_runner.types import DataType, Struct


@dataclass(frozen=True, slots=True)
class SchemaOutput:
    """The schema with which values are encoded, and its id in the registry."""

    schema: str
    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """Bytes of a format to typed columns and back. Null stays null; malformed bytes are an error."""

    decode: Callable[[Column, Serde, DataType], Column]
    """The value of bytes. The type is the serde's type, or a type with fewer fields."""
    encode: Callable[[Column, DataType, SchemaOutput | None], Column] | None = None
    """The bytes of a value; None for formats that are only read."""
    replace_schema_id: Callable[[Column, bool, SchemaOutput | None], Column] | None = None
    """The bytes with the schema id of the output, or without one. The flag is whether the bytes may begin with a schema
    id. None for formats whose records always or never have one."""
    canonical: Callable[[Column], Column] | None = None
    """The canonical form of bytes without a schema id, which is equal for equal values; for formats whose keys are
    recognized by it."""
    extend: Callable[[Column, Column, Struct, Struct], Column] | None = None
    """The bytes with the fields of a struct of this type added or replaced; the other bytes do not change. The structs
    in the second type are not replaced, but extended. None for formats that must be decoded to add fields."""
    is_checked_unread: bool = False
    """Whether malformed bytes are an error also in a key or value that nothing decodes."""
