"""The text of a program: size, syntax, statements and clauses."""

from __future__ import annotations

from http import HTTPStatus

from lsql_runner.errors.kinds import ErrorKind

SQL: dict[str, ErrorKind] = {
    "SQL_EMPTY": ErrorKind(
        "The program is empty.", "Set SQL to a program, for example INSERT INTO target SELECT STREAM * FROM source."
    ),
    "SQL_TOO_LARGE": ErrorKind(
        "The program has {size_bytes} bytes; the limit is {limit_bytes}.", "Split it into several processors."
    ),
    "SQL_NOT_UTF8": ErrorKind(
        "The program is not valid UTF-8: no character starts with byte {byte}.", "Save the program as UTF-8."
    ),
    "SQL_ZERO_BYTE": ErrorKind("The program contains a zero byte.", "Remove it."),
    "SQL_SYNTAX": ErrorKind(
        "Syntax error: found {found}, expected {expected}.",
        "{way_out}",
    ),
    "CHARACTER_INVALID": ErrorKind("Syntax error: unexpected character {character}.", "{way_out}"),
    "COMMENT_UNCLOSED": ErrorKind("The comment is not closed.", "Close it with */."),
    "QUOTE_UNCLOSED": ErrorKind(
        "The quoted text is not closed.", "Close it with {quote}; inside the text write {quote}{quote} for {quote}."
    ),
    "NAME_EMPTY": ErrorKind("The quoted name is empty.", "Write a name between the back-ticks."),
    "SQL_TOO_DEEP": ErrorKind(
        "The expression is nested more than {limit} levels deep.",
        "Remove brackets, or compute a part of it in a WITH query.",
    ),
    "QUERY_TOO_LARGE": ErrorKind(
        "The query has {size} SELECTs and joins, including the WITH queries that it reads; the limit is {limit}.",
        "Write an intermediate result to a topic, and read it in another processor.",
    ),
    "NUMBER_INVALID": ErrorKind(
        "`{found}` is neither a number nor a duration.",
        "Write a number (1, 1.5, 1e3) or a duration (250ms, 30s, 5m, 1h, 1d).",
    ),
    "MULTIPLE_STATEMENTS": ErrorKind(
        "WITH {query} AS (...) contains more than one statement.", "Keep one SELECT and move the other statements out."
    ),
    "INSERT_MISSING": ErrorKind(
        "The program has no INSERT INTO, so it writes nowhere.", "Put INSERT INTO <topic> before a SELECT."
    ),
    "STATEMENT_UNSUPPORTED": ErrorKind("{statement} is not supported.", "Instead, {instead}."),
    "CLAUSE_UNSUPPORTED": ErrorKind("{clause} is not supported.", "Instead, {instead}."),
    "FEATURE_UNSUPPORTED": ErrorKind(
        "Not supported in this version: {feature}.", "Instead, {instead}.", http_status=HTTPStatus.NOT_IMPLEMENTED
    ),
    "CLAUSE_DUPLICATE": ErrorKind("{clause} is given twice.", "Keep one of the two."),
    "DIALECTS_MIXED": ErrorKind(
        "The SELECT mixes legacy syntax ({legacy}) with modern syntax ({modern}).", "Write the SELECT in one dialect."
    ),
    "SELECT_MODE_MISSING": ErrorKind(
        "The SELECT uses modern syntax ({modern}) without STREAM or TABLE.", "Write SELECT STREAM or SELECT TABLE."
    ),
    "WINDOW_DUPLICATE": ErrorKind(
        "The SELECT has two windows.", "Keep one of them. For another window, write another INSERT."
    ),
    "WINDOW_LENGTH_ZERO": ErrorKind("The size or advance of the window is zero.", "Give a length above zero."),
    "WINDOW_ADVANCE_TOO_LONG": ErrorKind(
        "The advance of the HOP window is longer than its size: records between two windows would be lost.",
        "Give an advance of at most the size.",
    ),
    "WINDOW_ADVANCE_TOO_SHORT": ErrorKind(
        "Each record would be in more than {limit} windows.", "Give a longer advance, or a shorter size."
    ),
    "WINDOW_WITHOUT_AGGREGATE": ErrorKind(
        "The SELECT has a window but no aggregate.",
        "Add an aggregate, for example COUNT(*) AS n, or remove the window.",
    ),
}
