"""INSERT and UPSERT into sinks, and the servers of sinks."""

from __future__ import annotations

from lsql_runner.errors.kinds import EXIT_RUNTIME, ErrorKind, Recovery

SINKS: dict[str, ErrorKind] = {
    "SINK_UNKNOWN": ErrorKind(
        "{clause} needs a sink, and the sink {sink} is not configured. Configured sinks: {known}.",
        "Set {variable} to the server, for example jdbc:postgresql://db:5432/shop or redis://cache:6379 (in the chart: "
        "sinks.{sink}.url), or correct the name. To write to a topic, use INSERT INTO without {clause}.",
    ),
    "TARGET_AMBIGUOUS": ErrorKind(
        "{target} is a topic, and {sink} is a sink.",
        "Rename the sink, or write to it with a clause of sinks, such as PK.",
    ),
    "SINK_CLAUSE_UNSUPPORTED": ErrorKind("The sink {sink} ({kind}) does not support {clause}.", "Remove {clause}."),
    "SINK_CLAUSE_VALUE": ErrorKind(
        "The sink {sink} ({kind}) does not support this value of {clause}.", "Use {clause} with one of {known}."
    ),
    "SINK_CLAUSE_CONFLICT": ErrorKind(
        "{clause} cannot be combined with STOREAS {store}, which stores fields and no text.", "Remove {clause}."
    ),
    "PK_MISSING": ErrorKind(
        "{statement} into {sink} has no primary key.", "Add PK with one or more of these columns: {known}."
    ),
    "PK_UNKNOWN": ErrorKind("PK names {name}, which is no column of the SELECT.", "Use one of {known}."),
    "PK_NOT_ROW_IDENTITY": ErrorKind(
        "PK {key} does not identify the rows of this table; they are identified by {identity}.",
        "Let PK name exactly the columns that hold {identity} unchanged, as in {first} AS id; or use SELECT STREAM, "
        "where each record is an event.",
    ),
    "SINK_UPSERT_REQUIRED": ErrorKind(
        "The SELECT is a table, whose rows can be deleted, and INSERT INTO {target} cannot delete rows.",
        "Use UPSERT INTO {target}, and let PK name exactly the columns that hold {identity}; or use SELECT STREAM, "
        "where each record is an event.",
    ),
    "SINK_ROW_IDENTITY_MISSING": ErrorKind(
        "The rows of this SELECT can be deleted, and no column of {target} can identify them.",
        "With a window, SET emit='final'. With an aggregate and no GROUP BY, add _key AS id, GROUP BY _key and PK id. "
        "Otherwise, write to a topic.",
    ),
    "SINK_FIELDS_MISSING": ErrorKind(
        "{sink} stores named fields; the value of the SELECT has the type {found}.",
        "Name the fields, as in SELECT _value AS text, ...",
    ),
    "SINK_UNREACHABLE": ErrorKind(
        "The server of the sink {sink} at {url} is unreachable: {reason}.",
        "Check the server, LSQL_SINK_*_URL and the network. The processor retries.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.WAIT,
        is_transient=True,
    ),
    "SINK_REFUSED": ErrorKind(
        "The server of the sink {sink} at {url} refused the login or the operation: {reason}.",
        "Correct LSQL_SINK_*_USER and _PASSWORD, or grant the user the required privileges. The processor retries.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.RETRY,
    ),
    "SINK_CERTIFICATE_UNTRUSTED": ErrorKind(
        "The certificate of the sink {sink} at {url} is not trusted: {reason}.",
        "Set LSQL_SINK_*_CA to its certificate authority (sinks.{sink}.ca in the values of the chart); for another "
        "host name, correct LSQL_SINK_*_URL. The processor retries.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.RETRY,
    ),
    "SINK_FAILED": ErrorKind(
        "Writing to the sink {sink} failed: {reason}.",
        "The processor restarts the query. The log has the details.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.RETRY,
        is_transient=True,
    ),
    "SINK_TABLE_MISMATCH": ErrorKind(
        "The rows do not fit the table {table} of the sink {sink}: {reason}.",
        "Change the table or the aliases of the SELECT. AUTOCREATE creates a missing table.",
        exit_code=EXIT_RUNTIME,
    ),
}
