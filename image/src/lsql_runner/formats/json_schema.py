"""JSON Schema to the language's types and back. Pure: text in, frozen types out.

Source: the drafts 4 to 2020-12 of JSON Schema. A schema limits values rather than giving them a type, so what it
says is widened where types differ: a value that may be of several kinds is text, as in a sample of JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from lsql_runner.formats.json_types import merged, settled, type_of_json
from lsql_runner.types import (
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    NULL,
    STRING,
    TIMESTAMP,
    Array,
    DataType,
    Decimal,
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
"""Parts of a schema that are read, those that are referred to once more for each reference."""


class JsonSchemaError(ValueError):
    """A schema that cannot be read; the message says what and where."""


def read_json_schema(text: str, references: Mapping[str, str] | None = None) -> DataType | None:
    """The type of the values that a schema allows; None if it says nothing of them.

    Args:
        text: the schema.
        references: the schemas that it and they refer to, by what they are called there.

    Raises:
        JsonSchemaError: it is no JSON Schema, or refers to what is not there.
    """
    root = _parsed(text)
    others = {name: _parsed(one) for name, one in (references or {}).items()}
    found = _Reader(_Documents(root, others)).read(root, root, "", ())
    return None if found is None or found in (NULL, Struct(())) else settled(found)


def _parsed(text: str) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise JsonSchemaError("the text is no JSON") from None
    if not isinstance(found, Mapping | bool):
        raise JsonSchemaError("it is no JSON Schema")
    return found


# --- references ---


@dataclass
class _Documents:
    """The root and what it may refer to."""

    root: Any
    others: Mapping[str, Any]
    _by_id: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    """Each schema that has an `$id` or an `$anchor`, by the URI that it gives, with its document."""

    def __post_init__(self) -> None:
        for document in (self.root, *self.others.values()):
            for uri, schema in _identified(document, "", 0):
                self._by_id.setdefault(uri, (schema, document))

    def found(self, reference: str, document: Any) -> tuple[Any, Any] | None:
        """The schema that a reference leads to, and its document; None where it leads nowhere."""
        base, fragment = urldefrag(reference)
        uri = urljoin(_id_of(document), base) if base else _id_of(document)
        target: tuple[Any, Any] | None = (document, document)
        if base:
            target = (self.others[base], self.others[base]) if base in self.others else self._by_id.get(uri)
        if target is None or not fragment:
            return target
        if fragment.startswith("/"):
            schema = _pointed(target[0], unquote(fragment))
            return None if schema is None else (schema, target[1])
        return self._by_id.get(f"{uri}#{fragment}")


def _id_of(schema: Any) -> str:
    found = schema.get("$id", schema.get("id")) if isinstance(schema, Mapping) else None
    return found if isinstance(found, str) else ""


def _identified(schema: Any, base: str, depth: int) -> Iterator[tuple[str, Any]]:
    if depth > _DEEPEST:
        return
    if isinstance(schema, list):
        for one in schema:
            yield from _identified(one, base, depth + 1)
    if isinstance(schema, Mapping):
        own = _id_of(schema)
        if own:
            yield (uri := urljoin(base, own)), schema
            base = base if own.startswith("#") else urldefrag(uri).url
        if isinstance(schema.get("$anchor"), str):
            yield f"{base}#{schema['$anchor']}", schema
        for part in schema.values():
            yield from _identified(part, base, depth + 1)


def _pointed(schema: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(schema, Mapping) and name in schema:
            schema = schema[name]
        elif isinstance(schema, list) and name.isdecimal() and int(name) < len(schema):
            schema = schema[int(name)]
        else:
            return None
    return schema


# --- types ---


@dataclass
class _Reader:
    """Reads one schema. A type of None: any value."""

    documents: _Documents
    _read: int = 0

    def read(self, schema: Any, document: Any, place: str, around: tuple[int, ...]) -> DataType | None:
        """The type of a schema in a document. One that contains itself is text there: the JSON of the value."""
        self._read += 1
        if self._read > _MOST or len(around) > _DEEPEST:
            raise JsonSchemaError("it is too large")
        if isinstance(schema, bool):
            return None if schema else NULL
        if not isinstance(schema, Mapping):
            raise JsonSchemaError(f"{place or 'it'} is no JSON Schema")
        if id(schema) in around:
            return STRING
        around = (*around, id(schema))
        reference = schema.get("$ref")
        if reference is not None:
            target = self.documents.found(reference, document) if isinstance(reference, str) else None
            if target is None:
                raise JsonSchemaError(f"{place or 'it'} refers to {reference}, which is not there")
            return self.read(*target, place, around)
        parts = [self._own(schema, document, place, around)]
        parts += [self.read(one, document, place, around) for one in _list(schema, "allOf", place)]
        for word in ("anyOf", "oneOf"):
            branches = [self.read(one, document, place, around) for one in _list(schema, word, place)]
            if branches:
                parts.append(_any(branches))
        return _all(parts)

    def _own(self, schema: Mapping[str, Any], document: Any, place: str, around: tuple[int, ...]) -> DataType | None:
        """What the schema itself says, by its `type`, else by words that only make sense for one."""
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
        return _any([self._kind(name, schema, document, place, around) for name in names])

    def _kind(
        self, name: Any, schema: Mapping[str, Any], document: Any, place: str, around: tuple[int, ...]
    ) -> DataType:
        match name:
            case "object":
                return self._object(schema, document, place, around)
            case "array":
                return self._array(schema, document, place, around)
        found = _KINDS.get(name) if isinstance(name, str) else None
        if found is None:
            raise JsonSchemaError(f"{place or 'it'} has the type {name!r}")
        return found

    def _object(self, schema: Mapping[str, Any], document: Any, place: str, around: tuple[int, ...]) -> DataType:
        """A struct of the properties; where none is named, a map of what the others are."""
        properties = schema.get("properties", {})
        if not isinstance(properties, Mapping):
            raise JsonSchemaError(f"{place or 'it'} has properties that are no object")
        if properties:
            return Struct(
                tuple(
                    Field(name, _known(self.read(one, document, _below(place, name), around)))
                    for name, one in properties.items()
                )
            )
        patterns = schema.get("patternProperties", {})
        others = [*patterns.values()] if isinstance(patterns, Mapping) else []
        if isinstance(schema.get("additionalProperties"), Mapping):
            others.append(schema["additionalProperties"])
        if not others and not place:
            return Struct(())  # nothing is said of the record
        return Map(_known(_any([self.read(one, document, f"{place}{{}}", around) for one in others])))

    def _array(self, schema: Mapping[str, Any], document: Any, place: str, around: tuple[int, ...]) -> DataType:
        items = schema.get("items", True)
        several = [*items] if isinstance(items, list) else [items]
        prefix = _list(schema, "prefixItems", place)
        if prefix:
            several = [*prefix, *(several if isinstance(items, Mapping) else [])]
        return Array(_known(_any([self.read(one, document, f"{place}[]", around) for one in several])))


def _list(schema: Mapping[str, Any], word: str, place: str) -> list[Any]:
    found = schema.get(word, [])
    if not isinstance(found, list):
        raise JsonSchemaError(f"{place or 'it'} has {word} that is no list")
    return found


def _below(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _known(kind: DataType | None) -> DataType:
    """Any value is text: its JSON."""
    return STRING if kind is None else kind


def _any(kinds: Iterable[DataType | None]) -> DataType | None:
    """A type for values of all of them; none at all is any value."""
    found: DataType | None = None
    for number, kind in enumerate(kinds):
        if kind is None:
            return None
        found = kind if number == 0 or found is None else merged(found, kind)
    return found


def _all(kinds: Iterable[DataType | None]) -> DataType | None:
    """The type of values that are all of them at once: structs add up, else the first that says something counts."""
    found: DataType | None = None
    for kind in kinds:
        if found is None or found == NULL:
            found = kind if kind is not None else found
        elif isinstance(found, Struct) and isinstance(kind, Struct):
            found = merged(found, kind)
    return found


# --- and back ---

_WRITTEN: dict[DataType, dict[str, Any]] = {
    INT: {"type": "integer"},
    LONG: {"type": "integer"},
    FLOAT: {"type": "number"},
    DOUBLE: {"type": "number"},
    STRING: {"type": "string"},
    BOOLEAN: {"type": "boolean"},
    BYTES: {"type": "string", "contentEncoding": "base64"},
    DATE: {"type": "string", "format": "date"},
    TIMESTAMP: {"type": "string", "format": "date-time"},
    NULL: {"type": "null"},
}


def write_json_schema(kind: DataType, title: str, is_open: bool) -> str:
    """The schema that values of a type are written with, as text that is the same for the same type.

    Args:
        title: of the whole.
        is_open: whether objects may have fields that the type does not name, as those that pass through have. A closed
            schema may have fields added by a later version, which registries refuse of an open one.
    """
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "title": title, **_written(kind, is_open)}
    return json.dumps(schema, separators=(",", ":"), ensure_ascii=False)


def _written(kind: DataType, is_open: bool) -> dict[str, Any]:
    match kind:
        case Decimal():
            return {"type": "number"}
        case Array(element):
            return {"type": "array", "items": _nullable(element, is_open)}
        case Map(value):
            return {"type": "object", "additionalProperties": _nullable(value, is_open)}
        case Struct(fields):
            properties = {
                f.name: _nullable(f.type, is_open) if f.nullable else _written(f.type, is_open) for f in fields
            }
            closed = {} if is_open else {"additionalProperties": False}
            return {"type": "object", "properties": properties, **closed}
    return _WRITTEN[kind]


def _nullable(kind: DataType, is_open: bool) -> dict[str, Any]:
    schema = _written(kind, is_open)
    return schema if schema["type"] == "null" else {**schema, "type": [schema["type"], "null"]}
