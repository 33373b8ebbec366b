"""What a schema registry knows of a topic. A part's subject is `<topic>-key` or `<topic>-value` (TopicNameStrategy)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from lsql_runner.errors import LsqlError
from lsql_runner.formats.avro_schema import AvroSchemaError, avro_serde
from lsql_runner.formats.avro_text import whole_avro
from lsql_runner.formats.catalog import AVRO_FORMAT, JSON_FORMAT, PROTOBUF_FORMAT, Serde
from lsql_runner.formats.infer import infer_serde
from lsql_runner.formats.json_schema import JsonSchemaError, read_json_schema
from lsql_runner.formats.proto_output import renumbered
from lsql_runner.formats.proto_schema import message_names, message_place, proto_serde, whole_proto
from lsql_runner.formats.proto_text import ProtoError, parse_proto
from lsql_runner.formats.schema_id import schema_id_of, starts_with_schema_id
from lsql_runner.kafka.registry import RegisteredSchema, SchemaKind, SchemaReference, SchemaRegistry
from lsql_runner.plan.queries import Plan, Write, WriteSink, WriteTopic
from lsql_runner.types import DataType

_KINDS: dict[str, SchemaKind] = {"AVRO": "AVRO", "JSON": "JSON", "PROTOBUF": "PROTOBUF"}


def subject_of(topic: str, part: str) -> str:
    """The subject of a topic's part, `key` or `value`."""
    return f"{topic}-{part}"


def registered_serde(
    registry: SchemaRegistry, topic: str, part: str, samples: Sequence[bytes | None], message: str | None = None
) -> Serde | None:
    """How a part is written, by its subject's newest version, else by the schema that its newest record names.

    Args:
        message: PROTOBUF: the message of the file that records hold; else that of the newest record, or the first.

    Raises:
        LsqlError: REGISTRY_UNREACHABLE and the like; FORMAT_UNSUPPORTED, SCHEMA_UNREADABLE.
    """
    subject = subject_of(topic, part)
    latest = registry.latest(subject)
    if latest is not None:
        return _serde(registry, latest.schema, f"version {latest.version} of subject {subject}", samples, message)
    schema_id = _named_id(samples)
    if schema_id is None:
        return None
    try:
        schema = registry.schema(schema_id)
    except LsqlError as error:
        if error.code != "SCHEMA_UNKNOWN":
            raise
        return None  # bytes that only look like it
    return _serde(registry, schema, f"the schema with the id {schema_id}", samples, message)


def _named_id(samples: Sequence[bytes | None]) -> int | None:
    """The id in the newest record, where all begin as records with an id do."""
    data = [sample for sample in samples if sample is not None]
    if not data or not all(map(starts_with_schema_id, data)):
        return None
    return schema_id_of(data[-1])


def _serde(
    registry: SchemaRegistry,
    schema: RegisteredSchema,
    what: str,
    samples: Sequence[bytes | None],
    message: str | None,
) -> Serde | None:
    others = _referred(registry, schema.references, {})
    try:
        if schema.kind == "JSON":
            return _json_serde(read_json_schema(schema.text, dict(others.values())), samples)
        if schema.kind == "PROTOBUF":
            text = whole_proto(schema.text, dict(others.values()))
            return proto_serde(PROTOBUF_FORMAT, text, message or _sampled_message(registry, text, samples))
        return avro_serde(AVRO_FORMAT, whole_avro(schema.text, [text for _, text in others.values()]))
    except (AvroSchemaError, JsonSchemaError, ProtoError) as error:
        raise LsqlError("SCHEMA_UNREADABLE", what=what, why=str(error)) from None


def _sampled_message(registry: SchemaRegistry, text: str, samples: Sequence[bytes | None]) -> str | None:
    """The message that the newest record holds, where a file has several."""
    names = message_names(parse_proto(text))
    schema_id = _named_id(samples)
    if len(names) < 2 or schema_id is None:
        return None
    newest = next(sample for sample in reversed(samples) if sample is not None)
    try:
        writer = registry.schema(schema_id)
        places = {place: name for name, place in message_names(parse_proto(writer.text)).items()}
    except LsqlError as error:
        if error.code != "SCHEMA_UNKNOWN":
            raise
        return None
    except ProtoError:
        return None
    found = places.get(message_place(newest) or ())
    return found if found in names else None


def _json_serde(kind: DataType | None, samples: Sequence[bytes | None]) -> Serde | None:
    """JSON of a type; a schema that allows anything leaves the type to the sample.

    Clients of registries write an id before the JSON; where a sample shows that none does so, there is none.
    """
    data = [sample for sample in samples if sample is not None]
    with_id = not data or any(map(starts_with_schema_id, data))
    found = infer_serde(data, JSON_FORMAT) if kind is None else Serde(JSON_FORMAT, kind)
    return None if found is None else replace(found, has_schema_id=with_id)


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
        for part, kind, text in _schemas(sink):
            asked, subject = _asked(registry, sink.topic), subject_of(sink.topic, part)
            schema = _numbered(asked, subject, kind, text)
            schema_id = asked.register(subject, kind, schema)
            if part == "key":
                sink = replace(sink, key_schema=schema, key_id=schema_id)
            else:
                sink = replace(sink, value_schema=schema, value_id=schema_id)
        return sink

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
            asked = _asked(registry, sink.topic)
            why = asked.incompatibility(subject, kind, _numbered(asked, subject, kind, text))
            if why is not None:
                raise LsqlError("SCHEMA_INCOMPATIBLE", subject=subject, why=why)


def _numbered(registry: SchemaRegistry, subject: str, kind: SchemaKind, text: str) -> str:
    """The schema, in PROTOBUF with the numbers that its fields have in the subject's newest version."""
    newest = registry.latest(subject) if kind == "PROTOBUF" else None
    return text if newest is None or newest.schema.kind != kind else renumbered(text, newest.schema.text)


def _schemas(sink: WriteTopic) -> Iterator[tuple[str, SchemaKind, str]]:
    """Part, kind and text of the schemas that a sink writes with."""
    parts = (("key", sink.key_format, sink.key_schema), ("value", sink.value_format, sink.value_schema))
    for part, form, text in parts:
        if text is not None:
            yield part, _KINDS[form.bare.name], text


def _asked(registry: SchemaRegistry | None, topic: str) -> SchemaRegistry:
    if registry is None:
        raise LsqlError("REGISTRY_MISSING", topic=topic)
    return registry
