"""The text of a program: its size, its syntax, its statements and clauses."""

from __future__ import annotations

from http import HTTPStatus

from lsql_runner.errors.kinds import ErrorKind

SQL: dict[str, ErrorKind] = {
    "SQL_EMPTY": ErrorKind(
        "There is no SQL.",
        "Set SQL to a program, as: INSERT INTO target SELECT STREAM * FROM source.",
    ),
    "SQL_TOO_LARGE": ErrorKind(
        "The program has {size_bytes} bytes; at most {limit_bytes} are read.",
        "Split it into several processors.",
    ),
    "SQL_NOT_UTF8": ErrorKind(
        "The program is not UTF-8: byte {byte} starts no character.",
        "Save the program as UTF-8.",
    ),
    "SQL_SYNTAX": ErrorKind(
        "Found {found} where {expected} was expected.",
        "Change the marked place, or quote a name with back-ticks.",
    ),
    "SQL_TOO_DEEP": ErrorKind(
        "The expression is nested more than {limit} levels deep.",
        "Take brackets away, or compute a part in a WITH query of its own.",
    ),
    "NUMBER_INVALID": ErrorKind(
        "`{found}` is neither a number nor a length of time.",
        "Write 1, 1.5, 1e3, or a length of time as 250ms, 30s, 5m, 1h, 1d.",
    ),
    "MULTIPLE_STATEMENTS": ErrorKind(
        "{where} holds more than one statement.",
        "Keep one SELECT there and move the rest out.",
    ),
    "INSERT_MISSING": ErrorKind(
        "The program writes nowhere: it has no INSERT INTO.",
        "Put INSERT INTO <topic> before the SELECT whose records you want.",
    ),
    "STATEMENT_UNSUPPORTED": ErrorKind(
        "{statement} is not supported.",
        "Instead, {instead}.",
    ),
    "CLAUSE_UNSUPPORTED": ErrorKind(
        "{clause} is not supported.",
        "Instead, {instead}.",
    ),
    "CLAUSE_DUPLICATE": ErrorKind(
        "{clause} stands twice.",
        "Keep one of the two.",
    ),
    "FEATURE_UNSUPPORTED": ErrorKind(
        "{feature}: not supported in this version.", "Instead, {instead}.", http_status=HTTPStatus.NOT_IMPLEMENTED
    ),
    "GENERATIONS_MIXED": ErrorKind(
        "One SELECT mixes the legacy form ({legacy}) with the modern one ({modern}).",
        "Write both places in the same generation.",
    ),
    "WINDOW_DUPLICATE": ErrorKind(
        "The SELECT has a second window.",
        "Keep one; for another length, write another INSERT.",
    ),
    "WINDOW_INVALID": ErrorKind(
        "The window has {reason}.",
        "Give a size above zero, and for HOP an advance no longer than the size.",
    ),
    "WINDOW_WITHOUT_AGGREGATE": ErrorKind(
        "There is a window but nothing is aggregated.",
        "Aggregate something, as COUNT(*) AS n, or take the window away.",
    ),
}
