"""JSON: text, in some topics preceded by the id of a JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from lsql_runner.formats.catalog import JSON_FORMAT, Format, Serde
from lsql_runner.formats.declared_types import declared_type, described_type
from lsql_runner.formats.json_budget import MAX_FIELDS, exceeds_budget
from lsql_runner.formats.json_output import write_json_schema
from lsql_runner.formats.json_schema import read_json_schema
from lsql_runner.formats.json_types import field_count, merge_types, type_of_json
from lsql_runner.formats.primitives import is_text
from lsql_runner.formats.schema_id import starts_with_schema_id, without_schema_id
from lsql_runner.formats.spec import Declaration, FormatRow, OutputSchema, RegisteredText, RegistryRow, SchemaSetting
from lsql_runner.types import BYTES, NULL, DataType, Struct

_SCHEMA = "json.schema"


def json_type(values: Iterable[Any]) -> DataType:
    """The struct type that holds all values: fields in the order of their first occurrence, text where types differ.

    Values after the one with which the type has MAX_FIELDS fields are ignored.
    """
    kind: DataType = NULL
    for value in values:
        kind = merge_types(kind, type_of_json(value))
        if field_count(kind) >= MAX_FIELDS:
            break
    return kind if isinstance(kind, Struct) else Struct(())


def _objects(samples: Sequence[bytes]) -> Iterator[dict[str, Any]]:
    """The objects among the samples, one at a time: together they may need much memory."""
    return (value for sample in samples if isinstance(value := _parse(sample), dict))


def _parse(data: bytes) -> Any:
    """The value of a JSON text; None for other bytes, because a sample may contain malformed records, and for a text
    with too many values."""
    if exceeds_budget(data):
        return None
    try:
        return json.loads(without_schema_id(data))
    except (ValueError, RecursionError):
        return None


def _infer(samples: Sequence[bytes], form: Format) -> Serde | None:
    return Serde(form, json_type(_objects(samples))) if samples else None


def _recognizes(samples: Sequence[bytes]) -> bool:
    return is_text(samples) and any(True for _ in _objects(samples))


def _declare(form: Format, declaration: Declaration) -> Serde:
    kind = declared_type(declaration.place, declaration.schema)
    return Serde(form, kind, has_schema_id=declaration.has_schema_id)


def _read(registered: RegisteredText) -> Serde | None:
    """If the schema does not determine the type, the sample does.

    Records have schema ids if a record of the sample has one, or if there are no records, because clients of registries
    write schema ids.
    """
    samples = registered.samples
    has_schema_id = not samples or any(map(starts_with_schema_id, samples))
    kind = read_json_schema(registered.text, registered.references)
    serde = _infer(samples, JSON_FORMAT) if kind is None else Serde(JSON_FORMAT, kind)
    return None if serde is None else replace(serde, has_schema_id=has_schema_id)


def _write(serde: Serde, output: OutputSchema) -> Serde:
    """With a schema if the program sets `json.schema`; by default if the source's records have schema ids."""
    setting = output.settings.get(_SCHEMA)
    has_schema_id = serde.has_schema_id if setting is None else setting == "true"
    schema = write_json_schema(serde.type, output.name, output.is_open) if has_schema_id else None
    return replace(serde, has_schema_id=has_schema_id, schema=schema)


FORMATS = (
    FormatRow(
        name="JSON",
        doc="JSON in UTF-8, in some topics preceded by the id of a JSON Schema",
        key_identity="canonical",
        keeps_structs=True,
        fits=lambda kind: kind != BYTES,
        declare=_declare,
        describe=lambda serde: described_type(serde.type),
        from_columns=Serde,
        infer=_infer,
        recognizes=_recognizes,
        registry=RegistryRow(kind="JSON", in_every_record=False, schema_is_json=True, read=_read, write=_write),
        settings=(SchemaSetting(_SCHEMA, "boolean"),),
    ),
)
