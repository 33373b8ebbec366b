"""A schema registry in memory, for preparing cases without a real registry."""

from __future__ import annotations

import json
from collections.abc import Iterable

from lsql_runner.errors import DetailTable, LsqlError
from lsql_runner.formats.table import REGISTRY_KINDS
from lsql_runner.kafka.registry import RegisteredSchema, SchemaKind, SchemaReference, SubjectVersion

_REASONS = DetailTable({"REFERENCE_UNKNOWN": "a schema that it refers to is not registered"})


class MemoryRegistry:
    """A SchemaRegistry without compatibility checks. Ids count from 1."""

    def __init__(self) -> None:
        self._schemas: dict[int, RegisteredSchema] = {}
        self._subjects: dict[str, list[int]] = {}

    def schema(self, schema_id: int) -> RegisteredSchema:
        if schema_id not in self._schemas:
            raise LsqlError("SCHEMA_ID_UNKNOWN", id=schema_id)
        return self._schemas[schema_id]

    def latest(self, subject: str) -> SubjectVersion | None:
        ids = self._subjects.get(subject)
        return SubjectVersion(subject, len(ids), self._schemas[ids[-1]]) if ids else None

    def is_taken(self, subject: str) -> bool:
        return subject in self._subjects

    def version(self, subject: str, number: int) -> RegisteredSchema:
        ids = self._subjects.get(subject, [])
        if not 1 <= number <= len(ids):
            raise LsqlError("SUBJECT_VERSION_UNKNOWN", subject=subject, version=number)
        return self._schemas[ids[number - 1]]

    def ids(self, subject: str) -> tuple[int, ...]:
        if subject not in self._subjects:
            raise LsqlError("SUBJECT_UNKNOWN", subject=subject)
        return tuple(self._subjects[subject])

    def registered_id(self, subject: str, kind: SchemaKind, text: str) -> int | None:
        known = (self._schemas[schema_id] for schema_id in self._subjects.get(subject, ()))
        return next((s.id for s in known if (s.kind, s.text, s.references) == (kind, text, ())), None)

    def register(self, subject: str, kind: SchemaKind, text: str, references: Iterable[SchemaReference] = ()) -> int:
        references = tuple(references)
        self.incompatibility(subject, kind, text, references)
        schema_id = self._id_of(kind, text, references)
        versions = self._subjects.setdefault(subject, [])
        if schema_id not in versions:
            versions.append(schema_id)
        return schema_id

    def incompatibility(
        self, subject: str, kind: SchemaKind, text: str, references: Iterable[SchemaReference] = ()
    ) -> str | None:
        if any(r.version > len(self._subjects.get(r.subject, ())) for r in references):
            raise LsqlError("SCHEMA_INVALID", subject=subject, kind=kind, reason=_REASONS("REFERENCE_UNKNOWN"))
        try:
            row = REGISTRY_KINDS[kind].registry
            if row is not None and row.schema_is_json:
                json.loads(text)
        except ValueError as error:
            raise LsqlError("SCHEMA_INVALID", subject=subject, kind=kind, reason=str(error)) from None
        return None

    def delete(self, subject: str) -> None:
        self._subjects.pop(subject, None)

    def close(self) -> None:
        pass

    def texts(self) -> dict[int, str]:
        """The schemas without which records cannot be decoded, by id, for an engine without a registry."""
        return {one.id: one.text for one in self._schemas.values() if REGISTRY_KINDS[one.kind].needs_registry}

    def _id_of(self, kind: SchemaKind, text: str, references: tuple[SchemaReference, ...]) -> int:
        for known in self._schemas.values():
            if (known.kind, known.text, known.references) == (kind, text, references):
                return known.id
        schema_id = len(self._schemas) + 1
        self._schemas[schema_id] = RegisteredSchema(schema_id, kind, text, references)
        return schema_id
