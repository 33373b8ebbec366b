"""Values of SET statements: each function checks and converts the value of a statement.

All functions raise:
    LsqlError: SETTING_INVALID, at the value.
"""

from __future__ import annotations

import re

from lsql_runner.bind.expected import EXPECTED
from lsql_runner.errors import Detail, LsqlError
from lsql_runner.sql.ast import UNIT_MS, SetStatement


def invalid(statement: SetStatement, expected: Detail) -> LsqlError:
    """SETTING_INVALID for the value of a statement."""
    return LsqlError(
        "SETTING_INVALID", statement.value_span, key=statement.key, value=statement.value, expected=expected
    )


def boolean(statement: SetStatement) -> bool:
    """true or false, in any case."""
    if statement.value.lower() not in ("true", "false"):
        raise invalid(statement, EXPECTED("BOOLEAN"))
    return statement.value.lower() == "true"


def whole_number(statement: SetStatement, least: int, most: int) -> int:
    """A whole number in a range, both ends included."""
    if not re.fullmatch(r"\d{1,9}", statement.value) or not least <= int(statement.value) <= most:
        raise invalid(statement, EXPECTED("INTEGER_RANGE", least=least, most=most))
    return int(statement.value)


def multiple_of(statement: SetStatement, unit: int) -> int:
    """A whole number above zero that is a multiple of `unit`."""
    digits = re.fullmatch(r"\d{1,15}", statement.value, re.ASCII)
    if not digits or not int(statement.value) or int(statement.value) % unit:
        raise invalid(statement, EXPECTED("POSITIVE_INTEGER") if unit == 1 else EXPECTED("BYTES_MULTIPLE", unit=unit))
    return int(statement.value)


def schema_name(statement: SetStatement, dotted: bool) -> str:
    """A name that is valid in AVRO and PROTOBUF schemas; with `dotted` also several names separated by dots."""
    name = r"[A-Za-z_][A-Za-z0-9_]*"
    if not re.fullmatch(rf"{name}(\.{name})*" if dotted else name, statement.value):
        raise invalid(statement, EXPECTED("DOTTED_NAME") if dotted else EXPECTED("NAME"))
    return statement.value


def duration_ms(statement: SetStatement) -> int:
    """A duration, in milliseconds."""
    match = re.fullmatch(r"(\d{1,12})\s*(ms|s|m|h|d)", statement.value.strip().lower())
    if not match:
        raise invalid(statement, EXPECTED("DURATION"))
    return int(match[1]) * UNIT_MS[match[2]]


def one_of(statement: SetStatement, *words: str) -> str:
    """One of the words, in any case; returned in lower case."""
    if statement.value.lower() not in words:
        raise invalid(statement, EXPECTED("ONE_OF", known=", ".join(words)))
    return statement.value.lower()
