"""What a schema registry knows of a topic. A part's subject is `<topic>-key` or `<topic>-value` (TopicNameStrategy)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from lsql_runner.bind.avro_schema import AvroSchemaError, avro_serde
from lsql_runner.bind.avro_text import whole_avro
from lsql_runner.bind.catalog import AVRO_FORMAT, HEAD_BYTES, JSON_FORMAT, MAGIC, Serde, has_head
from lsql_runner.bind.json_schema import JsonSchemaError, read_json_schema
from lsql_runner.errors import LsqlError
from lsql_runner.kafka.infer import infer_serde
from lsql_runner.kafka.registry import RegisteredSchema, SchemaKind, SchemaReference, SchemaRegistry
from lsql_runner.plan.nodes import Plan, Write, WriteSink, WriteTopic
from lsql_runner.types import DataType


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
        return _serde(registry, latest.schema, f"version {latest.version} of subject {subject}", samples)
    schema_id = _named_id(samples)
    if schema_id is None:
        return None
    try:
        schema = registry.schema(schema_id)
    except LsqlError as error:
        if error.code != "SCHEMA_UNKNOWN":
            raise
        return None  # bytes that only look like it
    return _serde(registry, schema, f"the schema with the id {schema_id}", samples)


def _named_id(samples: Sequence[bytes | None]) -> int | None:
    """The id in the newest record, where all begin as records with an id do."""
    data = [sample for sample in samples if sample is not None]
    if not data or not all(map(has_head, data)):
        return None
    return int.from_bytes(data[-1][len(MAGIC) : HEAD_BYTES], "big")


def _serde(
    registry: SchemaRegistry, schema: RegisteredSchema, what: str, samples: Sequence[bytes | None]
) -> Serde | None:
    if schema.kind == "PROTOBUF":
        raise LsqlError("FORMAT_UNSUPPORTED", format=schema.kind, known="AVRO, JSON")
    others = _referred(registry, schema.references, {})
    try:
        if schema.kind == "JSON":
            return _json_serde(read_json_schema(schema.text, dict(others.values())), samples)
        return avro_serde(AVRO_FORMAT, whole_avro(schema.text, [text for _, text in others.values()]))
    except (AvroSchemaError, JsonSchemaError) as error:
        raise LsqlError("SCHEMA_UNREADABLE", what=what, why=str(error)) from None


def _json_serde(kind: DataType | None, samples: Sequence[bytes | None]) -> Serde | None:
    """JSON of a type; a schema that allows anything leaves the type to the sample.

    Clients of registries write an id before the JSON; where a sample shows that none does so, there is none.
    """
    data = [sample for sample in samples if sample is not None]
    headed = not data or any(map(has_head, data))
    found = infer_serde(data, JSON_FORMAT) if kind is None else Serde(JSON_FORMAT, kind)
    return None if found is None else replace(found, has_head=headed)


def _referred(
    registry: SchemaRegistry,
    references: Iterable[SchemaReference],
    found: dict[tuple[str, int], tuple[str, str]],
) -> dict[tuple[str, int], tuple[str, str]]:
    """The schemas that one refers to, and those that they refer to: name and text by subject and version."""
    for reference in references:
        place = (reference.subject, reference.version)
        if place not in found:
            schema = registry.version(*place)
            found[place] = (reference.name, schema.text)
            _referred(registry, schema.references, found)
    return found


def registered(plan: Plan, registry: SchemaRegistry | None) -> Plan:
    """The plan with the ids of the schemas that it writes with, each made a version of its target's subject.

    Raises:
        LsqlError: REGISTRY_MISSING, SCHEMA_INCOMPATIBLE, REGISTRY_UNREACHABLE and the like.
    """

    def with_ids(sink: Write) -> Write:
        if isinstance(sink, WriteSink):
            return sink
        ids = {
            part: _asked(registry, sink.topic).register(subject_of(sink.topic, part), kind, text)
            for part, kind, text in _schemas(sink)
        }
        return replace(sink, key_id=ids.get("key"), value_id=ids.get("value"))

    return replace(
        plan, queries=tuple(replace(q, sinks=tuple(with_ids(sink) for sink in q.sinks)) for q in plan.queries)
    )


def check_outputs(plan: Plan, registry: SchemaRegistry | None) -> None:
    """Whether the registry would take the schemas that a plan writes with; nothing is registered.

    Raises:
        LsqlError: as `registered`.
    """
    for sink in plan.topic_sinks:
        for part, kind, text in _schemas(sink):
            subject = subject_of(sink.topic, part)
            why = _asked(registry, sink.topic).incompatibility(subject, kind, text)
            if why is not None:
                raise LsqlError("SCHEMA_INCOMPATIBLE", subject=subject, why=why)


def _schemas(sink: WriteTopic) -> Iterator[tuple[str, SchemaKind, str]]:
    """Part, kind and text of the schemas that a sink writes with."""
    parts = (("key", sink.key_format, sink.key_schema), ("value", sink.value_format, sink.value_schema))
    for part, form, text in parts:
        if text is not None:
            yield part, "AVRO" if form.bare == AVRO_FORMAT else "JSON", text


def _asked(registry: SchemaRegistry | None, topic: str) -> SchemaRegistry:
    if registry is None:
        raise LsqlError("REGISTRY_MISSING", topic=topic)
    return registry
