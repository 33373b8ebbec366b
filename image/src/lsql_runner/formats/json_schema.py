"""JSON Schema to the language's types. Pure: text in, frozen types out.

Source: the drafts 4 to 2020-12 of JSON Schema. A schema limits values rather than giving them a type, so the
type is widened where branches differ: a value of several kinds is text, as in a sample of JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsql_runner.formats.json_types import merged, settled, type_of_json
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
_DEEPEST = 60
_MOST = 10_000
"""Most parts of a schema that are read. A part counts again for each reference to it."""


if TYPE_CHECKING:
    from lsql_runner.formats.json_references import LocatedSchema


class JsonSchemaError(FormatError):
    """A schema that cannot be read; the message says what and where."""


def read_json_schema(text: str, references: Mapping[str, str] | None = None) -> DataType | None:
    """The type of the values that a schema allows; None if it says nothing of them.

    Args:
        text: the schema.
        references: the schemas that it and they refer to, by the names in their `$ref`s.

    Raises:
        JsonSchemaError: it is not a JSON Schema, or a reference leads nowhere.
    """
    from lsql_runner.formats.json_references import located  # only where a registry has a JSON Schema

    root = _parsed(text)
    others = {name: _parsed(one) for name, one in (references or {}).items()}
    found = _Reader().read(located(root, others), "", ())
    return None if found is None or found in (NULL, Struct(())) else settled(found)


def _parsed(text: str) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise JsonSchemaError("the text is not JSON") from None
    if not isinstance(found, Mapping | bool):
        raise JsonSchemaError("it is not a JSON Schema")
    return found


@dataclass
class _Reader:
    """Reads one schema. A type of None: any value."""

    _read: int = 0

    def read(self, here: LocatedSchema, place: str, around: tuple[int, ...]) -> DataType | None:
        """The type of a schema. One that contains itself is text there: the JSON of the value."""
        schema = here.schema
        self._read += 1
        if self._read > _MOST or len(around) > _DEEPEST:
            raise JsonSchemaError("it is too large")
        if isinstance(schema, bool):
            return None if schema else NULL
        if not isinstance(schema, Mapping):
            raise JsonSchemaError(f"{place or 'it'} is not a JSON Schema")
        if id(schema) in around:
            return STRING
        around = (*around, id(schema))
        parts = []
        if "$ref" in schema:
            parts.append(self.read(_target(here, schema["$ref"], place), place, around))
            if here.ignores_siblings:
                return parts[0]
        parts.append(self._own(here, place, around))
        parts += [self.read(here.inside(one), place, around) for one in _list(schema, "allOf", place)]
        for word in ("anyOf", "oneOf"):
            branches = [self.read(here.inside(one), place, around) for one in _list(schema, word, place)]
            if branches:
                parts.append(_any(branches))
        return _all(parts)

    def _own(self, here: LocatedSchema, place: str, around: tuple[int, ...]) -> DataType | None:
        """The type by the keyword `type`, else by keywords that only apply to one type."""
        schema = here.schema
        for word in ("const", "enum"):
            if word in schema:
                values = _list(schema, "enum", place) if word == "enum" else [schema["const"]]
                return _any([type_of_json(value) for value in values])
        names = schema.get("type")
        if names is None:
            words = {"object": ("properties", "patternProperties"), "array": ("items", "prefixItems")}
            names = [kind for kind, said in words.items() if any(word in schema for word in said)]
        names = [names] if isinstance(names, str) else names
        if not isinstance(names, list):
            raise JsonSchemaError(f"{place or 'it'} has the type {names!r}")
        return _any([self._kind(name, here, place, around) for name in names])

    def _kind(self, name: Any, here: LocatedSchema, place: str, around: tuple[int, ...]) -> DataType:
        match name:
            case "object":
                return self._object(here, place, around)
            case "array":
                return self._array(here, place, around)
        found = _KINDS.get(name) if isinstance(name, str) else None
        if found is None:
            raise JsonSchemaError(f"{place or 'it'} has the type {name!r}")
        return found

    def _object(self, here: LocatedSchema, place: str, around: tuple[int, ...]) -> DataType:
        """A struct of the properties; without properties a map of the other members."""
        schema = here.schema
        properties = schema.get("properties", {})
        if not isinstance(properties, Mapping):
            raise JsonSchemaError(f"{place or 'it'} has properties that are not an object")
        if properties:
            return Struct(
                tuple(
                    Field(name, _known(self.read(here.inside(one), _below(place, name), around)))
                    for name, one in properties.items()
                )
            )
        patterns = schema.get("patternProperties", {})
        others = [*patterns.values()] if isinstance(patterns, Mapping) else []
        if isinstance(schema.get("additionalProperties"), Mapping):
            others.append(schema["additionalProperties"])
        if not others and not place:
            return Struct(())  # the schema says nothing about the record
        return Map(_known(_any([self.read(here.inside(one), f"{place}{{}}", around) for one in others])))

    def _array(self, here: LocatedSchema, place: str, around: tuple[int, ...]) -> DataType:
        schema = here.schema
        items = schema.get("items", True)
        several = [*items] if isinstance(items, list) else [items]
        prefix = _list(schema, "prefixItems", place)
        if prefix:
            several = [*prefix, *(several if isinstance(items, Mapping) else [])]
        return Array(_known(_any([self.read(here.inside(one), f"{place}[]", around) for one in several])))


def _target(here: LocatedSchema, reference: Any, place: str) -> LocatedSchema:
    found = here.target(reference) if isinstance(reference, str) else None
    if found is None:
        raise JsonSchemaError(f"{place or 'it'} refers to {reference}, which does not exist")
    return found


def _list(schema: Mapping[str, Any], word: str, place: str) -> list[Any]:
    found = schema.get(word, [])
    if not isinstance(found, list):
        raise JsonSchemaError(f"{place or 'it'} has {word} that is not a list")
    return found


def _below(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _known(kind: DataType | None) -> DataType:
    """Any value is text: its JSON."""
    return STRING if kind is None else kind


def _any(kinds: Iterable[DataType | None]) -> DataType | None:
    """A type that holds the values of every branch. No branch at all means any value."""
    found: DataType | None = None
    for number, kind in enumerate(kinds):
        if kind is None:
            return None
        found = kind if number == 0 or found is None else merged(found, kind)
    return found


def _all(kinds: Iterable[DataType | None]) -> DataType | None:
    """The type of values that match every part: structs are merged, else the first known type counts."""
    found: DataType | None = None
    for kind in kinds:
        if found is None or found == NULL:
            found = kind if kind is not None else found
        elif isinstance(found, Struct) and isinstance(kind, Struct):
            found = merged(found, kind)
    return found
