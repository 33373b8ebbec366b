"""The formats and types of topics, the sinks and the user-defined functions of a program, as frozen data.

A Catalog comes from brokers, from a case file or from a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal as OneOf

from lsql_runner.types import DataType, Field

SchemaOrigin = OneOf["declared", "pinned", "registry", "sampled", "program"]
"""`declared`: in LSQL_TOPICS or a case file; `program`: by CREATE TABLE, or computed for a target."""

WINDOW_BOUNDS = {"TW": ("start",), "SW": ("end", "start")}
"""Formats of windowed keys: the key is followed by the start of a time window, or by the end and the start of a
session. Each bound has 8 bytes, big-endian, in milliseconds since 1970 UTC."""


@dataclass(frozen=True, slots=True)
class Format:
    """A wire format. `inner` is the format of the key inside a windowed key (`TW[STRING]`, `SW[STRING]`)."""

    name: str
    inner: str | None = None

    @property
    def is_windowed(self) -> bool:
        """Whether it is the format of a windowed key."""
        return self.inner is not None

    @property
    def bare(self) -> Format:
        """The format of the key inside a windowed key; for other formats the format itself."""
        return self if self.inner is None else Format(self.inner)

    def __str__(self) -> str:
        return self.name if self.inner is None else f"{self.name}[{self.inner}]"


STRING_FORMAT = Format("STRING")
JSON_FORMAT = Format("JSON")
BYTES_FORMAT = Format("BYTES")


def windowed_format(inner: Format, name: OneOf["TW", "SW"] = "TW") -> Format:
    """The format of a windowed key whose key has the format `inner`: TW for time windows, SW for sessions."""
    return Format(name, inner.name)


@dataclass(frozen=True, slots=True)
class Serde:
    """The format of one part of a topic's records, and the type of its values."""

    format: Format
    type: DataType
    _: KW_ONLY
    schema: str | None = None
    """The text of the schema for reading or writing records, for formats with schemas; for JSON only if it is written
    with a schema id. A record may have been written with another schema."""
    has_schema_id: bool = False
    """Whether records begin with the id of a schema, for formats where this depends on the topic; some may lack it."""
    options: tuple[tuple[str, str], ...] = ()
    """Options of the format: name and value."""


@dataclass(frozen=True, slots=True)
class TopicSchema:
    """The serdes of a topic's keys and values, and their origin.

    `partitions` is the number of partitions; None without brokers.
    """

    topic: str
    key: Serde
    value: Serde
    _: KW_ONLY
    origin: SchemaOrigin = "declared"
    partitions: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserFunction:
    """A function that a Java class computes: one of Spark's interfaces UDF1 to UDF5."""

    name: str
    """In upper case; programs write it in any case."""
    class_name: str
    """As `Class.forName` takes it: a nested class is `com.example.Outer$Inner`."""
    arguments: tuple[Field, ...]
    """If an argument that is not nullable is NULL, the result is NULL and the class is not called."""
    result: Field
    """The type of the result, and whether the class may return null. The name is empty."""
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Catalog:
    """The topics, sinks and user-defined functions that a program may use.

    `schemas` contains every source topic. `existing` contains the names of all topics of the brokers. It is None
    without brokers (`lsql explain` with declared schemas); then no topic is refused as unknown.
    """

    schemas: Mapping[str, TopicSchema] = field(default_factory=dict)
    existing: frozenset[str] | None = None
    sinks: Mapping[str, str] = field(default_factory=dict)
    """The kinds of the configured sinks, by name."""
    functions: Mapping[str, UserFunction] = field(default_factory=dict)
    """The user-defined functions, by name."""
