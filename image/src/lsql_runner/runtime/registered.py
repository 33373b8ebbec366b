"""What a schema registry knows of a topic. A part's subject is `<topic>-key` or `<topic>-value` (TopicNameStrategy)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from lsql_runner.bind.avro_schema import AvroSchemaError, avro_serde
from lsql_runner.bind.avro_text import whole_avro
from lsql_runner.bind.catalog import AVRO_FORMAT, Serde
from lsql_runner.errors import LsqlError
from lsql_runner.kafka.registry import RegisteredSchema, SchemaReference, SchemaRegistry
from lsql_runner.plan.nodes import Plan, Write, WriteSink, WriteTopic

MAGIC = b"\0"
_HEAD_BYTES = 5
"""A record begins with the magic byte and the id of its schema: 4 bytes, big-endian."""


def subject_of(topic: str, part: str) -> str:
    """The subject of a topic's part, `key` or `value`."""
    return f"{topic}-{part}"


def registered_serde(registry: SchemaRegistry, topic: str, part: str, samples: Sequence[bytes | None]) -> Serde | None:
    """How a part is written, by its subject's newest version, else by the schema that its newest record names.

    Raises:
        LsqlError: REGISTRY_UNREACHABLE and the like; FORMAT_UNSUPPORTED, SCHEMA_UNREADABLE.
    """
    subject = subject_of(topic, part)
    latest = registry.latest(subject)
    if latest is not None:
        return _serde(registry, latest.schema, f"version {latest.version} of subject {subject}")
    schema_id = _named_id(samples)
    if schema_id is None:
        return None
    try:
        schema = registry.schema(schema_id)
    except LsqlError as error:
        if error.code != "SCHEMA_UNKNOWN":
            raise
        return None  # bytes that only look like it
    return _serde(registry, schema, f"the schema with the id {schema_id}")


def _named_id(samples: Sequence[bytes | None]) -> int | None:
    """The id in the newest record, where all begin as records with an id do."""
    data = [sample for sample in samples if sample is not None]
    if not data or any(len(one) < _HEAD_BYTES or not one.startswith(MAGIC) for one in data):
        return None
    return int.from_bytes(data[-1][1:_HEAD_BYTES], "big")


def _serde(registry: SchemaRegistry, schema: RegisteredSchema, what: str) -> Serde | None:
    if schema.kind == "JSON":
        return None  # the records are JSON without an id, or with one that no format here reads
    if schema.kind != "AVRO":
        raise LsqlError("FORMAT_UNSUPPORTED", format=schema.kind, known="AVRO")
    try:
        return avro_serde(AVRO_FORMAT, whole_avro(schema.text, _texts(registry, schema.references, set())))
    except AvroSchemaError as error:
        raise LsqlError("SCHEMA_UNREADABLE", what=what, why=str(error)) from None


def _texts(registry: SchemaRegistry, references: Iterable[SchemaReference], seen: set[tuple[str, int]]) -> list[str]:
    """The schemas that one refers to, and those that they refer to."""
    found: list[str] = []
    for reference in references:
        place = (reference.subject, reference.version)
        if place not in seen:
            seen.add(place)
            schema = registry.version(*place)
            found += [schema.text, *_texts(registry, schema.references, seen)]
    return found


def registered(plan: Plan, registry: SchemaRegistry | None) -> Plan:
    """The plan with the ids of the schemas that it writes with, each made a version of its target's subject.

    Raises:
        LsqlError: REGISTRY_MISSING, SCHEMA_INCOMPATIBLE, REGISTRY_UNREACHABLE and the like.
    """

    def id_of(sink: WriteTopic, part: str, text: str | None) -> int | None:
        return (
            None if text is None else _asked(registry, sink.topic).register(subject_of(sink.topic, part), "AVRO", text)
        )

    def with_ids(sink: Write) -> Write:
        if isinstance(sink, WriteSink):
            return sink
        key, value = id_of(sink, "key", sink.key_schema), id_of(sink, "value", sink.value_schema)
        return replace(sink, key_id=key, value_id=value)

    return replace(
        plan, queries=tuple(replace(q, sinks=tuple(with_ids(sink) for sink in q.sinks)) for q in plan.queries)
    )


def check_outputs(plan: Plan, registry: SchemaRegistry | None) -> None:
    """Whether the registry would take the schemas that a plan writes with; nothing is registered.

    Raises:
        LsqlError: as `registered`.
    """
    for topic, part, text in _outputs(plan):
        subject = subject_of(topic, part)
        why = _asked(registry, topic).incompatibility(subject, "AVRO", text)
        if why is not None:
            raise LsqlError("SCHEMA_INCOMPATIBLE", subject=subject, why=why)


def _outputs(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """Topic, part and schema of everything that is written in AVRO."""
    for sink in plan.topic_sinks:
        for part, text in (("key", sink.key_schema), ("value", sink.value_schema)):
            if text is not None:
                yield sink.topic, part, text


def _asked(registry: SchemaRegistry | None, topic: str) -> SchemaRegistry:
    if registry is None:
        raise LsqlError("REGISTRY_MISSING", topic=topic)
    return registry
