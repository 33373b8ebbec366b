"""What the program's topics hold: asked in the order of the language's rules, then frozen into a Catalog.

The program, then the configuration, then what was pinned beside the checkpoint, then a sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lsql_runner.bind.catalog import BYTES_FORMAT, STRING_FORMAT, Catalog, Format, Serde, TopicSchema
from lsql_runner.bind.decoders import SourceFormats, source_formats, source_topics
from lsql_runner.errors import LsqlError
from lsql_runner.kafka.brokers import Brokers, RawRecord
from lsql_runner.kafka.infer import infer_serde, settled, widened
from lsql_runner.sql import ast
from lsql_runner.types import BYTES, STRING, Struct


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known of topics before the brokers are asked."""

    declared: Mapping[str, TopicSchema]
    pinned: Mapping[str, TopicSchema]
    sample_records: int = 1000


def resolve_catalog(program: ast.Program, brokers: Brokers, knowledge: Knowledge) -> Catalog:
    """The catalog for a program.

    Raises:
        LsqlError: BROKER_UNREACHABLE; SCHEMA_WAITING when an undeclared topic is empty; FORMAT_UNSUPPORTED. A
            missing topic is no error here: binding refuses it, with its place in the program.
    """
    existing = brokers.topics()
    named = source_formats(program)
    schemas: dict[str, TopicSchema] = {}
    for topic in source_topics(program):
        if topic in existing:
            schema = _schema(topic, named.get(topic, SourceFormats()), brokers, knowledge)
            schemas[topic] = replace(schema, partitions=existing[topic])
    return Catalog(schemas, frozenset(existing))


def _schema(topic: str, named: SourceFormats, brokers: Brokers, knowledge: Knowledge) -> TopicSchema:
    declared = knowledge.declared.get(topic)
    if declared is not None and _agrees(declared.key.format, named.key) and _agrees(declared.value.format, named.value):
        return declared
    pinned = knowledge.pinned.get(topic)
    if pinned is not None and not (_agrees(pinned.key.format, named.key) and _agrees(pinned.value.format, named.value)):
        pinned = None
    sample = brokers.sample(topic, knowledge.sample_records)
    if pinned is not None:
        return _widened(pinned, sample)
    return _sampled(topic, named, sample)


def _agrees(known: Format, named: Format | None) -> bool:
    return named is None or known == named


def _widened(pinned: TopicSchema, sample: list[RawRecord]) -> TopicSchema:
    """The pinned schema with fields that have appeared since; formats and types that are pinned never change."""
    value = infer_serde([record.value for record in sample], pinned.value.format)
    if value is None or not isinstance(pinned.value.type, Struct):
        return replace(pinned, origin="pinned")
    return replace(
        pinned,
        origin="pinned",
        value=Serde(pinned.value.format, widened(pinned.value.type, settled(value.type))),
    )


def _sampled(topic: str, named: SourceFormats, sample: list[RawRecord]) -> TopicSchema:
    key = infer_serde([record.key for record in sample], named.key)
    value = infer_serde([record.value for record in sample], named.value)
    if value is None:
        raise LsqlError("SCHEMA_WAITING", topic=topic)
    if key is None:  # every key is null: whatever comes passes through
        key = Serde(STRING_FORMAT, STRING) if sample else Serde(BYTES_FORMAT, BYTES)
    return TopicSchema(topic, _settled(key), _settled(value), "sampled")


def _settled(serde: Serde) -> Serde:
    return Serde(serde.format, settled(serde.type))
