"""Prepares a case for an engine: encodes its records, and plans its program as a processor does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from lsql_runner.bind.declarations import program_schemas
from lsql_runner.bind.settings import ProgramSettings, bind_settings
from lsql_runner.bind.source_formats import SourceFormats, source_formats
from lsql_runner.cases.codecs import WriterSchema
from lsql_runner.cases.model import Case, Headers, InputRecord
from lsql_runner.cases.registry import MemoryRegistry
from lsql_runner.cases.scalars import InvalidValue
from lsql_runner.cases.values import encode_value, guess_format
from lsql_runner.errors import DetailTable, LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.formats.catalog import Format, Serde, TopicSchema, UserFunction
from lsql_runner.formats.table import registry_row
from lsql_runner.kafka.ports import RawRecord, TopicReader
from lsql_runner.kafka.registry import SchemaRegistry
from lsql_runner.pipeline import PlannedProgram, plan_parsed
from lsql_runner.plan.queries import Plan
from lsql_runner.sql import ast
from lsql_runner.sql.parser import parse
from lsql_runner.start.registry_schemas import register_output_schemas, subject_of
from lsql_runner.start.resolve import KnownSchemas, resolve_catalog

_REASONS = DetailTable({"FORMAT_UNKNOWN": "this may be text or a binary number: declare the format of the topic"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedRecord:
    """An input record with encoded key and value."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers
    timestamp_ms: int
    partition: int
    offset: int


Batches = tuple[tuple[EncodedRecord, ...], ...]


@dataclass(frozen=True, slots=True)
class PreparedCase:
    """A case with its planned program and its encoded records."""

    planned: PlannedProgram
    batches: Batches
    registry: MemoryRegistry
    """Contains every schema of the case and of the plan."""

    @property
    def plan(self) -> Plan:
        return self.planned.plan


NO_FUNCTIONS: Mapping[str, UserFunction] = {}


def prepare_case(case: Case, functions: Mapping[str, UserFunction] = NO_FUNCTIONS) -> PreparedCase:
    """Parse and plan the program, encode the records and register the schemas, without brokers and in a new registry.

    Args:
        case: the case.
        functions: the user-defined functions, by name.

    Raises:
        LsqlError: an error of the program; CASE_RECORD_INVALID if a record does not fit its topic.
    """
    program = parse(case.sql)
    settings = bind_settings(program.settings)
    registry = MemoryRegistry()
    batches = encode_batches(case, program, settings, register_writers(case, registry))
    brokers = cast(TopicReader, _CaseBrokers(case, batches))  # resolve_catalog uses only topics and samples
    known = KnownSchemas(declared=case.declared, pinned={}, registry=registry, sinks=case.sinks, functions=functions)
    catalog = resolve_catalog(program, settings, brokers, known)
    planned = plan_parsed(program, settings, catalog)
    return PreparedCase(replace(planned, plan=register_output_schemas(planned.plan, registry)), batches, registry)


RegisteredWriters = Mapping[tuple[str, str, str | None], WriterSchema]
"""By topic, part and the writer that a record names; the writer None has the schema of the topic."""


def register_writers(case: Case, registry: SchemaRegistry) -> RegisteredWriters:
    """Register the schemas of a case as versions of its topics' subjects; the schema of a topic becomes the newest.

    Raises:
        LsqlError: SCHEMA_INCOMPATIBLE, SCHEMA_INVALID, REGISTRY_UNREACHABLE and the like.
    """
    schemas: dict[tuple[str, str, str | None], WriterSchema] = {}
    for topic, part, serde in declared_schemas(case):
        assert serde.schema is not None
        kind = registry_row(serde.format).kind
        for name, text in [*case.writers.get((topic, part), {}).items(), (None, serde.schema)]:
            schema_id = registry.register(subject_of(topic, part), kind, text)
            schemas[topic, part, name] = WriterSchema(schema_id, text, dict(serde.options))
    return schemas


def declared_schemas(case: Case) -> list[tuple[str, str, Serde]]:
    """Topic, part and serde of each part that a case declares with a schema of a registry."""
    parts = [(topic, part, getattr(s, part)) for topic, s in case.declared.items() for part in ("key", "value")]
    return [(topic, part, serde) for topic, part, serde in parts if serde.schema is not None]


def encode_batches(case: Case, program: ast.Program, settings: ProgramSettings, writers: RegisteredWriters) -> Batches:
    """The encoded input records in their order, with offsets counted for each partition.

    The format of a part is the declared format, else the format that the program names, else the format that the value
    suggests. A record without a timestamp gets the timestamp of the previous record; the first gets 0.

    Raises:
        LsqlError: CASE_RECORD_INVALID, FORMAT_UNSUPPORTED.
    """
    named = source_formats(program)
    declared = {**case.declared, **program_schemas(program, settings)}
    offsets: dict[tuple[str, int], int] = {}
    timestamp_ms = 0
    number = 0
    batches: list[tuple[EncodedRecord, ...]] = []
    for batch in case.batches:
        encoded: list[EncodedRecord] = []
        for record in batch:
            timestamp_ms = timestamp_ms if record.timestamp is None else record.timestamp
            offset = offsets.get((record.topic, record.partition), 0)
            offsets[record.topic, record.partition] = offset + 1
            formats = named.get(record.topic, SourceFormats())
            number += 1
            key, value = _parts(case, record, declared.get(record.topic), formats, writers, number)
            encoded.append(
                EncodedRecord(
                    topic=record.topic,
                    key=key,
                    value=value,
                    headers=record.headers or (),
                    timestamp_ms=timestamp_ms,
                    partition=record.partition,
                    offset=offset,
                )
            )
        batches.append(tuple(encoded))
    return tuple(batches)


def _parts(
    case: Case,
    record: InputRecord,
    schema: TopicSchema | None,
    named: SourceFormats,
    writers: RegisteredWriters,
    number: int,
) -> tuple[bytes | None, bytes | None]:
    forms = (named.key, named.value) if schema is None else (schema.key.format, schema.value.format)
    values = (
        ("key", record.key, record.key_text, record.key_writer),
        ("value", record.value, record.value_text, record.value_writer),
    )
    parts: list[bytes | None] = []
    for (name, value, text, writer), form in zip(values, forms, strict=True):
        if text is not None:
            parts.append(text.encode())
            continue
        try:
            # A null key or value is null in every format, including windowed keys.
            schema_writer = writers.get((record.topic, name, writer))
            parts.append(None if value is None else encode_value(value, form or _guess(value), schema_writer))
        except InvalidValue as error:
            path, reason = str(case.path), error.reason
            raise LsqlError("CASE_RECORD_INVALID", path=path, part=name, number=number, reason=reason) from None
    return parts[0], parts[1]


def _guess(value: object) -> Format:
    form = guess_format(value)
    if form is None:
        raise InvalidValue(_REASONS("FORMAT_UNKNOWN"))
    return form


class _CaseBrokers:
    """The topics and records of a case, with the methods of TopicReader that resolve_catalog uses."""

    def __init__(self, case: Case, batches: Sequence[Sequence[EncodedRecord]]) -> None:
        self._topics = dict(case.existing)
        self._records = [record for batch in batches for record in batch]

    def topics(self) -> dict[str, int]:
        return self._topics

    def sample(self, topic: str, limit: int) -> list[RawRecord]:
        records = [
            RawRecord(Partition(topic, record.partition), record.offset, record.key, record.value)
            for record in self._records
            if record.topic == topic
        ]
        return records[-limit:]
