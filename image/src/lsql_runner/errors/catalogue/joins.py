"""Joins."""

from __future__ import annotations

from lsql_runner.errors.kinds import ErrorKind

JOINS: dict[str, ErrorKind] = {
    "FIELD_AMBIGUOUS": ErrorKind(
        "{name} could be of more than one source.",
        "Say of which one: {known}.",
    ),
    "JOIN_KEY_TYPES_DIFFER": ErrorKind(
        "The keys are joined, but one is {left} and the other {right}.",
        "Say with ON what is equal to what.",
    ),
    "JOIN_WITHOUT_EQUALITY": ErrorKind(
        "The join has no condition that a value of one source equals one of the other.",
        "Join by at least one equality, as ON a.id = b.id; others may be added with AND.",
    ),
    "OUTER_JOIN_CONDITION": ErrorKind(
        "A {kind} join has a condition that is no equality between both sources.",
        "Make it an INNER join, or move the condition to a WITH query over the one source that it is about.",
    ),
    "JOIN_WITHIN_MISSING": ErrorKind(
        "Two streams are joined without end: no record could ever be forgotten.",
        "Add a length of time, as WITHIN 1h; or read one of them as a table, in WITH x AS (SELECT TABLE ...); in the legacy generation, WITH x AS (SELECT ...).",
    ),
    "JOIN_WITHIN_MISPLACED": ErrorKind(
        "How far apart times may be is for two streams to say; one side of this join is a table.",
        "Take WITHIN, or SLIDING, away, or read both with SELECT STREAM.",
    ),
    "JOIN_KIND": ErrorKind(
        "This {kind} join has no result that could be kept right: {reason}.",
        "Write an INNER join, or change the sides.",
    ),
    "JOIN_MANY_TO_MANY": ErrorKind(
        "Two tables are joined and neither of them by its key: no key would be that of one row of the result.",
        "Join one of them by its _key, or write SELECT STREAM ... WITHIN.",
    ),
}
