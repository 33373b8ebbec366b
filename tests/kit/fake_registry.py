"""A schema registry that is a dict, for tests that need no real one."""

from __future__ import annotations

import json
from collections.abc import Iterable

from lsql_runner.errors import LsqlError
from lsql_runner.kafka.registry import RegisteredSchema, SchemaKind, SchemaReference, SubjectVersion


class FakeRegistry:
    """The answers of a registry. `outage` makes every question fail with it; `strict` holds subjects with a rule.

    The rule: a new version of an AVRO record may have no new field without a default.
    """

    def __init__(self) -> None:
        self.outage: LsqlError | None = None
        self.strict: set[str] = set()
        self._schemas: dict[int, RegisteredSchema] = {}
        self._subjects: dict[str, list[int]] = {}

    def schema(self, schema_id: int) -> RegisteredSchema:
        self._answer()
        if schema_id not in self._schemas:
            raise LsqlError("SCHEMA_UNKNOWN", what=f"schema with the id {schema_id}")
        return self._schemas[schema_id]

    def latest(self, subject: str) -> SubjectVersion | None:
        self._answer()
        ids = self._subjects.get(subject)
        return SubjectVersion(subject, len(ids), self._schemas[ids[-1]]) if ids else None

    def version(self, subject: str, number: int) -> RegisteredSchema:
        self._answer()
        ids = self._subjects.get(subject, [])
        if not 1 <= number <= len(ids):
            raise LsqlError("SCHEMA_UNKNOWN", what=f"version {number} of subject {subject}")
        return self._schemas[ids[number - 1]]

    def ids(self, subject: str) -> tuple[int, ...]:
        self._answer()
        if subject not in self._subjects:
            raise LsqlError("SCHEMA_UNKNOWN", what=f"subject {subject}")
        return tuple(self._subjects[subject])

    def register(self, subject: str, kind: SchemaKind, text: str, references: Iterable[SchemaReference] = ()) -> int:
        references = tuple(references)
        if why := self.incompatibility(subject, kind, text, references):
            raise LsqlError("SCHEMA_INCOMPATIBLE", subject=subject, why=why)
        schema_id = self._id_of(kind, text, references)
        versions = self._subjects.setdefault(subject, [])
        if schema_id not in versions:
            versions.append(schema_id)
        return schema_id

    def incompatibility(
        self, subject: str, kind: SchemaKind, text: str, references: Iterable[SchemaReference] = ()
    ) -> str | None:
        self._answer()
        self._check(subject, kind, text, references)
        latest = self.latest(subject)
        if subject not in self.strict or latest is None or kind != "AVRO":
            return None
        new = _needed(text) - _needed(latest.schema.text)
        return f"no default for {', '.join(sorted(new))}" if new else None

    def close(self) -> None:
        pass

    def _answer(self) -> None:
        if self.outage is not None:
            raise self.outage

    def _check(self, subject: str, kind: SchemaKind, text: str, references: Iterable[SchemaReference]) -> None:
        if any(r.version > len(self._subjects.get(r.subject, ())) for r in references):
            raise LsqlError("SCHEMA_INVALID", subject=subject, kind=kind, why="a reference leads nowhere")
        try:
            if kind != "PROTOBUF":
                json.loads(text)
        except ValueError as error:
            raise LsqlError("SCHEMA_INVALID", subject=subject, kind=kind, why=str(error)) from None

    def _id_of(self, kind: SchemaKind, text: str, references: tuple[SchemaReference, ...]) -> int:
        for known in self._schemas.values():
            if (known.kind, known.text, known.references) == (kind, text, references):
                return known.id
        schema_id = len(self._schemas) + 1
        self._schemas[schema_id] = RegisteredSchema(schema_id, kind, text, references)
        return schema_id


def _needed(text: str) -> set[str]:
    fields = json.loads(text).get("fields", ())
    return {field["name"] for field in fields if "default" not in field}
