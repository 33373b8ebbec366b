"""Values of SETs: each function gives the value of a statement.

Raises, all of them:
    LsqlError: SETTING_INVALID, at the value.
"""

from __future__ import annotations

import re

from lsql_runner.errors import LsqlError
from lsql_runner.sql.ast import UNIT_MS, SetStatement


def invalid(statement: SetStatement, expected: str) -> LsqlError:
    """The error of a value that is not what it must be."""
    return LsqlError(
        "SETTING_INVALID", statement.value_span, key=statement.key, value=statement.value, expected=expected
    )


def boolean(statement: SetStatement) -> bool:
    """true or false, in any case."""
    if statement.value.lower() not in ("true", "false"):
        raise invalid(statement, "true or false")
    return statement.value.lower() == "true"


def whole_number(statement: SetStatement, least: int, most: int) -> int:
    """A whole number in a range, both ends included."""
    if not re.fullmatch(r"\d{1,9}", statement.value) or not least <= int(statement.value) <= most:
        raise invalid(statement, f"a whole number from {least} to {most}")
    return int(statement.value)


def multiple_of(statement: SetStatement, unit: int) -> int:
    """A whole number above zero that the unit divides."""
    found = re.fullmatch(r"\d{1,15}", statement.value, re.ASCII)
    if not found or not int(statement.value) or int(statement.value) % unit:
        raise invalid(statement, "a whole number above zero" if unit == 1 else f"bytes, a multiple of {unit}")
    return int(statement.value)


def plain_name(statement: SetStatement, dotted: bool) -> str:
    """A name that AVRO and PROTOBUF take; `dotted` also takes several with dots between."""
    part = r"[A-Za-z_][A-Za-z0-9_]*"
    if not re.fullmatch(rf"{part}(\.{part})*" if dotted else part, statement.value):
        raise invalid(
            statement, "names of letters, digits and _ with dots between" if dotted else "letters, digits and _"
        )
    return statement.value


def duration_ms(statement: SetStatement) -> int:
    """A length of time, in milliseconds."""
    found = re.fullmatch(r"(\d{1,12})\s*(ms|s|m|h|d)", statement.value.strip().lower())
    if not found:
        raise invalid(statement, "a length of time, as 30s, 5m, 1h or 1d")
    return int(found[1]) * UNIT_MS[found[2]]


def one_of(statement: SetStatement, *words: str) -> str:
    """One of the words, in any case; gives it in lower case."""
    if statement.value.lower() not in words:
        raise invalid(statement, " or ".join(words))
    return statement.value.lower()
