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

from collections.abc import Mapping
from typing import Any
from typing import Literal as OneOf

from lsql_runner.formats.catalog import BYTES_FORMAT, Serde, TopicSchema
from lsql_runner.formats.spec import Declaration, DeclarationError
from lsql_runner.formats.table import known_formats, parse_format, readable_as, row_of
from lsql_runner.types import BYTES


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
    row = row_of(form)
    if "options" in body and not row.has_options:
        raise DeclarationError(f"{place}: no options, since {form} has none")
    if not isinstance(body.get("schema_id", False), bool) or ("schema_id" in body and not row.may_have_schema_id):
        raise DeclarationError(f"{place}: schema_id is true or false, for JSON")
    if row.declare is None:
        assert row.one_type is not None
        if "schema" in body:
            raise DeclarationError(f"{place}: no schema, since {form} has one type")
        return Serde(form, row.one_type)
    if "schema" not in body:
        raise DeclarationError(f"{place}: a schema, since {form} has many shapes")
    options, has_schema_id = body.get("options", {}), body.get("schema_id", False)
    return row.declare(form, Declaration(place, body["schema"], options, has_schema_id))


def as_declaration(schemas: Mapping[str, TopicSchema]) -> dict[str, Any]:
    """The declaration from which `declared_topics` reads these schemas."""
    return {name: {"key": _as_part(s.key), "value": _as_part(s.value)} | _origin(s) for name, s in schemas.items()}


def _origin(schema: TopicSchema) -> dict[str, str]:
    """The origin, for a schema that was not declared."""
    return {} if schema.origin == "declared" else {"origin": "sampled"}


def _as_part(serde: Serde) -> dict[str, Any]:
    part: dict[str, Any] = {"format": str(serde.format)}
    describe = row_of(serde.format).describe
    if describe is not None:
        part["schema"] = describe(serde)
    if serde.has_schema_id:
        part["schema_id"] = True
    if serde.options:
        part["options"] = dict(serde.options)
    return part
