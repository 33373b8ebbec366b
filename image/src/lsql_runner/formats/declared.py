"""Reads declarations of the formats and schemas of topics, in LSQL_TOPICS and in case files.

    {"orders": {"key":   {"format": "STRING"},
                "value": {"format": "JSON", "schema": {"id": "long", "lines": "array<struct<sku: string, qty: int>>"}}}}

The value is required; the key is BYTES by default. `schema` is one type as text, or an object of field names and types;
an object inside it is a struct. A field may be null unless its type ends in ` not null`. For AVRO it is the Avro
schema, as JSON or as text; for PROTOBUF the text of a `.proto` file. CSV and XML may have `options`; PROTOBUF has the
option `{"message": "Outer.Inner"}`, for records of another message than the first. JSON may have `"schema_id": true`:
records begin with the id of a schema in the registry. `"origin": "sampled"` marks a schema that was inferred and not
declared.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from typing import Literal as OneOf

from lsql_runner.errors import DetailTable
from lsql_runner.formats.catalog import BYTES_FORMAT, Serde, TopicSchema
from lsql_runner.formats.spec import Declaration, DeclarationError
from lsql_runner.formats.table import FORMATS, known_formats, parse_format, readable_as, row_of
from lsql_runner.types import BYTES

_EXPECTED = DetailTable(
    {
        "JSON": "expected a JSON object of topics: {problem} in line {line}, column {column}",
        "JSON_TOO_DEEP": "the JSON is nested too deeply",
        "TOPICS": "expected an object of topics",
        "TOPIC": 'expected an object with "value" and optionally "key" and "origin"',
        "ORIGIN": "expected declared or sampled",
        "PART": 'expected an object with "format" and, for formats with a schema, "schema"',
        "FORMAT": "expected one of {known}, not {format}",
        "NO_OPTIONS": "{format} has no options",
        "SCHEMA_ID": "expected true or false, and only for {known}",
        "NO_SCHEMA": "expected no schema: all values of {format} have the same type",
        "SCHEMA": "expected a schema, which {format} requires",
    }
)


def parse_topics(text: str) -> dict[str, TopicSchema]:
    """The topics of a declaration in JSON text.

    Raises:
        DeclarationError: as `declared_topics`.
    """
    try:
        return declared_topics(json.loads(text))
    except json.JSONDecodeError as error:
        expected = _EXPECTED("JSON", problem=error.msg, line=error.lineno, column=error.colno)
        raise DeclarationError(expected) from None
    except RecursionError:
        raise DeclarationError(_EXPECTED("JSON_TOO_DEEP")) from None


def declared_topics(document: Any) -> dict[str, TopicSchema]:
    """The topics of a declaration by name.

    Raises:
        DeclarationError: the declaration is invalid.
    """
    if not isinstance(document, Mapping):
        raise DeclarationError(_EXPECTED("TOPICS"))
    return {name: _topic(name, body) for name, body in document.items()}


def _topic(name: str, body: Any) -> TopicSchema:
    if not isinstance(body, Mapping) or set(body) - {"key", "value", "origin"} or "value" not in body:
        raise DeclarationError(_EXPECTED("TOPIC"), f"topic {name}")
    origin = body.get("origin", "declared")
    if origin not in ("declared", "sampled"):
        raise DeclarationError(_EXPECTED("ORIGIN"), f"topic {name}, origin")
    key = _serde(name, "key", body["key"]) if "key" in body else Serde(BYTES_FORMAT, BYTES)
    return TopicSchema(name, key, _serde(name, "value", body["value"]), origin=origin)


def _serde(topic: str, part: OneOf["key", "value"], body: Any) -> Serde:
    place = f"topic {topic}, {part}"
    if (
        not isinstance(body, Mapping)
        or set(body) - {"format", "schema", "schema_id", "options"}
        or not isinstance(body.get("format"), str)
    ):
        raise DeclarationError(_EXPECTED("PART"), place)
    form = parse_format(body["format"])
    if form is None or form.name not in readable_as(part):
        known = known_formats(readable_as(part))
        raise DeclarationError(_EXPECTED("FORMAT", known=known, format=body["format"]), f"{place}, format")
    row = row_of(form)
    if "options" in body and not row.has_options:
        raise DeclarationError(_EXPECTED("NO_OPTIONS", format=str(form)), place)
    if not isinstance(body.get("schema_id", False), bool) or ("schema_id" in body and not row.may_have_schema_id):
        known = known_formats(name for name, other in FORMATS.items() if other.may_have_schema_id)
        raise DeclarationError(_EXPECTED("SCHEMA_ID", known=known), f"{place}, schema_id")
    if row.declare is None:
        assert row.one_type is not None
        if "schema" in body:
            raise DeclarationError(_EXPECTED("NO_SCHEMA", format=str(form)), place)
        return Serde(form, row.one_type)
    if "schema" not in body:
        raise DeclarationError(_EXPECTED("SCHEMA", format=str(form)), place)
    options, has_schema_id = body.get("options", {}), body.get("schema_id", False)
    return row.declare(form, Declaration(place, body["schema"], options, has_schema_id))


def as_declaration(schemas: Mapping[str, TopicSchema]) -> dict[str, Any]:
    """The declaration from which `declared_topics` reads these schemas."""
    return {name: {"key": _as_part(s.key), "value": _as_part(s.value)} | _origin(s) for name, s in schemas.items()}


def _origin(schema: TopicSchema) -> dict[str, str]:
    """`sampled` for every schema that was not declared; empty for others."""
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
