"""What a schema registry knows of a topic. A part's subject is `<topic>-key` or `<topic>-value` (TopicNameStrategy)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lsql_runner.errors import LsqlError
from lsql_runner.formats.avro_schema import AvroSchemaError, avro_serde
from lsql_runner.formats.avro_text import whole_avro
from lsql_runner.formats.catalog import AVRO_FORMAT, HEAD_BYTES, JSON_FORMAT, MAGIC, PROTOBUF_FORMAT, Serde, has_head
from lsql_runner.formats.infer import infer_serde
from lsql_runner.formats.json_schema import JsonSchemaError, read_json_schema
from lsql_runner.formats.proto_output import renumbered
from lsql_runner.formats.proto_schema import message_names, message_place, proto_serde, whole_proto
from lsql_runner.formats.proto_text import ProtoError, parse_proto
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
        return _serde(registry, latest.schema, f"subjects/{subject}/versions/{latest.version}", samples, message)
    schema_id = _named_id(samples)
    if schema_id is None:
        return None
    try:
        schema = registry.schema(schema_id)
    except LsqlError as error:
        if error.code != "SCHEMA_ID_UNKNOWN":
            raise
        return None  # bytes that only look like it
    return _serde(registry, schema, f"schemas/ids/{schema_id}", samples, message)


def _named_id(samples: Sequence[bytes | None]) -> int | None:
    """The id in the newest record, where all begin as records with an id do."""
    data = [sample for sample in samples if sample is not None]
    if not data or not all(map(has_head, data)):
        return None
    return int.from_bytes(data[-1][len(MAGIC) : HEAD_BYTES], "big")


def _serde(
    registry: SchemaRegistry,
    schema: RegisteredSchema,
    schema_path: str,
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
        raise LsqlError("SCHEMA_UNREADABLE", schema=schema_path, reason=str(error)) from None


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
        if error.code != "SCHEMA_ID_UNKNOWN":
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


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """A schema that records of a target are written with, and what the registry says of it."""

    topic: str
    part: str
    """`key` or `value`."""
    kind: SchemaKind
    planned: str
    """The schema's text in the plan."""
    text: str
    """The text to register. In PROTOBUF fields have the numbers of the subject's newest version."""
    id: int | None
    """The schema's id, where it is a version of the subject already."""
    incompatibility: str | None = None
    """Why the subject's rules refuse it as a new version."""

    @property
    def subject(self) -> str:
        return subject_of(self.topic, self.part)


def output_schemas(plan: Plan, registry: SchemaRegistry | None) -> tuple[OutputSchema, ...]:
    """The schemas that a plan writes with; nothing is registered.

    Raises:
        LsqlError: REGISTRY_MISSING, SCHEMA_INVALID, REGISTRY_UNREACHABLE and the like.
    """
    found: dict[tuple[str, str, str], OutputSchema] = {}
    newest: dict[tuple[str, SchemaKind], str] = {}
    for sink in plan.topic_sinks:
        for part, kind, text in _schemas(sink):
            if registry is None:
                raise LsqlError("REGISTRY_MISSING", topic=sink.topic)
            if (sink.topic, part, text) not in found:
                schema = _output_schema(registry, sink.topic, part, kind, text, newest)
                if schema.id is None:
                    newest[schema.subject, kind] = schema.text
                found[sink.topic, part, text] = schema
    return tuple(found.values())


def unregistered_schemas(plan: Plan) -> tuple[OutputSchema, ...]:
    """The schemas that a plan writes with, as for a registry that knows none of them."""
    found = (
        OutputSchema(sink.topic, part, kind, text, text, None)
        for sink in plan.topic_sinks
        for part, kind, text in _schemas(sink)
    )
    return tuple(dict.fromkeys(found))


def check_schemas(schemas: Iterable[OutputSchema]) -> None:
    """Refuse schemas that the rules of their subjects refuse.

    Raises:
        LsqlError: SCHEMA_INCOMPATIBLE.
    """
    for schema in schemas:
        if schema.incompatibility is not None:
            raise LsqlError("SCHEMA_INCOMPATIBLE", subject=schema.subject, reason=schema.incompatibility)


def _output_schema(
    registry: SchemaRegistry,
    topic: str,
    part: str,
    kind: SchemaKind,
    planned: str,
    newest: Mapping[tuple[str, SchemaKind], str],
) -> OutputSchema:
    """`newest` has the schemas that other INSERTs of the program register before, by subject and kind."""
    subject = subject_of(topic, part)
    text = _numbered(registry, subject, kind, planned, newest.get((subject, kind)))
    schema_id = registry.registered_id(subject, kind, text)
    refusal = registry.incompatibility(subject, kind, text) if schema_id is None else None
    return OutputSchema(topic, part, kind, planned, text, schema_id, refusal)


def with_schema_ids(plan: Plan, schemas: Iterable[OutputSchema]) -> Plan:
    """The plan with the registered texts and the ids of its output schemas."""
    known = {(schema.topic, schema.part, schema.planned): schema for schema in schemas}

    def with_ids(sink: Write) -> Write:
        if isinstance(sink, WriteSink):
            return sink
        for part, _, text in _schemas(sink):
            schema = known[sink.topic, part, text]
            if part == "key":
                sink = replace(sink, key_schema=schema.text, key_id=schema.id)
            else:
                sink = replace(sink, value_schema=schema.text, value_id=schema.id)
        return sink

    return replace(
        plan, queries=tuple(replace(q, sinks=tuple(with_ids(sink) for sink in q.sinks)) for q in plan.queries)
    )


def registered(plan: Plan, registry: SchemaRegistry | None) -> Plan:
    """The plan with the ids of the schemas that it writes with, each registered as a version of its target's subject.

    Raises:
        LsqlError: as `output_schemas`, and SCHEMA_INCOMPATIBLE.
    """
    schemas = output_schemas(plan, registry)
    if registry is None:
        return plan
    return with_schema_ids(
        plan, [replace(schema, id=registry.register(schema.subject, schema.kind, schema.text)) for schema in schemas]
    )


def _numbered(registry: SchemaRegistry, subject: str, kind: SchemaKind, text: str, before: str | None) -> str:
    """The schema, in PROTOBUF with the numbers that its fields have in the subject's newest version.

    `before` is that version, where the same start registers it; else the registry is asked.
    """
    if kind != "PROTOBUF":
        return text
    newest = registry.latest(subject) if before is None else None
    if newest is not None and newest.schema.kind == kind:
        before = newest.schema.text
    return text if before is None else renumbered(text, before)


def _schemas(sink: WriteTopic) -> Iterator[tuple[str, SchemaKind, str]]:
    """Part, kind and text of the schemas that a sink writes with."""
    parts = (("key", sink.key_format, sink.key_schema), ("value", sink.value_format, sink.value_schema))
    for part, form, text in parts:
        if text is not None:
            yield part, _KINDS[form.bare.name], text
