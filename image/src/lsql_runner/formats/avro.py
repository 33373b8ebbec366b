"""AVRO: the id of a schema, followed by binary Avro."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from lsql_runner.errors import DetailTable
from lsql_runner.formats.avro_schema import avro_serde, write_avro
from lsql_runner.formats.avro_text import inline_references
from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.formats.spec import (
    Declaration,
    DeclarationError,
    FormatError,
    FormatRow,
    OutputSchema,
    RegisteredText,
    RegistryRow,
    SchemaSetting,
)
from lsql_runner.types import NULL, DataType

AVRO_FORMAT = Format("AVRO")
_RECORD, _NAMESPACE = "avro.record", "avro.namespace"
_EXPECTED = DetailTable({"SCHEMA": "expected an Avro schema: {reason}"})


def avro_text(body: Any) -> str:
    """The JSON text of an Avro schema, which may be given as JSON text or as a document; a bare name is a type."""
    return body if isinstance(body, str) and body.lstrip().startswith(("{", "[", '"')) else json.dumps(body)


def _declare(form: Format, declaration: Declaration) -> Serde:
    try:
        return avro_serde(form, avro_text(declaration.schema))
    except FormatError as error:
        raise DeclarationError(_EXPECTED("SCHEMA", reason=error.reason), declaration.place) from None


def _columns_serde(form: Format, kind: DataType) -> Serde:
    return avro_serde(form, write_avro(kind, False, "record", ""))


def _read(registered: RegisteredText) -> Serde:
    return avro_serde(AVRO_FORMAT, inline_references(registered.text, registered.references.values()))


def _write(serde: Serde, output: OutputSchema) -> Serde:
    """A part that passes through unchanged keeps its schema."""
    if serde.schema is not None:
        return serde
    name, namespace = output.settings.get(_RECORD, output.name), output.settings.get(_NAMESPACE, "")
    return replace(serde, schema=write_avro(serde.type, False, name, namespace))


FORMATS = (
    FormatRow(
        name="AVRO",
        doc="binary Avro, preceded by its schema id",
        keeps_structs=True,
        fits=lambda kind: kind != NULL,
        declare=_declare,
        describe=lambda serde: json.loads(serde.schema or "null"),
        from_columns=_columns_serde,
        registry=RegistryRow(kind="AVRO", in_every_record=True, schema_is_json=True, read=_read, write=_write),
        settings=(SchemaSetting(_RECORD, "name"), SchemaSetting(_NAMESPACE, "dotted name")),
    ),
)
