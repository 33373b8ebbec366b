"""What a program's topics hold. Frozen data: whoever makes a Catalog (brokers, a case file, a test) does the asking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal as OneOf

from lsql_runner.types import BYTES, INT, LONG, STRING, DataType

Origin = OneOf["declared", "pinned", "registry", "sampled", "program"]


@dataclass(frozen=True, slots=True)
class Format:
    """A wire format. `inner` is the format of the key inside a windowed key (`TW[STRING]`)."""

    name: str
    inner: str | None = None

    def __str__(self) -> str:
        return self.name if self.inner is None else f"{self.name}[{self.inner}]"


STRING_FORMAT = Format("STRING")
JSON_FORMAT = Format("JSON")
AVRO_FORMAT = Format("AVRO")
BYTES_FORMAT = Format("BYTES")
PRIMITIVE_FORMATS: dict[str, DataType] = {"STRING": STRING, "INT": INT, "LONG": LONG, "BYTES": BYTES}
"""Formats that hold one value of one type, laid out as Kafka's own serializers do."""

READABLE = ("STRING", "INT", "LONG", "BYTES", "JSON", "AVRO", "TW")
"""Formats of this version. PROTOBUF, XML, CSV and SW are refused by name."""


def parse_format(text: str) -> Format | None:
    """The format that `JSON` or `TW[STRING]` names, in any case; None for one that this version does not read."""
    outer, _, inner = text.strip().upper().partition("[")
    inner = inner.removesuffix("]")
    if (
        outer not in READABLE
        or (outer == "TW") != bool(inner)
        or (inner and inner not in (*PRIMITIVE_FORMATS, "JSON", "AVRO"))
    ):
        return None
    return Format(outer, inner or None)


def windowed(inner: Format) -> Format:
    """The format of a windowed key around `inner`."""
    return Format("TW", inner.name)


@dataclass(frozen=True, slots=True)
class Serde:
    """How one part of a record is written, and the type that comes out of it."""

    format: Format
    type: DataType
    schema: str | None = None
    """AVRO: the schema that records are resolved to, as JSON text; each was written with one of its own."""


@dataclass(frozen=True, slots=True)
class TopicSchema:
    """The two parts of a topic's records, and where that knowledge comes from."""

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
