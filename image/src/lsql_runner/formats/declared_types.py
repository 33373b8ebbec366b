"""Reads declared types: text, or an object of field names and types; an object inside it is a struct."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lsql_runner.errors import DetailTable
from lsql_runner.formats.spec import DeclarationError
from lsql_runner.types import (
    DataType,
    Field,
    Struct,
    TypeTextError,
    describe,
    describe_field_type,
    parse_field,
    parse_type,
)

_EXPECTED = DetailTable({"TYPE": "a type as text, or an object of field names and types, not {value}"})


def declared_type(place: str, body: Any) -> DataType:
    """The type that a declaration names.

    Args:
        place: the path of the declaration, for errors.

    Raises:
        DeclarationError: it is not a type.
    """
    if isinstance(body, Mapping) and all(isinstance(name, str) for name in body):
        return Struct(tuple(_member(place, name, kind) for name, kind in body.items()))
    if not isinstance(body, str):
        raise DeclarationError(_EXPECTED("TYPE", value=f"{body!r:.60}"), place)
    try:
        return parse_type(body)
    except TypeTextError as error:
        raise DeclarationError(error.reason, place) from None


def _member(place: str, name: str, body: Any) -> Field:
    if not isinstance(body, str):
        return Field(name, declared_type(f"{place}.{name}", body))
    try:
        return parse_field(name, body)
    except TypeTextError as error:
        raise DeclarationError(error.reason, f"{place}.{name}") from None


def described_type(kind: DataType) -> Any:
    """The declaration from which `declared_type` returns this type."""
    return {f.name: describe_field_type(f) for f in kind.fields} if isinstance(kind, Struct) else describe(kind)
