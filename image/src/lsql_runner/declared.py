"""Formats and schemas of topics as people declare them, in LSQL_TOPICS and in case files.

    {"orders": {"key":   {"format": "STRING"},
                "value": {"format": "JSON", "schema": {"id": "long", "lines": "array<struct<sku: string, qty: int>>"}}}}

A part may be left out: the key is then BYTES; an undeclared value is not allowed, since declaring a
topic means knowing it. `schema` is one type as text, or an object of field names and types; an object
within it is a struct. For AVRO it is the Avro schema, as JSON or as its text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lsql_runner.bind.avro_schema import AvroSchemaError, avro_serde
from lsql_runner.bind.catalog import (
    BYTES_FORMAT,
    PRIMITIVE_FORMATS,
    READABLE,
    Format,
    Serde,
    TopicSchema,
    parse_format,
)
from lsql_runner.types import BYTES, DataType, Field, Struct, describe, parse_type


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
    if not isinstance(body, Mapping) or set(body) - {"key", "value"} or "value" not in body:
        raise DeclarationError(f'{name}: an object with "value" and, if wanted, "key"')
    key = _serde(f"{name}.key", body["key"]) if "key" in body else Serde(BYTES_FORMAT, BYTES)
    return TopicSchema(name, key, _serde(f"{name}.value", body["value"]), "declared")


def _serde(place: str, body: Any) -> Serde:
    if not isinstance(body, Mapping) or set(body) - {"format", "schema"} or not isinstance(body.get("format"), str):
        raise DeclarationError(f'{place}: an object with "format" and, for JSON, "schema"')
    form = parse_format(body["format"])
    if form is None:
        raise DeclarationError(
            f"{place}: a format of {', '.join(READABLE)}; {body['format']} is not supported in this version"
        )
    inner = form.inner or form.name
    if inner in PRIMITIVE_FORMATS:
        if "schema" in body:
            raise DeclarationError(f"{place}: no schema, since {form} has one type")
        return Serde(form, PRIMITIVE_FORMATS[inner])
    if "schema" not in body:
        raise DeclarationError(f"{place}: a schema, since {form} has many shapes")
    if inner == "AVRO":
        return _avro(place, form, body["schema"])
    return Serde(form, _schema(place, body["schema"]))


def avro_text(body: Any) -> str:
    """The JSON of an Avro schema, from that text or from what it says; a bare name is a type."""
    return body if isinstance(body, str) and body.lstrip().startswith(("{", "[", '"')) else json.dumps(body)


def _avro(place: str, form: Format, body: Any) -> Serde:
    try:
        return avro_serde(form, avro_text(body))
    except AvroSchemaError as error:
        raise DeclarationError(f"{place}: an Avro schema; {error}") from None


def _schema(place: str, body: Any) -> DataType:
    if isinstance(body, Mapping) and all(isinstance(name, str) for name in body):
        try:
            return Struct(tuple(Field(name, _schema(f"{place}.{name}", kind)) for name, kind in body.items()))
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


def as_declaration(schemas: Mapping[str, TopicSchema]) -> dict[str, Any]:
    """What `declared_topics` reads, from schemas however they were found."""
    return {name: {"key": _as_part(s.key), "value": _as_part(s.value)} for name, s in schemas.items()}


def _as_part(serde: Serde) -> dict[str, Any]:
    part: dict[str, Any] = {"format": str(serde.format)}
    if serde.schema is not None:
        part["schema"] = json.loads(serde.schema)
    elif (serde.format.inner or serde.format.name) not in PRIMITIVE_FORMATS:
        kind = serde.type
        part["schema"] = {f.name: describe(f.type) for f in kind.fields} if isinstance(kind, Struct) else describe(kind)
    return part
