"""Avro schemas as text: with their references inlined, or reduced to the fields that a program reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from lsql_runner.formats.avro_schema import PRIMITIVES, full_name, parse_schema
from lsql_runner.types import Array, DataType, Map, Struct


def inline_references(text: str, references: Iterable[str] = ()) -> str:
    """The schema with each referenced definition inlined where its name first occurs.

    Args:
        text: the schema.
        references: all schemas that it refers to, directly or not, in any order.

    Raises:
        FormatError: one of them is not JSON, or a definition in it has no name.
    """
    others = [parse_schema(one) for one in references]
    known = {full_name(one, "", ""): one for one in others if isinstance(one, dict) and "name" in one}
    return json.dumps(_complete(parse_schema(text), known, set(), ""), separators=(",", ":"), ensure_ascii=False)


def _complete(schema: Any, known: Mapping[str, Any], defined: set[str], namespace: str) -> Any:
    if isinstance(schema, list):
        return [_complete(branch, known, defined, namespace) for branch in schema]
    if isinstance(schema, str):
        full = schema if "." in schema or not namespace else f"{namespace}.{schema}"
        name = full if full in known else schema
        if schema in PRIMITIVES or name not in known or name in defined:
            return schema
        space = name.rpartition(".")[0]
        return _complete({**known[name], "name": name.rpartition(".")[2], "namespace": space}, known, defined, "")
    if not isinstance(schema, dict):
        return schema
    inner = namespace
    if "name" in schema:
        defined.add(name := full_name(schema, "", namespace))
        inner = name.rpartition(".")[0]
    parts = {key: _complete(schema[key], known, defined, inner) for key in ("type", "items", "values") if key in schema}
    if "fields" in schema:
        parts["fields"] = [{**one, "type": _complete(one["type"], known, defined, inner)} for one in schema["fields"]]
    return {**schema, **parts}


def narrowed_avro(text: str, kind: DataType) -> str:
    """The schema with only the fields of `kind`, its type or a part of it, so that the decoder skips the others.

    A schema that refers to a type by its name is returned unchanged: the reference needs the whole definition.
    """
    schema = json.loads(text)
    if _refers(schema):
        return text
    return json.dumps(_narrow(schema, kind), separators=(",", ":"), ensure_ascii=False)


def _refers(schema: Any) -> bool:
    """Whether a schema refers to a definition by its name."""
    if isinstance(schema, str):
        return schema not in PRIMITIVES
    if isinstance(schema, list):
        return any(_refers(branch) for branch in schema)
    inside = [schema.get("items", "null"), schema.get("values", "null")]
    inside += [one["type"] for one in schema.get("fields", ())]
    if not isinstance(schema["type"], str):
        inside.append(schema["type"])
    return any(_refers(part) for part in inside)


def _narrow(schema: Any, kind: DataType) -> Any:
    if isinstance(schema, list):
        several = sum(branch != "null" for branch in schema) > 1
        return schema if several else [_narrow(branch, kind) for branch in schema]
    if isinstance(schema, str):
        return schema
    if not isinstance(schema["type"], str):
        return {**schema, "type": _narrow(schema["type"], kind)}
    match schema["type"], kind:
        case "array", Array(element):
            return {**schema, "items": _narrow(schema["items"], element)}
        case "map", Map(value):
            return {**schema, "values": _narrow(schema["values"], value)}
        case "record", Struct():
            pairs = [(one, kind.field(one["name"])) for one in schema["fields"]]
            fields = [{**one, "type": _narrow(one["type"], f.type)} for one, f in pairs if f is not None]
            return {**schema, "fields": fields}
    return schema
