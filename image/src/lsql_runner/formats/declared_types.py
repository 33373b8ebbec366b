"""Types as people declare them: text, or an object of field names and types; an object within it is a struct."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lsql_runner.formats.spec import DeclarationError
from lsql_runner.types import DataType, Field, Struct, describe, describe_member, parse_member, parse_type


def declared_type(place: str, body: Any) -> DataType:
    """The type that a declaration says.

    Raises:
        DeclarationError: it says none.
    """
    if isinstance(body, Mapping) and all(isinstance(name, str) for name in body):
        try:
            return Struct(tuple(_member(place, name, kind) for name, kind in body.items()))
        except DeclarationError:
            raise
        except (ValueError, TypeError) as error:
            raise DeclarationError(f"{place}: {error}") from None
    if not isinstance(body, str):
        raise DeclarationError(f"{place}: a type as text, or an object of field names and types, not {body!r:.60}")
    try:
        return parse_type(body)
    except ValueError as error:
        raise DeclarationError(f"{place}: {error}") from None


def _member(place: str, name: str, body: Any) -> Field:
    if not isinstance(body, str):
        return Field(name, declared_type(f"{place}.{name}", body))
    try:
        return parse_member(name, body)
    except ValueError as error:
        raise DeclarationError(f"{place}.{name}: {error}") from None


def described_type(kind: DataType) -> Any:
    """What `declared_type` makes the type of again."""
    return {f.name: describe_member(f) for f in kind.fields} if isinstance(kind, Struct) else describe(kind)
