"""The schema registry in memory, with outages and a compatibility rule for tests."""

from __future__ import annotations

import json
from collections.abc import Iterable

from lsql_runner.cases.registry import MemoryRegistry
from lsql_runner.errors import LsqlError
from lsql_runner.kafka.registry import RegisteredSchema, SchemaKind, SchemaReference, SubjectVersion


class FakeRegistry(MemoryRegistry):
    """A registry in memory. While `outage` is set, every request raises it.

    `strict` has the subjects with a compatibility rule: a new version of an AVRO record may not have a new field
    without a default.
    """

    def __init__(self) -> None:
        super().__init__()
        self.outage: LsqlError | None = None
        self.strict: set[str] = set()

    def schema(self, schema_id: int) -> RegisteredSchema:
        self._raise_outage()
        return super().schema(schema_id)

    def latest(self, subject: str) -> SubjectVersion | None:
        self._raise_outage()
        return super().latest(subject)

    def is_taken(self, subject: str) -> bool:
        self._raise_outage()
        return super().is_taken(subject)

    def version(self, subject: str, number: int) -> RegisteredSchema:
        self._raise_outage()
        return super().version(subject, number)

    def ids(self, subject: str) -> tuple[int, ...]:
        self._raise_outage()
        return super().ids(subject)

    def registered_id(self, subject: str, kind: SchemaKind, text: str) -> int | None:
        self._raise_outage()
        return super().registered_id(subject, kind, text)

    def register(self, subject: str, kind: SchemaKind, text: str, references: Iterable[SchemaReference] = ()) -> int:
        references = tuple(references)
        if why := self.incompatibility(subject, kind, text, references):
            raise LsqlError("SCHEMA_INCOMPATIBLE", subject=subject, reason=why)
        return super().register(subject, kind, text, references)

    def incompatibility(
        self, subject: str, kind: SchemaKind, text: str, references: Iterable[SchemaReference] = ()
    ) -> str | None:
        self._raise_outage()
        super().incompatibility(subject, kind, text, references)
        latest = self.latest(subject)
        if subject not in self.strict or latest is None or kind != "AVRO":
            return None
        new = _required_fields(text) - _required_fields(latest.schema.text)
        return f"no default for {', '.join(sorted(new))}" if new else None

    def delete(self, subject: str) -> None:
        self._raise_outage()
        super().delete(subject)

    def _raise_outage(self) -> None:
        if self.outage is not None:
            raise self.outage


def _required_fields(text: str) -> set[str]:
    fields = json.loads(text).get("fields", ())
    return {field["name"] for field in fields if "default" not in field}
