"""What a schema registry knows of a topic. A part's subject is `<topic>-key` or `<topic>-value` (TopicNameStrategy)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import Serde
from lsql_runner.formats.schema_id import schema_id_of, starts_with_schema_id
from lsql_runner.formats.spec import FormatError, RegisteredText
from lsql_runner.formats.table import REGISTRY_KINDS, registry_row
from lsql_runner.kafka.registry import RegisteredSchema, SchemaKind, SchemaReference, SchemaRegistry
from lsql_runner.plan.queries import Plan, Write, WriteSink, WriteTopic


def subject_of(topic: str, part: str) -> str:
    """The subject of a topic's part, `key` or `value`."""
    return f"{topic}-{part}"


def registered_serde(
    registry: SchemaRegistry,
    topic: str,
    part: str,
    samples: Sequence[bytes | None],
    options: Mapping[str, str] | None = None,
) -> Serde | None:
    """How a part is written, by its subject's newest version, else by the schema that its newest record names.

    Args:
        options: of the serde that an earlier start found.

    Raises:
        LsqlError: REGISTRY_UNREACHABLE and the like; FORMAT_UNSUPPORTED, SCHEMA_UNREADABLE.
    """
    subject = subject_of(topic, part)
    data = [sample for sample in samples if sample is not None]
    latest = registry.latest(subject)
    if latest is not None:
        return _serde(registry, latest.schema, f"subjects/{subject}/versions/{latest.version}", data, options or {})
    schema = _named_schema(registry, data)
    if schema is None:
        return None
    return _serde(registry, schema, f"schemas/ids/{schema.id}", data, options or {})


def _named_schema(registry: SchemaRegistry, samples: Sequence[bytes]) -> RegisteredSchema | None:
    """The schema that the newest record names, if all records begin as those with an id do."""
    if not samples or not all(map(starts_with_schema_id, samples)):
        return None
    try:
        return registry.schema(schema_id_of(samples[-1]))
    except LsqlError as error:
        if error.code != "SCHEMA_ID_UNKNOWN":
            raise
        return None  # bytes that only look like an id


def _serde(
    registry: SchemaRegistry,
    schema: RegisteredSchema,
    schema_path: str,
    samples: Sequence[bytes],
    options: Mapping[str, str],
) -> Serde | None:
    references = dict(_referred(registry, schema.references, {}).values())

    def writer() -> str | None:
        named = _named_schema(registry, samples)
        return None if named is None else named.text

    row = REGISTRY_KINDS[schema.kind].registry
    assert row is not None
    try:
        return row.read(RegisteredText(schema.text, references, samples, options, writer))
    except FormatError as error:
        raise LsqlError("SCHEMA_UNREADABLE", schema=schema_path, reason=str(error)) from None


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
            schema = _revised(asked, subject, kind, text)
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
            why = asked.incompatibility(subject, kind, _revised(asked, subject, kind, text))
            if why is not None:
                raise LsqlError("SCHEMA_INCOMPATIBLE", subject=subject, reason=why)


def _revised(registry: SchemaRegistry, subject: str, kind: SchemaKind, text: str) -> str:
    """The schema, changed so that it can follow the subject's newest version."""
    row = REGISTRY_KINDS[kind].registry
    revise = None if row is None else row.revise
    newest = None if revise is None else registry.latest(subject)
    return text if revise is None or newest is None or newest.schema.kind != kind else revise(text, newest.schema.text)


def _schemas(sink: WriteTopic) -> Iterator[tuple[str, SchemaKind, str]]:
    """Part, kind and text of the schemas that a sink writes with."""
    parts = (("key", sink.key_format, sink.key_schema), ("value", sink.value_format, sink.value_schema))
    for part, form, text in parts:
        if text is not None:
            yield part, registry_row(form).kind, text


def _asked(registry: SchemaRegistry | None, topic: str) -> SchemaRegistry:
    if registry is None:
        raise LsqlError("REGISTRY_MISSING", topic=topic)
    return registry
