"""Joins."""

from __future__ import annotations

from lsql_runner.errors.kinds import ErrorKind

JOINS: dict[str, ErrorKind] = {
    "FIELD_AMBIGUOUS": ErrorKind("{name} is ambiguous.", "Name its source: {known}."),
    "JOIN_KEY_TYPES_DIFFER": ErrorKind(
        "The join compares the keys, which have the types {left} and {right}.", "Give a condition with ON."
    ),
    "JOIN_WITHOUT_EQUALITY": ErrorKind(
        "The condition of the join has no equality between the two sources.",
        "Add one, as in ON a.id = b.id. Other conditions can follow with AND.",
    ),
    "OUTER_JOIN_CONDITION": ErrorKind(
        "The {kind} join has a condition that is not an equality between the two sources.",
        "Use an INNER join, or move the condition to a WITH query over the source that it concerns.",
    ),
    "JOIN_WITHIN_MISSING": ErrorKind(
        "The join of two streams has no time limit, so every record would be kept forever.",
        "Add a limit, as in WITHIN 1h; or read one side as a table with WITH x AS (SELECT TABLE ...), in legacy syntax "
        "WITH x AS (SELECT ...).",
    ),
    "JOIN_WITHIN_MISPLACED": ErrorKind(
        "WITHIN and SLIDING apply to joins of two streams; one side of this join is a table.",
        "Remove the clause, or read both sides with SELECT STREAM.",
    ),
    "OUTER_JOIN_OF_TABLE": ErrorKind(
        "A {kind} join of a stream and a table cannot keep unmatched rows of the table.",
        "Use an INNER join, or swap the sides so that the join keeps the records of the stream.",
    ),
    "OUTER_JOIN_BY_KEY": ErrorKind(
        "A {kind} join of two tables cannot keep unmatched rows of the table that is joined by its key, because the "
        "result has the key of the other table.",
        "Use an INNER join, or swap the sides so that the join keeps the rows of the other table.",
    ),
    "JOIN_MANY_TO_MANY": ErrorKind(
        "The join of two tables uses the key of neither, so no key identifies a row of the result.",
        "Join one of the tables by its _key, or use SELECT STREAM with WITHIN.",
    ),
}
