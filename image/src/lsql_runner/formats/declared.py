"""Formats and schemas of topics as people declare them, in LSQL_TOPICS and in case files.

    {"orders": {"key":   {"format": "STRING"},
                "value": {"format": "JSON", "schema": {"id": "long", "lines": "array<struct<sku: string, qty: int>>"}}}}

A part may be left out: the key is then BYTES; an undeclared value is not allowed, since declaring a
topic means knowing it. `schema` is one type as text, or an object of field names and types; an object
within it is a struct. A field may be null unless its type ends in ` not null`. For AVRO it is the Avro
schema, as JSON or as its text; for PROTOBUF the text of a `.proto` file. CSV and XML
may have `options`; those of PROTOBUF are `{"message": "Outer.Inner"}`, for records of another message than the first.
JSON may have `"schema_id": true`: records begin with the id of a schema in the registry. A topic with
`"origin": "sampled"` has a schema that nobody declared.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from typing import Literal as OneOf

from lsql_runner.formats.avro_schema import AvroSchemaError, avro_serde
from lsql_runner.formats.catalog import (
    AVRO_FORMAT,
    BYTES_FORMAT,
    JSON_FORMAT,
    PRIMITIVE_FORMATS,
    PROTOBUF_FORMAT,
    Format,
    Serde,
    TopicSchema,
    known_formats,
    parse_format,
    readable_as,
)
from lsql_runner.formats.proto_schema import proto_serde, whole_proto
from lsql_runner.formats.proto_text import ProtoError
from lsql_runner.formats.text_formats import OPTIONS, TextFormatError, text_serde
from lsql_runner.types import BYTES, DataType, Field, Struct, describe, describe_member, parse_member, parse_type


class DeclarationError(ValueError):
    """A declaration makes no sense; the message says where and why."""


def declared_topics(document: Any) -> dict[str, TopicSchema]:
    """The topics of a declaration by name.

    Raises:
        DeclarationError: with the place and what was expected.
    """
    if not isinstance(document, Mapping):
        raise DeclarationError("a JSON object of topics")
    return {name: _topic(name, body) for name, body in document.items()}


def _topic(name: str, body: Any) -> TopicSchema:
    if not isinstance(body, Mapping) or set(body) - {"key", "value", "origin"} or "value" not in body:
        raise DeclarationError(f'{name}: an object with "value" and, if wanted, "key" and "origin"')
    origin = body.get("origin", "declared")
    if origin not in ("declared", "sampled"):
        raise DeclarationError(f"{name}.origin: declared or sampled")
    key = _serde(name, "key", body["key"]) if "key" in body else Serde(BYTES_FORMAT, BYTES)
    return TopicSchema(name, key, _serde(name, "value", body["value"]), origin)


def _serde(topic: str, part: OneOf["key", "value"], body: Any) -> Serde:
    place = f"{topic}.{part}"
    if (
        not isinstance(body, Mapping)
        or set(body) - {"format", "schema", "schema_id", "options"}
        or not isinstance(body.get("format"), str)
    ):
        raise DeclarationError(f'{place}: an object with "format" and, for JSON, "schema"')
    form = parse_format(body["format"])
    if form is None or form.name not in readable_as(part):
        known = known_formats(readable_as(part))
        raise DeclarationError(f"{place}: a format of {known}; {body['format']} is not supported in this version")
    if "options" in body and form.name not in OPTIONS and form.bare != PROTOBUF_FORMAT:
        raise DeclarationError(f"{place}: no options, since {form} has none")
    if not isinstance(body.get("schema_id", False), bool) or ("schema_id" in body and form.bare != JSON_FORMAT):
        raise DeclarationError(f"{place}: schema_id is true or false, for JSON")
    primitive = PRIMITIVE_FORMATS.get(form.bare.name)
    if primitive is not None:
        if "schema" in body:
            raise DeclarationError(f"{place}: no schema, since {form} has one type")
        return Serde(form, primitive)
    if "schema" not in body:
        raise DeclarationError(f"{place}: a schema, since {form} has many shapes")
    if form.bare == AVRO_FORMAT:
        return _avro(place, form, body["schema"])
    if form.bare == PROTOBUF_FORMAT:
        return _protobuf(place, form, body["schema"], body.get("options", {}))
    kind = _schema(place, body["schema"])
    if form.name in OPTIONS:
        return _text(place, form, kind, body.get("options", {}))
    return Serde(form, kind, has_schema_id=body.get("schema_id", False))


def _text(place: str, form: Format, kind: DataType, options: Any) -> Serde:
    if not isinstance(options, Mapping) or not all(isinstance(value, str) for value in options.values()):
        raise DeclarationError(f"{place}.options: an object of names and texts")
    try:
        return text_serde(form, kind, options)
    except TextFormatError as error:
        raise DeclarationError(f"{place}: what {form} can be; {error}") from None


def avro_text(body: Any) -> str:
    """The JSON of an Avro schema, from that text or from what it says; a bare name is a type."""
    return body if isinstance(body, str) and body.lstrip().startswith(("{", "[", '"')) else json.dumps(body)


def _avro(place: str, form: Format, body: Any) -> Serde:
    try:
        return avro_serde(form, avro_text(body))
    except AvroSchemaError as error:
        raise DeclarationError(f"{place}: an Avro schema; {error}") from None


def _protobuf(place: str, form: Format, body: Any, options: Any) -> Serde:
    if not isinstance(body, str):
        raise DeclarationError(f"{place}: the text of a .proto file")
    message = options.get("message") if isinstance(options, Mapping) and set(options) <= {"message"} else options
    if message is not None and not isinstance(message, str):
        raise DeclarationError(f'{place}.options: an object with "message", the name of one in the file')
    try:
        return proto_serde(form, whole_proto(body, {}), message)
    except ProtoError as error:
        raise DeclarationError(f"{place}: a .proto file; {error}") from None


def _schema(place: str, body: Any) -> DataType:
    if isinstance(body, Mapping) and all(isinstance(name, str) for name in body):
        try:
            return Struct(tuple(_member(place, name, kind) for name, kind in body.items()))
        except DeclarationError:
            raise
        except (ValueError, TypeError) as error:
            raise DeclarationError(f"{place}: {error}") from None
    if not isinstance(body, str):
        raise DeclarationError(f"{place}: a type as text, or an object of field names and types, not {body!r:.60}")
    try:
        return parse_type(body)
    except ValueError as error:
        raise DeclarationError(f"{place}: {error}") from None


def _member(place: str, name: str, body: Any) -> Field:
    if not isinstance(body, str):
        return Field(name, _schema(f"{place}.{name}", body))
    try:
        return parse_member(name, body)
    except ValueError as error:
        raise DeclarationError(f"{place}.{name}: {error}") from None


def as_declaration(schemas: Mapping[str, TopicSchema]) -> dict[str, Any]:
    """What `declared_topics` reads, from schemas however they were found."""
    return {name: {"key": _as_part(s.key), "value": _as_part(s.value)} | _origin(s) for name, s in schemas.items()}


def _origin(schema: TopicSchema) -> dict[str, str]:
    """Said of a schema that nobody declared."""
    return {} if schema.origin == "declared" else {"origin": "sampled"}


def _as_part(serde: Serde) -> dict[str, Any]:
    part: dict[str, Any] = {"format": str(serde.format)}
    if serde.schema is not None:
        is_text = serde.format.bare == PROTOBUF_FORMAT
        part["schema"] = serde.schema if is_text else json.loads(serde.schema)
    elif serde.format.bare.name not in PRIMITIVE_FORMATS:
        kind = serde.type
        part["schema"] = (
            {f.name: describe_member(f) for f in kind.fields} if isinstance(kind, Struct) else describe(kind)
        )
    if serde.has_schema_id:
        part["schema_id"] = True
    if serde.options:
        part["options"] = dict(serde.options)
    return part
