"""Finds the formats and types of the program's topics, as a Catalog.

Sources, in this order: the program, LSQL_TOPICS, the schemas pinned in program.json, the registry, a sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lsql_runner.bind.declarations import program_schemas
from lsql_runner.bind.settings import ProgramSettings
from lsql_runner.bind.source_formats import SourceFormats, source_formats, source_topics
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import (
    BYTES_FORMAT,
    STRING_FORMAT,
    Catalog,
    Format,
    SchemaOrigin,
    Serde,
    TopicSchema,
    UserFunction,
)
from lsql_runner.formats.infer import infer_serde
from lsql_runner.formats.json_types import settled, widened
from lsql_runner.formats.table import records_have_schema_id, row_of
from lsql_runner.kafka.ports import RawRecord, TopicReader
from lsql_runner.kafka.registry import SchemaRegistry
from lsql_runner.sql import ast
from lsql_runner.start.registry_schemas import registered_serde
from lsql_runner.types import BYTES, STRING, DataType, Struct


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSchemas:
    """Sources of schemas beside the program and the records."""

    declared: Mapping[str, TopicSchema]
    """By topic: LSQL_TOPICS."""
    pinned: Mapping[str, TopicSchema]
    """By topic: the schemas in program.json."""
    sample_records: int = 1000
    """The maximum number of records in a sample."""
    registry: SchemaRegistry | None = None
    sinks: Mapping[str, str] = field(default_factory=dict)
    """The kinds of the configured sinks, by name."""
    functions: Mapping[str, UserFunction] = field(default_factory=dict)
    """The user-defined functions, by name."""


def resolve_catalog(
    program: ast.Program, settings: ProgramSettings, brokers: TopicReader, known: KnownSchemas
) -> Catalog:
    """The catalog for a program.

    Raises:
        LsqlError: BROKER_UNREACHABLE, REGISTRY_UNREACHABLE and other errors of brokers and registry; TOPIC_EMPTY if an
            undeclared topic is empty; SCHEMA_UNDECLARED; FORMAT_UNSUPPORTED; REGISTRY_MISSING. A missing topic is not
            an error here: binding refuses it, with its place in the program.
    """
    existing = brokers.topics()
    formats = source_formats(program)
    in_program = program_schemas(program, settings)
    schemas: dict[str, TopicSchema] = {}
    for topic in source_topics(program):
        if topic in existing:
            schema = in_program.get(topic) or _schema(topic, formats.get(topic, SourceFormats()), brokers, known)
            needs_registry = any(row_of(part.format).needs_registry for part in (schema.key, schema.value))
            if known.registry is None and needs_registry:
                raise LsqlError("REGISTRY_MISSING", topic=topic)  # it has the schemas whose ids are in the records
            schemas[topic] = replace(schema, partitions=existing[topic])
    return Catalog(schemas, frozenset(existing), known.sinks, known.functions)


def _schema(topic: str, named: SourceFormats, brokers: TopicReader, known: KnownSchemas) -> TopicSchema:
    declared = known.declared.get(topic)
    if declared is not None and _agrees(declared.key.format, named.key) and _agrees(declared.value.format, named.value):
        return declared
    pinned = known.pinned.get(topic)
    if pinned is not None and not (_agrees(pinned.key.format, named.key) and _agrees(pinned.value.format, named.value)):
        pinned = None
    sample = brokers.sample(topic, known.sample_records)
    if pinned is not None:
        return _widen(pinned, sample, known.registry)
    return _discover(topic, named, sample, known.registry)


def _agrees(known: Format, named: Format | None) -> bool:
    return named is None or known == named


def _widen(pinned: TopicSchema, sample: list[RawRecord], registry: SchemaRegistry | None) -> TopicSchema:
    """The pinned schema with new fields of the topic. Pinned formats and types never change."""
    key = _newer(pinned.key, pinned.topic, "key", [record.key for record in sample], registry)
    value = _newer(pinned.value, pinned.topic, "value", [record.value for record in sample], registry)
    if row_of(value.format).is_sampled and not value.has_schema_id and isinstance(value.type, Struct):
        seen = infer_serde([record.value for record in sample], value.format)
        if seen is not None:
            value = replace(value, type=widened(value.type, settled(seen.type)))
    return replace(pinned, origin="pinned", key=key, value=value)


def _newer(pinned: Serde, topic: str, part: str, samples: list[bytes | None], registry: SchemaRegistry | None) -> Serde:
    """The serde of a key or value with the newest schema of the registry, if that has all pinned fields with their
    types; else the pinned serde. For JSON, the pinned serde with the new fields of the schema."""
    if registry is None or pinned.format.is_windowed or not records_have_schema_id(pinned):
        return pinned
    serde = registered_serde(registry, topic, part, samples if pinned.has_schema_id else (), dict(pinned.options))
    if serde is None or serde.format != pinned.format:
        return pinned
    if pinned.has_schema_id:
        return replace(pinned, type=widened(pinned.type, settled(serde.type)))
    return serde if _has_all_fields(serde.type, pinned.type) else pinned


def _has_all_fields(newer: DataType, older: DataType) -> bool:
    if not isinstance(newer, Struct) or not isinstance(older, Struct):
        return newer == older
    return all((now := newer.field(f.name)) is not None and _has_all_fields(now.type, f.type) for f in older.fields)


def _discover(
    topic: str, named: SourceFormats, sample: list[RawRecord], registry: SchemaRegistry | None
) -> TopicSchema:
    """The schema of a topic by the registry, or by a sample."""
    key, key_origin = _part(topic, "key", [record.key for record in sample], named.key, registry)
    value, value_origin = _part(topic, "value", [record.value for record in sample], named.value, registry)
    if value is None:
        raise LsqlError("TOPIC_EMPTY", topic=topic)
    if key is None:  # every key of the sample is null
        key = Serde(STRING_FORMAT, STRING) if sample else Serde(BYTES_FORMAT, BYTES)
    origin: SchemaOrigin = "registry" if "registry" in (key_origin, value_origin) else "sampled"
    return TopicSchema(topic, _settle(key), _settle(value), origin=origin)


def _part(
    topic: str, part: str, samples: list[bytes | None], named: Format | None, registry: SchemaRegistry | None
) -> tuple[Serde | None, SchemaOrigin]:
    may_be_registered = True
    if named is not None:
        row = row_of(named)
        # The type of a windowed key is neither in the registry nor in a sample.
        if row.must_be_declared or (named.is_windowed and row.needs_registry):
            raise LsqlError("SCHEMA_UNDECLARED", topic=topic, format=str(named))
        if row.needs_registry and registry is None:
            raise LsqlError("REGISTRY_MISSING", topic=topic)
        may_be_registered = row.registry is not None and not named.is_windowed
    if registry is not None and may_be_registered:
        serde = registered_serde(registry, topic, part, samples)
        if serde is not None and named in (None, serde.format):
            return serde, "registry"
    return infer_serde(samples, named), "sampled"


def _settle(serde: Serde) -> Serde:
    return serde if serde.schema is not None else replace(serde, type=settled(serde.type))
