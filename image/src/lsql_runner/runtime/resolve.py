"""The formats and types of the program's topics, as a Catalog.

Sources, in this order: the program, LSQL_TOPICS, the schemas pinned beside the checkpoint, the registry, a sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lsql_runner.bind.declarations import program_schemas
from lsql_runner.bind.decoders import SourceFormats, source_formats, source_topics
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import (
    BYTES_FORMAT,
    JSON_FORMAT,
    OF_REGISTRY,
    OF_VALUES_ONLY,
    STRING_FORMAT,
    Catalog,
    Format,
    Origin,
    Serde,
    TopicSchema,
)
from lsql_runner.formats.infer import infer_serde
from lsql_runner.formats.json_types import settled, widened
from lsql_runner.kafka.ports import RawRecord, TopicReader
from lsql_runner.kafka.registry import SchemaRegistry
from lsql_runner.runtime.registered import registered_serde
from lsql_runner.sql import ast
from lsql_runner.types import BYTES, STRING, DataType, Struct


@dataclass(frozen=True, slots=True)
class KnownSchemas:
    """What describes topics, apart from the program and the brokers."""

    declared: Mapping[str, TopicSchema]
    pinned: Mapping[str, TopicSchema]
    sample_records: int = 1000
    registry: SchemaRegistry | None = None
    sinks: Mapping[str, str] = field(default_factory=dict)
    """The kinds of the configured sinks, by name."""


def resolve_catalog(program: ast.Program, brokers: TopicReader, known: KnownSchemas) -> Catalog:
    """The catalog for a program.

    Raises:
        LsqlError: BROKER_UNREACHABLE, REGISTRY_UNREACHABLE and the like; TOPIC_EMPTY when an undeclared topic is
            empty; SCHEMA_UNDECLARED; FORMAT_UNSUPPORTED; REGISTRY_MISSING. A missing topic is no error here: binding
            refuses it, with its place in the program.
    """
    existing = brokers.topics()
    named = source_formats(program)
    said = program_schemas(program)
    schemas: dict[str, TopicSchema] = {}
    for topic in source_topics(program):
        if topic in existing:
            schema = said.get(topic) or _schema(topic, named.get(topic, SourceFormats()), brokers, known)
            formats = {schema.key.format.bare.name, schema.value.format.name}
            if known.registry is None and formats & {*OF_REGISTRY}:
                raise LsqlError("REGISTRY_MISSING", topic=topic)  # for the schemas that the records name
            schemas[topic] = replace(schema, partitions=existing[topic])
    return Catalog(schemas, frozenset(existing), known.sinks)


def _schema(topic: str, named: SourceFormats, brokers: TopicReader, known: KnownSchemas) -> TopicSchema:
    declared = known.declared.get(topic)
    if declared is not None and _agrees(declared.key.format, named.key) and _agrees(declared.value.format, named.value):
        return declared
    pinned = known.pinned.get(topic)
    if pinned is not None and not (_agrees(pinned.key.format, named.key) and _agrees(pinned.value.format, named.value)):
        pinned = None
    sample = brokers.sample(topic, known.sample_records)
    if pinned is not None:
        return _widened(pinned, sample, known.registry)
    return _found(topic, named, sample, known.registry)


def _agrees(known: Format, named: Format | None) -> bool:
    return named is None or known == named


def _widened(pinned: TopicSchema, sample: list[RawRecord], registry: SchemaRegistry | None) -> TopicSchema:
    """The pinned schema with fields that have appeared since; formats and types that are pinned never change."""
    key = _newer(pinned.key, pinned.topic, "key", [record.key for record in sample], registry)
    value = _newer(pinned.value, pinned.topic, "value", [record.value for record in sample], registry)
    if value.format == JSON_FORMAT and not value.has_head and isinstance(value.type, Struct):
        seen = infer_serde([record.value for record in sample], value.format)
        if seen is not None:
            value = replace(value, type=widened(value.type, settled(seen.type)))
    return replace(pinned, origin="pinned", key=key, value=value)


def _newer(pinned: Serde, topic: str, part: str, samples: list[bytes | None], registry: SchemaRegistry | None) -> Serde:
    """The newest schema that a part names, where it says the same of all that was known; the new fields of JSON's."""
    if registry is None or not (pinned.format.name in OF_REGISTRY or pinned.has_head):
        return pinned
    message = dict(pinned.options).get("message")
    found = registered_serde(registry, topic, part, samples if pinned.has_head else (), message)
    if found is None or found.format != pinned.format:
        return pinned
    if pinned.has_head:
        return replace(pinned, type=widened(pinned.type, settled(found.type)))
    return found if _holds(found.type, pinned.type) else pinned


def _holds(newer: DataType, older: DataType) -> bool:
    if not isinstance(newer, Struct) or not isinstance(older, Struct):
        return newer == older
    return all((now := newer.field(f.name)) is not None and _holds(now.type, f.type) for f in older.fields)


def _found(topic: str, named: SourceFormats, sample: list[RawRecord], registry: SchemaRegistry | None) -> TopicSchema:
    key, key_origin = _part(topic, "key", [record.key for record in sample], named.key, registry)
    value, value_origin = _part(topic, "value", [record.value for record in sample], named.value, registry)
    if value is None:
        raise LsqlError("TOPIC_EMPTY", topic=topic)
    if key is None:  # every key of the sample is null
        key = Serde(STRING_FORMAT, STRING) if sample else Serde(BYTES_FORMAT, BYTES)
    origin: Origin = "registry" if "registry" in (key_origin, value_origin) else "sampled"
    return TopicSchema(topic, _settled(key), _settled(value), origin)


def _part(
    topic: str, part: str, samples: list[bytes | None], named: Format | None, registry: SchemaRegistry | None
) -> tuple[Serde | None, Origin]:
    if named is not None and named.name in OF_VALUES_ONLY:
        raise LsqlError("SCHEMA_UNDECLARED", topic=topic, format=str(named))
    is_of_registry = named is not None and named.name in OF_REGISTRY
    if is_of_registry and registry is None:
        raise LsqlError("REGISTRY_MISSING", topic=topic)
    if registry is not None and (is_of_registry or named in (None, JSON_FORMAT)):
        found = registered_serde(registry, topic, part, samples)
        if found is not None and named in (None, found.format):
            return found, "registry"
    return None if is_of_registry else infer_serde(samples, named), "sampled"


def _settled(serde: Serde) -> Serde:
    return serde if serde.schema is not None else replace(serde, type=settled(serde.type))
