"""Reads declared types: text, or an object of field names and types; an object inside it is a struct."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lsql_runner.errors import DetailTable
from lsql_runner.formats.spec import DeclarationError
from lsql_runner.types import (
    MAX_TYPE_DEPTH,
    DataType,
    Field,
    Struct,
    TypeTextError,
    describe,
    describe_field_type,
    parse_field,
    parse_type,
)

_EXPECTED = DetailTable(
    {
        "TYPE": "expected a type as text, or an object of field names and types, not {value}",
        "TOO_DEEP": "expected objects that are nested at most {limit} levels deep",
    }
)


def declared_type(place: str, body: Any, path: tuple[str, ...] = ()) -> DataType:
    """The type that a declaration names.

    Args:
        place: of the declaration, for errors: `topic orders, value`.
        path: the names of the fields around it.

    Raises:
        DeclarationError: it is not a type.
    """
    if isinstance(body, Mapping) and all(isinstance(name, str) for name in body):
        if len(path) >= MAX_TYPE_DEPTH:
            raise DeclarationError(_EXPECTED("TOO_DEEP", limit=MAX_TYPE_DEPTH), place)
        return Struct(tuple(_member(place, (*path, name), kind) for name, kind in body.items()))
    if not isinstance(body, str):
        raise DeclarationError(_EXPECTED("TYPE", value=f"{body!r:.60}"), _in_field(place, path))
    try:
        return parse_type(body)
    except TypeTextError as error:
        raise DeclarationError(error.reason, place) from None


def _member(place: str, path: tuple[str, ...], body: Any) -> Field:
    if not isinstance(body, str):
        return Field(path[-1], declared_type(place, body, path))
    try:
        return parse_field(path[-1], body)
    except TypeTextError as error:
        raise DeclarationError(error.reason, _in_field(place, path)) from None


def _in_field(place: str, path: tuple[str, ...]) -> str:
    return f"{place}, field {'.'.join(path)}" if path else place


def described_type(kind: DataType) -> Any:
    """The declaration from which `declared_type` returns this type."""
    return {f.name: describe_field_type(f) for f in kind.fields} if isinstance(kind, Struct) else describe(kind)
