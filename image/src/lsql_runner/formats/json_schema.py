"""Converts JSON Schemas to types of the language. Pure: text in, frozen types out.

Source: the drafts 4 to 2020-12 of JSON Schema. A schema restricts values and does not name their type. Where its
branches allow different types, the result is a type that holds all of them: text if there is no other, as for samples
of JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsql_runner.errors import DetailTable
from lsql_runner.formats.json_types import merge_types, settled, type_of_json
from lsql_runner.formats.spec import FormatError
from lsql_runner.types import (
    BOOLEAN,
    DOUBLE,
    LONG,
    NULL,
    STRING,
    Array,
    DataType,
    Field,
    Map,
    Struct,
)

_KINDS: dict[str, DataType] = {
    "null": NULL,
    "boolean": BOOLEAN,
    "integer": LONG,
    "number": DOUBLE,
    "string": STRING,
}
_MAX_DEPTH = 60
_MAX_SUBSCHEMAS = 10_000
"""A subschema counts again for each reference to it."""
_REASONS = DetailTable(
    {
        "NOT_JSON": "not JSON",
        "NOT_A_SCHEMA": "not a JSON Schema",
        "TOO_LARGE": "more than {subschemas} subschemas, or nested more than {depth} levels deep",
        "TYPE_INVALID": "{type} is not a JSON type",
        "NOT_AN_OBJECT": "{keyword} is not an object",
        "NOT_A_LIST": "{keyword} is not a list",
        "REFERENCE_UNKNOWN": "the $ref {reference} does not exist",
    }
)


if TYPE_CHECKING:
    from lsql_runner.formats.json_references import LocatedSchema


def read_json_schema(text: str, references: Mapping[str, str] | None = None) -> DataType | None:
    """The type of the values that a schema allows; None if the schema does not determine it.

    Args:
        text: the schema.
        references: all schemas that it refers to, directly or not, by their names in `$ref`s.

    Raises:
        FormatError: the text is not a JSON Schema, or a schema that it refers to does not exist.
    """
    from lsql_runner.formats.json_references import locate_root  # loads a library that few programs need

    root = _parse(text)
    others = {name: _parse(one) for name, one in (references or {}).items()}
    kind = _Reader().read(locate_root(root, others), "", ())
    return None if kind is None or kind in (NULL, Struct(())) else settled(kind)


def _parse(text: str) -> Any:
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError):
        raise FormatError(_REASONS("NOT_JSON")) from None
    if not isinstance(schema, Mapping | bool):
        raise FormatError(_REASONS("NOT_A_SCHEMA"))
    return schema


@dataclass
class _Reader:
    """Reads one schema. None as a type stands for values of any type.

    `place` is the path of a field, for errors; `enclosing` are the `id()`s of the schemas that contain the one to read.
    """

    _read: int = 0

    def read(self, here: LocatedSchema, place: str, enclosing: tuple[int, ...]) -> DataType | None:
        """The type of a schema. Where a schema contains itself, the type is text: the JSON of the value."""
        schema = here.schema
        self._read += 1
        if self._read > _MAX_SUBSCHEMAS or len(enclosing) > _MAX_DEPTH:
            raise FormatError(_REASONS("TOO_LARGE", subschemas=_MAX_SUBSCHEMAS, depth=_MAX_DEPTH))
        if isinstance(schema, bool):
            return None if schema else NULL
        if not isinstance(schema, Mapping):
            raise FormatError(_REASONS("NOT_A_SCHEMA"), place)
        if id(schema) in enclosing:
            return STRING
        enclosing = (*enclosing, id(schema))
        parts = []
        if "$ref" in schema:
            parts.append(self.read(_target(here, schema["$ref"], place), place, enclosing))
            if here.ignores_siblings:
                return parts[0]
        parts.append(self._own(here, place, enclosing))
        parts += [self.read(here.inside(one), place, enclosing) for one in _list(schema, "allOf", place)]
        for word in ("anyOf", "oneOf"):
            branches = [self.read(here.inside(one), place, enclosing) for one in _list(schema, word, place)]
            if branches:
                parts.append(_any(branches))
        return _all(parts)

    def _own(self, here: LocatedSchema, place: str, enclosing: tuple[int, ...]) -> DataType | None:
        """The type that `const`, `enum` or `type` gives, else the types to which other keywords apply."""
        schema = here.schema
        for word in ("const", "enum"):
            if word in schema:
                values = _list(schema, "enum", place) if word == "enum" else [schema["const"]]
                return _any([type_of_json(value) for value in values])
        names = schema.get("type")
        if names is None:
            words = {"object": ("properties", "patternProperties"), "array": ("items", "prefixItems")}
            names = [kind for kind, keywords in words.items() if any(word in schema for word in keywords)]
        names = [names] if isinstance(names, str) else names
        if not isinstance(names, list):
            raise FormatError(_REASONS("TYPE_INVALID", type=repr(names)), place)
        return _any([self._kind(name, here, place, enclosing) for name in names])

    def _kind(self, name: Any, here: LocatedSchema, place: str, enclosing: tuple[int, ...]) -> DataType:
        match name:
            case "object":
                return self._object(here, place, enclosing)
            case "array":
                return self._array(here, place, enclosing)
        kind = _KINDS.get(name) if isinstance(name, str) else None
        if kind is None:
            raise FormatError(_REASONS("TYPE_INVALID", type=repr(name)), place)
        return kind

    def _object(self, here: LocatedSchema, place: str, enclosing: tuple[int, ...]) -> DataType:
        """A struct if the schema has properties, else a map."""
        schema = here.schema
        properties = schema.get("properties", {})
        if not isinstance(properties, Mapping):
            raise FormatError(_REASONS("NOT_AN_OBJECT", keyword="properties"), place)
        if properties:
            return Struct(
                tuple(
                    Field(name, _type_or_text(self.read(here.inside(one), _field_place(place, name), enclosing)))
                    for name, one in properties.items()
                )
            )
        patterns = schema.get("patternProperties", {})
        others = [*patterns.values()] if isinstance(patterns, Mapping) else []
        if isinstance(schema.get("additionalProperties"), Mapping):
            others.append(schema["additionalProperties"])
        if not others and not place:
            return Struct(())  # the schema says nothing about the record
        return Map(_type_or_text(_any([self.read(here.inside(one), f"{place}{{}}", enclosing) for one in others])))

    def _array(self, here: LocatedSchema, place: str, enclosing: tuple[int, ...]) -> DataType:
        schema = here.schema
        items = schema.get("items", True)
        several = [*items] if isinstance(items, list) else [items]
        prefix = _list(schema, "prefixItems", place)
        if prefix:
            several = [*prefix, *(several if isinstance(items, Mapping) else [])]
        return Array(_type_or_text(_any([self.read(here.inside(one), f"{place}[]", enclosing) for one in several])))


def _target(here: LocatedSchema, reference: Any, place: str) -> LocatedSchema:
    target = here.target(reference) if isinstance(reference, str) else None
    if target is None:
        raise FormatError(_REASONS("REFERENCE_UNKNOWN", reference=str(reference)), place)
    return target


def _list(schema: Mapping[str, Any], word: str, place: str) -> list[Any]:
    values = schema.get(word, [])
    if not isinstance(values, list):
        raise FormatError(_REASONS("NOT_A_LIST", keyword=word), place)
    return values


def _field_place(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _type_or_text(kind: DataType | None) -> DataType:
    """The type; text, the JSON of the value, where any type is allowed."""
    return STRING if kind is None else kind


def _any(kinds: Iterable[DataType | None]) -> DataType | None:
    """A type that holds the values of every branch; None without branches."""
    merged_type: DataType | None = None
    for number, kind in enumerate(kinds):
        if kind is None:
            return None
        merged_type = kind if number == 0 or merged_type is None else merge_types(merged_type, kind)
    return merged_type


def _all(kinds: Iterable[DataType | None]) -> DataType | None:
    """The type of values that match all of several schemas: structs are merged, else the first type is used."""
    merged_type: DataType | None = None
    for kind in kinds:
        if merged_type is None or merged_type == NULL:
            merged_type = kind if kind is not None else merged_type
        elif isinstance(merged_type, Struct) and isinstance(kind, Struct):
            merged_type = merge_types(merged_type, kind)
    return merged_type
