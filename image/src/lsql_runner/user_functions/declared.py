"""Reads the file with the declarations of user-defined functions.

    RISK_SCORE:
      class: com.example.RiskScore
      arguments:
        country: string not null
        amount: decimal(18,2) not null
      result: double not null

The types are the same as in LSQL_TOPICS; a mapping of field names and types is a struct.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from lsql_runner.bind.functions.table import AGGREGATES, FUNCTIONS, SPECIAL_FORMS
from lsql_runner.errors import Detail, DetailError, DetailTable, LsqlError
from lsql_runner.formats.catalog import UserFunction
from lsql_runner.formats.declared_types import declared_type
from lsql_runner.formats.spec import DeclarationError
from lsql_runner.sql.cursor import RESERVED
from lsql_runner.types import Array, DataType, Field, Map, Struct, TypeTextError, parse_field
from lsql_runner.yaml_text import YamlError, load_yaml

MAX_ARGUMENTS = 5

_KEYS = ("class", "arguments", "result", "doc")

_EXPECTED = DetailTable(
    {
        "FILE": "expected a mapping with the names of functions",
        "FUNCTION": "expected a mapping with class, arguments and result",
        "KEY_UNKNOWN": "unknown key {key}; similar keys: {near}",
        "KEY_MISSING": "{key} is missing",
        "DETERMINISTIC": "unknown key deterministic; every function must return the same result for the same arguments",
        "CLASS": "expected the full name of a Java class, as com.example.RiskScore, not {found}",
        "ARGUMENTS": "expected a mapping of argument names and types",
        "ARGUMENT_COUNT": "expected 1 to {most} arguments, not {count}: the interfaces are UDF1 to UDF{most}",
        "ARGUMENT_NAME": "expected a name with letters, digits and _, not {found}",
        "DOC": "expected text",
    }
)

_NAMES = DetailTable(
    {
        "BUILT_IN": "it is the name of a built-in function",
        "DUPLICATE": "{other} is the same name, because programs write names in any case",
        "NOT_A_NAME": "a name has letters, digits and _, and does not begin with a digit",
        "RESERVED": "it is a keyword",
    }
)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CLASS = re.compile(r"[\w$]+(\.[\w$]+)*")
_WINDOWS = frozenset({"TUMBLE", "HOP", "SESSION", "SLIDING"})
"""In GROUP BY of the legacy dialect, windows look like calls."""


class _Invalid(DetailError):
    """A declaration that is invalid."""


def parse_functions(text: str, path: Path) -> dict[str, UserFunction]:
    """The functions in the text of a file, by name.

    Args:
        text: the text.
        path: of the file, for errors.

    Raises:
        LsqlError: FUNCTION_FILE_INVALID, FUNCTION_NAME_INVALID, FUNCTION_IN_PYTHON.
    """
    try:
        return _functions(load_yaml(text), path)
    except (YamlError, _Invalid, DeclarationError) as error:
        raise LsqlError("FUNCTION_FILE_INVALID", path=str(path), reason=error.reason) from None


def _functions(document: Any, path: Path) -> dict[str, UserFunction]:
    if not isinstance(document, Mapping) or not all(isinstance(name, str) for name in document):
        raise _Invalid(_EXPECTED("FILE"))
    written: dict[str, str] = {}
    functions: dict[str, UserFunction] = {}
    for name, body in document.items():
        reason = _refusal(name, written.get(name.upper()))
        if reason is not None:
            raise LsqlError("FUNCTION_NAME_INVALID", path=str(path), name=name, reason=reason)
        written[name.upper()] = name
        functions[name.upper()] = _function(name, body, path)
    return functions


def _refusal(name: str, other: str | None) -> Detail | None:
    """Why a function cannot have a name; None if it can.

    Args:
        name: as in the file.
        other: the name of an earlier function that differs at most in its case.
    """
    if not _NAME.fullmatch(name):
        return _NAMES("NOT_A_NAME")
    if other is not None:
        return _NAMES("DUPLICATE", other=other)
    upper = name.upper()
    if upper in FUNCTIONS or upper in AGGREGATES or upper in SPECIAL_FORMS:
        return _NAMES("BUILT_IN")
    return _NAMES("RESERVED") if upper in RESERVED | _WINDOWS else None


def _function(name: str, body: Any, path: Path) -> UserFunction:
    place = f"function {name}"
    if not isinstance(body, Mapping) or not all(isinstance(key, str) for key in body):
        raise _Invalid(_EXPECTED("FUNCTION").at(place))
    _refuse_python(name, body, path)
    _check_keys(place, body)
    class_name = body["class"]
    if not isinstance(class_name, str) or not _CLASS.fullmatch(class_name):
        raise _Invalid(_EXPECTED("CLASS", found=f"{class_name!r:.60}").at(f"{place}, class"))
    doc = body.get("doc", "")
    if not isinstance(doc, str):
        raise _Invalid(_EXPECTED("DOC").at(f"{place}, doc"))
    return UserFunction(
        name=name.upper(),
        class_name=class_name,
        arguments=_arguments(place, body["arguments"]),
        result=_field(f"{place}, result", "", body["result"]),
        doc=" ".join(doc.split()),
    )


def _refuse_python(name: str, body: Mapping[str, Any], path: Path) -> None:
    language, class_name = body.get("language"), body.get("class")
    reason = None
    if "python" in body:
        reason = "python"
    elif isinstance(language, str) and language.lower() == "python":
        reason = f"language: {language}"
    elif isinstance(class_name, str) and re.search(r"\.py\b", class_name):
        reason = f"class: {class_name}"
    if reason is not None:
        raise LsqlError("FUNCTION_IN_PYTHON", path=str(path), function=name, found=reason)


def _check_keys(place: str, body: Mapping[str, Any]) -> None:
    if "deterministic" in body:
        raise _Invalid(_EXPECTED("DETERMINISTIC").at(place))
    for key in body:
        if key not in _KEYS:
            near = ", ".join(get_close_matches(key, _KEYS, n=2)) or ", ".join(_KEYS)
            raise _Invalid(_EXPECTED("KEY_UNKNOWN", key=key, near=near).at(place))
    for key in ("class", "arguments", "result"):
        if key not in body:
            raise _Invalid(_EXPECTED("KEY_MISSING", key=key).at(place))


def _arguments(place: str, body: Any) -> tuple[Field, ...]:
    if not isinstance(body, Mapping) or not all(isinstance(name, str) for name in body):
        raise _Invalid(_EXPECTED("ARGUMENTS").at(f"{place}, arguments"))
    if not 1 <= len(body) <= MAX_ARGUMENTS:
        raise _Invalid(_EXPECTED("ARGUMENT_COUNT", most=MAX_ARGUMENTS, count=len(body)).at(f"{place}, arguments"))
    for name in body:
        if not _NAME.fullmatch(name):
            raise _Invalid(_EXPECTED("ARGUMENT_NAME", found=f"{name!r:.60}").at(f"{place}, arguments"))
    fields = [_field(f"{place}, argument {name}", name, kind) for name, kind in body.items()]
    return tuple(replace(field, type=_all_nullable(field.type)) for field in fields)


def _field(place: str, name: str, body: Any) -> Field:
    if not isinstance(body, str):
        return Field(name, declared_type(place, body))
    try:
        return parse_field(name, body)
    except TypeTextError as error:
        raise _Invalid(error.reason.at(place)) from None


def _all_nullable(kind: DataType) -> DataType:
    """The type without ` not null` inside: an argument may have nulls inside even so."""
    match kind:
        case Array(element):
            return Array(_all_nullable(element))
        case Map(value):
            return Map(_all_nullable(value))
        case Struct(fields):
            return Struct(tuple(Field(field.name, _all_nullable(field.type)) for field in fields))
    return kind
