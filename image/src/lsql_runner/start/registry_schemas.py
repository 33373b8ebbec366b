"""The schemas of topics in a schema registry. Subjects are `<topic>-key` and `<topic>-value` (TopicNameStrategy)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import Serde
from lsql_runner.formats.schema_id import schema_id_of, starts_with_schema_id
from lsql_runner.formats.spec import FormatError, RecursiveTypeError, RegisteredText
from lsql_runner.formats.table import REGISTRY_KINDS, registry_row
from lsql_runner.kafka.registry import RegisteredSchema, SchemaKind, SchemaReference, SchemaRegistry
from lsql_runner.plan.queries import Plan, Write, WriteSink, WriteTopic


def subject_of(topic: str, part: str) -> str:
    """The subject of a topic's `key` or `value`."""
    return f"{topic}-{part}"


def registered_serde(
    registry: SchemaRegistry,
    topic: str,
    part: str,
    samples: Sequence[bytes | None],
    options: Mapping[str, str] | None = None,
) -> Serde | None:
    """The serde of a key or value: by the newest version of its subject, else by the schema id in the newest record.

    Args:
        options: the options of the serde of an earlier start.

    Raises:
        LsqlError: REGISTRY_UNREACHABLE and other errors of the registry; FORMAT_UNSUPPORTED, SCHEMA_RECURSIVE,
            SCHEMA_UNREADABLE.
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
    """The schema whose id the newest record has; None unless all records begin with a schema id."""
    if not samples or not all(map(starts_with_schema_id, samples)):
        return None
    try:
        return registry.schema(schema_id_of(samples[-1]))
    except LsqlError as error:
        if error.code != "SCHEMA_ID_UNKNOWN":
            raise
        return None  # the first bytes are not a schema id


def _serde(
    registry: SchemaRegistry,
    schema: RegisteredSchema,
    schema_path: str,
    samples: Sequence[bytes],
    options: Mapping[str, str],
) -> Serde | None:
    references = dict(_references(registry, schema.references, {}).values())

    def writer() -> str | None:
        named = _named_schema(registry, samples)
        return None if named is None else named.text

    row = REGISTRY_KINDS[schema.kind].registry
    assert row is not None
    try:
        return row.read(
            RegisteredText(text=schema.text, references=references, samples=samples, options=options, writer=writer)
        )
    except RecursiveTypeError as error:
        raise LsqlError("SCHEMA_RECURSIVE", schema=schema_path, type=error.type, field=error.path) from None
    except FormatError as error:
        raise LsqlError("SCHEMA_UNREADABLE", schema=schema_path, reason=error.reason) from None


def _references(
    registry: SchemaRegistry,
    references: Iterable[SchemaReference],
    texts: dict[tuple[str, int], tuple[str, str]],
) -> dict[tuple[str, int], tuple[str, str]]:
    """The direct and indirect references of a schema: name and text by subject and version."""
    for reference in references:
        version = (reference.subject, reference.version)
        if version not in texts:
            schema = registry.version(*version)
            texts[version] = (reference.name, schema.text)
            _references(registry, schema.references, texts)
    return texts


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSchema:
    """An output schema of a target, and its state in the registry."""

    topic: str
    part: str
    """`key` or `value`."""
    kind: SchemaKind
    planned: str
    """The schema's text in the plan."""
    text: str
    """The text to register. PROTOBUF fields have the numbers of the subject's newest version."""
    id: int | None
    """The schema's id; None if it is not a version of the subject yet."""
    incompatibility: str | None = None
    """Why the subject's compatibility rules refuse it as a new version; None if they accept it."""

    @property
    def subject(self) -> str:
        return subject_of(self.topic, self.part)


def output_schemas(plan: Plan, registry: SchemaRegistry | None) -> tuple[TargetSchema, ...]:
    """The output schemas of a plan, compared with the registry. Registers nothing.

    Raises:
        LsqlError: REGISTRY_MISSING, SCHEMA_INVALID, REGISTRY_UNREACHABLE and other errors of the registry.
    """
    schemas: dict[tuple[str, str, str], TargetSchema] = {}
    newest: dict[tuple[str, SchemaKind], str] = {}
    for write in plan.topic_writes:
        for part, kind, text in _schemas(write):
            if registry is None:
                raise LsqlError("REGISTRY_MISSING", topic=write.topic)
            if (write.topic, part, text) not in schemas:
                schema = _output_schema(registry, write.topic, part, kind, text, newest)
                if schema.id is None:
                    newest[schema.subject, kind] = schema.text
                schemas[write.topic, part, text] = schema
    return tuple(schemas.values())


def unregistered_schemas(plan: Plan) -> tuple[TargetSchema, ...]:
    """The output schemas of a plan, without ids, as for an empty registry."""
    schemas = (
        TargetSchema(topic=write.topic, part=part, kind=kind, planned=text, text=text, id=None)
        for write in plan.topic_writes
        for part, kind, text in _schemas(write)
    )
    return tuple(dict.fromkeys(schemas))


def check_schemas(schemas: Iterable[TargetSchema]) -> None:
    """Check the compatibility rules of the subjects.

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
) -> TargetSchema:
    """One output schema.

    Args:
        newest: by subject and kind, the schemas of earlier INSERTs, which the same start registers before.
    """
    subject = subject_of(topic, part)
    text = _revise(registry, subject, kind, planned, newest.get((subject, kind)))
    schema_id = registry.registered_id(subject, kind, text)
    refusal = registry.incompatibility(subject, kind, text) if schema_id is None else None
    return TargetSchema(
        topic=topic, part=part, kind=kind, planned=planned, text=text, id=schema_id, incompatibility=refusal
    )


def with_schema_ids(plan: Plan, schemas: Iterable[TargetSchema]) -> Plan:
    """The plan with the registered texts and the ids of its output schemas."""
    known = {(schema.topic, schema.part, schema.planned): schema for schema in schemas}

    def with_ids(write: Write) -> Write:
        if isinstance(write, WriteSink):
            return write
        for part, _, text in _schemas(write):
            schema = known[write.topic, part, text]
            if part == "key":
                write = replace(write, key_schema=schema.text, key_id=schema.id)
            else:
                write = replace(write, value_schema=schema.text, value_id=schema.id)
        return write

    return replace(
        plan, queries=tuple(replace(q, writes=tuple(with_ids(write) for write in q.writes)) for q in plan.queries)
    )


def register_output_schemas(plan: Plan, registry: SchemaRegistry | None) -> Plan:
    """Register the output schemas of a plan, each as a version of its target's subject. The result has their ids.

    Raises:
        LsqlError: as `output_schemas`, and SCHEMA_INCOMPATIBLE.
    """
    schemas = output_schemas(plan, registry)
    if registry is None:
        return plan
    return with_schema_ids(
        plan, [replace(schema, id=registry.register(schema.subject, schema.kind, schema.text)) for schema in schemas]
    )


def _revise(registry: SchemaRegistry, subject: str, kind: SchemaKind, text: str, before: str | None) -> str:
    """The text of a schema, changed so that it is compatible with the subject's newest version.

    Args:
        before: the newest version if the same start registers it; else it is read from the registry.
    """
    row = REGISTRY_KINDS[kind].registry
    revise = None if row is None else row.revise
    if revise is None:
        return text
    newest = registry.latest(subject) if before is None else None
    if newest is not None and newest.schema.kind == kind:
        before = newest.schema.text
    return text if before is None else revise(text, before)


def _schemas(write: WriteTopic) -> Iterator[tuple[str, SchemaKind, str]]:
    """Part (`key` or `value`), kind and text of the output schemas of an INSERT."""
    parts = (("key", write.key_format, write.key_schema), ("value", write.value_format, write.value_schema))
    for part, form, text in parts:
        if text is not None:
            yield part, registry_row(form).kind, text
