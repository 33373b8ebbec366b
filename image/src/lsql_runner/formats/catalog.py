"""What a program's topics hold, as frozen data. Brokers, case files and tests each make a Catalog of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal as OneOf

from lsql_runner.types import DataType

Origin = OneOf["declared", "pinned", "registry", "sampled", "program"]


WINDOW_BOUNDS = {"TW": ("start",), "SW": ("end", "start")}
"""Formats of keys with a window behind them: a time window's start, or a session's end and start, in this order. Each
is 8 bytes, big-endian, milliseconds since 1970 UTC."""


@dataclass(frozen=True, slots=True)
class Format:
    """A wire format. `inner` is the format of the key inside a windowed key (`TW[STRING]`, `SW[STRING]`)."""

    name: str
    inner: str | None = None

    @property
    def is_windowed(self) -> bool:
        """Whether it is the format of a key with a window behind it."""
        return self.inner is not None

    @property
    def bare(self) -> Format:
        """The format inside a windowed key's; any other format itself."""
        return self if self.inner is None else Format(self.inner)

    def __str__(self) -> str:
        return self.name if self.inner is None else f"{self.name}[{self.inner}]"


STRING_FORMAT = Format("STRING")
JSON_FORMAT = Format("JSON")
BYTES_FORMAT = Format("BYTES")


def windowed(inner: Format, name: OneOf["TW", "SW"] = "TW") -> Format:
    """The format of a windowed key around `inner`: TW of a time window, SW of a session."""
    return Format(name, inner.name)


@dataclass(frozen=True, slots=True)
class Serde:
    """The format of one part of a topic's records, and the type of its values."""

    format: Format
    type: DataType
    schema: str | None = None
    """The schema that records are read or written with, as text, for formats with schemas; of JSON only where it is
    written with a schema id. A record may have been written with another."""
    has_schema_id: bool = False
    """Records begin with the id of a schema, in a format where that is a property of the topic; some may lack it."""
    options: tuple[tuple[str, str], ...] = ()
    """Options of the format by name."""


@dataclass(frozen=True, slots=True)
class TopicSchema:
    """The two parts of a topic's records, and how they became known."""

    topic: str
    key: Serde
    value: Serde
    origin: Origin = "declared"
    partitions: int | None = None


@dataclass(frozen=True, slots=True)
class Catalog:
    """The topics that a program may use.

    `schemas` has every source topic. `existing` has the names of all topics on the brokers, or None where
    there are no brokers to ask (`lsql explain` with declared schemas): then no name is refused as unknown.
    """

    schemas: Mapping[str, TopicSchema] = field(default_factory=dict)
    existing: frozenset[str] | None = None
    sinks: Mapping[str, str] = field(default_factory=dict)
    """The kinds of the configured sinks, by name."""
