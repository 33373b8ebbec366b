"""A client for schema registries with Confluent's REST API. Every request has a deadline."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Protocol, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from lsql_runner.errors import LsqlError
from lsql_runner.formats.table import REGISTRY_KINDS
from lsql_runner.kafka.registry_connection import RegistryConnection
from lsql_runner.kafka.registry_http import REASONS, RegistryHosts, Reply, first_line

SchemaKind = str
"""The registry's name of a format (`schemaType`): a key of `formats.table.REGISTRY_KINDS`."""
_DEFAULT_KIND = "AVRO"
"""The kind of a schema without a `schemaType`."""


@dataclass(frozen=True, slots=True)
class SchemaReference:
    """A schema that another schema refers to by `name`; subject and version identify it."""

    name: str
    subject: str
    version: int


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """A schema of the registry. Schemas are immutable: an id always has the same schema."""

    id: int
    kind: SchemaKind
    text: str
    references: tuple[SchemaReference, ...] = ()


@dataclass(frozen=True, slots=True)
class SubjectVersion:
    """A version of a subject, counted from 1, and its schema."""

    subject: str
    version: int
    schema: RegisteredSchema


class SchemaRegistry(Protocol):
    """The requests of a processor to a schema registry.

    Raises:
        LsqlError: REGISTRY_UNREACHABLE, REGISTRY_REFUSED, REGISTRY_RESPONSE_INVALID, REGISTRY_RESPONSE_TOO_LARGE from
            every method.
    """

    def schema(self, schema_id: int) -> RegisteredSchema:
        """The schema with an id.

        Raises:
            LsqlError: SCHEMA_ID_UNKNOWN.
        """

    def latest(self, subject: str) -> SubjectVersion | None:
        """The newest version of a subject; None if the subject does not exist."""

    def is_taken(self, subject: str) -> bool:
        """Whether a subject has versions, including deleted ones that can be restored."""

    def version(self, subject: str, number: int) -> RegisteredSchema:
        """A version of a subject.

        Raises:
            LsqlError: SUBJECT_VERSION_UNKNOWN.
        """

    def ids(self, subject: str) -> tuple[int, ...]:
        """The ids of all versions of a subject, the oldest first.

        Raises:
            LsqlError: SUBJECT_UNKNOWN.
        """

    def registered_id(self, subject: str, kind: SchemaKind, text: str) -> int | None:
        """The id of a schema without references; None if it is not a version of the subject.

        Raises:
            LsqlError: SCHEMA_INVALID.
        """

    def register(self, subject: str, kind: SchemaKind, text: str, references: Iterable[SchemaReference] = ()) -> int:
        """Register a schema as a version of the subject, unless it is one, and return its id. Creates the subject if it
        does not exist.

        Raises:
            LsqlError: SCHEMA_INCOMPATIBLE, SCHEMA_INVALID, SCHEMA_REFERENCE_UNKNOWN.
        """

    def incompatibility(
        self, subject: str, kind: SchemaKind, text: str, references: Iterable[SchemaReference] = ()
    ) -> str | None:
        """Why the compatibility level of the subject rejects a schema as a new version; None if it does not.

        Raises:
            LsqlError: SCHEMA_INVALID.
        """

    def delete(self, subject: str) -> None:
        """Delete a subject permanently, with all its versions. It is not an error if the subject does not exist."""

    def close(self) -> None:
        """Close all connections. No other method may be called afterwards."""


Parsed = TypeVar("Parsed")

_NOT_FOUND = {40401, 40402, 40403}
"""Error codes for an unknown subject, version or schema. A registry sends no 404 with another error code."""
_REQUEST_UNSUPPORTED = {404, 405}
"""The status of a response to a request that the registry does not support."""


class RestRegistry:
    """A schema registry over HTTP.

    Raises:
        LsqlError: ENV_INVALID, CERTIFICATE_INCOMPLETE from the constructor; as SchemaRegistry from the methods.
    """

    def __init__(self, connection: RegistryConnection, request_timeout_s: float = 10.0) -> None:
        self._hosts = RegistryHosts(connection, request_timeout_s)

    def schema(self, schema_id: int) -> RegisteredSchema:
        response = _parse(_SCHEMA, self._hosts.ask("GET", f"/schemas/ids/{schema_id}"))
        if response is None:
            raise LsqlError("SCHEMA_ID_UNKNOWN", id=schema_id)
        return response.registered(schema_id)

    def latest(self, subject: str) -> SubjectVersion | None:
        response = _parse(_VERSION, self._hosts.ask("GET", _versions(subject) + "/latest"))
        return None if response is None else SubjectVersion(subject, response.version, response.registered(response.id))

    def is_taken(self, subject: str) -> bool:
        versions = _parse(_NUMBERS, self._hosts.ask("GET", _versions(subject) + "?deleted=true"))
        return bool(versions)

    def version(self, subject: str, number: int) -> RegisteredSchema:
        response = _parse(_VERSION, self._hosts.ask("GET", f"{_versions(subject)}/{number}"))
        if response is None:
            raise LsqlError("SUBJECT_VERSION_UNKNOWN", subject=subject, version=number)
        return response.registered(response.id)

    def ids(self, subject: str) -> tuple[int, ...]:
        until = self._hosts.deadline()
        versions = _parse(_NUMBERS, self._hosts.ask("GET", _versions(subject), until=until))
        if versions is None:
            raise LsqlError("SUBJECT_UNKNOWN", subject=subject)
        replies = (self._hosts.ask("GET", f"{_versions(subject)}/{n}", until=until) for n in sorted(versions))
        answers = (_parse(_VERSION, reply) for reply in replies)
        return tuple(version.id for version in answers if version is not None)  # None: deleted in the meantime

    def registered_id(self, subject: str, kind: SchemaKind, text: str) -> int | None:
        reply = self._hosts.ask("POST", f"/subjects/{quote(subject, safe='')}", _body(kind, text, ()))
        if reply.status in _REQUEST_UNSUPPORTED and reply.error_code not in _NOT_FOUND:
            return None  # some registries do not support this request
        response = _parse(_ID, _valid(reply, subject, kind))
        return None if response is None else response.id

    def register(self, subject: str, kind: SchemaKind, text: str, references: Iterable[SchemaReference] = ()) -> int:
        reply = self._hosts.ask("POST", _versions(subject), _body(kind, text, references))
        if reply.status == 409:
            raise LsqlError("SCHEMA_INCOMPATIBLE", subject=subject, reason=reply.message or str(reply.status))
        response = _parse(_ID, _valid(reply, subject, kind))
        if response is None:
            raise LsqlError("SCHEMA_REFERENCE_UNKNOWN", subject=subject)
        return response.id

    def incompatibility(
        self, subject: str, kind: SchemaKind, text: str, references: Iterable[SchemaReference] = ()
    ) -> str | None:
        path, body = f"/compatibility{_versions(subject)}", _body(kind, text, references)
        until = self._hosts.deadline()
        reply = self._hosts.ask("POST", f"{path}?verbose=true", body, until)
        if reply.status in _REQUEST_UNSUPPORTED and reply.error_code not in _NOT_FOUND:
            # Some registries check only against the latest version, at every compatibility level.
            reply = self._hosts.ask("POST", f"{path}/latest?verbose=true", body, until)
        response = _parse(_COMPATIBILITY, _valid(reply, subject, kind))
        return None if response is None or response.is_compatible else response.reason

    def delete(self, subject: str) -> None:
        until = self._hosts.deadline()
        # Confluent's registry deletes a subject permanently only after a first, soft deletion.
        for how in ("", "?permanent=true"):
            reply = self._hosts.ask("DELETE", f"/subjects/{quote(subject, safe='')}{how}", until=until)
            if reply.error_code // 100 != 404:
                _parse(_NUMBERS, reply)

    def close(self) -> None:
        self._hosts.close()


def _versions(subject: str) -> str:
    return f"/subjects/{quote(subject, safe='')}/versions"


def _body(kind: SchemaKind, text: str, references: Iterable[SchemaReference]) -> dict[str, Any]:
    named = [{"name": r.name, "subject": r.subject, "version": r.version} for r in references]
    # Confluent's registry before 5.5 supports AVRO only, and rejects unknown fields.
    kinds = {} if kind == _DEFAULT_KIND else {"schemaType": kind}
    return {"schema": text, **kinds, **({"references": named} if named else {})}


def _valid(reply: Reply, subject: str, kind: SchemaKind) -> Reply:
    if reply.status == 422:
        raise LsqlError("SCHEMA_INVALID", subject=subject, kind=kind, reason=reply.message or str(reply.status))
    return reply


def _parse(form: TypeAdapter[Parsed], reply: Reply) -> Parsed | None:
    """The parsed response; None if the registry answers that the schema, subject or version does not exist.

    Raises:
        LsqlError: REGISTRY_RESPONSE_INVALID.
    """
    if reply.status == 404 and reply.error_code in _NOT_FOUND:
        return None
    if reply.status != 200:
        raise reply.invalid(REASONS("STATUS", status=reply.status_and_message))
    try:
        parsed = form.validate_python(reply.document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "$"
        raise reply.invalid(REASONS("OTHER_JSON", place=place, reason=first["msg"])) from None
    if isinstance(parsed, _Schema) and parsed.kind not in REGISTRY_KINDS:
        raise reply.invalid(REASONS("KIND_UNKNOWN", kind=parsed.kind, known=", ".join(REGISTRY_KINDS)))
    return parsed


class _Answer(BaseModel):
    """A response. Registries may send more fields, and null for missing ones."""

    model_config = ConfigDict(frozen=True, extra="ignore", arbitrary_types_allowed=True)


class _Schema(_Answer):
    text: str = Field(alias="schema")
    kind: Annotated[str, BeforeValidator(lambda kind: kind or _DEFAULT_KIND)] = Field(_DEFAULT_KIND, alias="schemaType")
    references: Annotated[tuple[SchemaReference, ...], BeforeValidator(lambda references: references or ())] = ()

    def registered(self, schema_id: int) -> RegisteredSchema:
        return RegisteredSchema(schema_id, self.kind, self.text, self.references)


class _Version(_Schema):
    id: int
    version: int


class _Id(_Answer):
    id: int


_INCOMPATIBLE = "is_compatible: false"
"""The reason, for a response without one."""


class _Compatibility(_Answer):
    is_compatible: bool
    messages: list[str] | None = None
    """Confluent's reasons."""
    apicurio_reason: str | None = Field(None, alias="reason")

    @property
    def reason(self) -> str:
        return first_line(self.apicurio_reason or "; ".join(self.messages or ())) or _INCOMPATIBLE


_SCHEMA = TypeAdapter(_Schema)
_VERSION = TypeAdapter(_Version)
_ID = TypeAdapter(_Id)
_NUMBERS = TypeAdapter(list[int])
_COMPATIBILITY = TypeAdapter(_Compatibility)
