"""INSERT and UPSERT into sinks, and the servers of sinks."""

from __future__ import annotations

from lsql_runner.errors.kinds import RUNTIME, ErrorKind, Recovery

SINKS: dict[str, ErrorKind] = {
    "SINK_UNKNOWN": ErrorKind(
        "{clause} writes to a sink, and no sink {sink} is configured; there are: {known}.",
        "Set {variable} to its server, as jdbc:postgresql://db:5432/shop or redis://cache:6379 (in the chart: sinks.{sink}.url), or correct the name; to write to a topic, use INSERT INTO without {clause}.",
    ),
    "TARGET_AMBIGUOUS": ErrorKind(
        "{target} is a topic, and {sink} is a sink.",
        "Name the sink otherwise, or say that it is meant with a clause of its own, as PK or BATCH.",
    ),
    "SINK_CLAUSE_UNSUPPORTED": ErrorKind(
        "{clause} means nothing to {sink}, a sink of kind {kind}.",
        "Instead, {instead}.",
    ),
    "PK_MISSING": ErrorKind(
        "{statement} into {sink} does not say which rows are the same.",
        "Add PK with one or more of {known}.",
    ),
    "PK_UNKNOWN": ErrorKind(
        "PK names {name}, which the SELECT does not give.",
        "Name one of {known}.",
    ),
    "PK_NOT_ROW_IDENTITY": ErrorKind(
        "Rows of a table go again, and PK {key} does not tell which: they are known by {identity}.",
        "Let PK name columns that are {identity}, all of it and as it is, as _key AS id; or write SELECT STREAM, where each record is an event.",
    ),
    "SINK_UPSERT_REQUIRED": ErrorKind(
        "Rows of a table go again, and INSERT INTO {target} can take none away.",
        "Write UPSERT INTO {target}, with PK and the columns that are {identity}; or write SELECT STREAM, where each record is an event.",
    ),
    "SINK_ROW_IDENTITY_MISSING": ErrorKind(
        "Rows of this SELECT go again, and no column of {target} could tell which: what they are known by is in none.",
        "Give windows one result each with SET emit='final'; name what is grouped by, as GROUP BY _key; or write to a topic.",
    ),
    "SINK_FIELDS_MISSING": ErrorKind(
        "{sink} stores named fields, and the SELECT gives {found}.",
        "Name them: SELECT _value AS text, ...",
    ),
    "SINK_UNREACHABLE": ErrorKind(
        "The server of the sink {sink} does not answer at {url}: {reason}.",
        "Check the server, LSQL_SINK_*_URL and the network; it is tried again.",
        exit_code=RUNTIME,
        recovery=Recovery.WAIT,
        is_transient=True,
    ),
    "SINK_REFUSED": ErrorKind(
        "The server of the sink {sink} at {url} refuses this client: {reason}.",
        "Correct LSQL_SINK_*_USER and _PASSWORD, or give the user its rights; it is tried again.",
        exit_code=RUNTIME,
        recovery=Recovery.RETRY,
    ),
    "SINK_TABLE_MISMATCH": ErrorKind(
        "The table {table} of the sink {sink} does not take these rows: {reason}.",
        "Change the table or the SELECT's aliases; AUTOCREATE makes a table that is missing.",
        exit_code=RUNTIME,
    ),
}
