"""What a processor needs before it starts."""

from __future__ import annotations

from lsql_runner.errors.kinds import RUNTIME, ErrorKind, Recovery

STARTUP: dict[str, ErrorKind] = {
    "PORT_IN_USE": ErrorKind(
        "Port {port} is in use.",
        "Stop what listens there, or set SQL_PORT to a free port.",
    ),
    "STATE_DIR_UNWRITABLE": ErrorKind(
        "The state directory {path} cannot be written: {reason}.",
        "Point SQL_STATE_STORE_DIR at a writable directory.",
        recovery=Recovery.RETRY,
    ),
    "STATE_DIR_IN_USE": ErrorKind(
        "The state in {path} is in use by process {pid}.",
        "Stop that process, or set another SQL_APP_ID.",
    ),
    "STATE_INCOMPATIBLE": ErrorKind(
        "The state in {path} was made by another program: {change}.",
        "Run that program again, set another SQL_APP_ID, or give the state up with LSQL_STATE_ON_CHANGE=reset.",
    ),
    "STATE_LOST": ErrorKind(
        "The consumer group {group} has a position, but the state that belongs to it is gone from {path}.",
        "Restore the state, or choose LSQL_STATE_ON_LOSS=reset (start empty there) or rebuild (read all again).",
    ),
    "JAVA_MISSING": ErrorKind(
        "No Java was found: {reason}.", "Install a JDK 17 or newer, or set JAVA_HOME.", is_shared=True
    ),
    "JARS_MISSING": ErrorKind(
        "The Kafka connector's jars are not in {path}.", "Run `make setup`, or set LSQL_JARS_DIR.", is_shared=True
    ),
    "TOPIC_EMPTY": ErrorKind(
        "The topic {topic} is empty and has no declared schema.",
        "Nothing to do: it starts with the first record, or declare it in LSQL_TOPICS.",
        exit_code=RUNTIME,
        recovery=Recovery.WAIT,
    ),
}
