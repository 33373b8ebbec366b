"""Formats and schemas, and the schema registry."""

from __future__ import annotations

from lsql_runner.errors.kinds import RUNTIME, ErrorKind, Recovery

FORMATS: dict[str, ErrorKind] = {
    "FORMAT_UNSUPPORTED": ErrorKind(
        "The format {format} is not supported here.",
        "Use one of {known}.",
    ),
    "FORMAT_MISMATCH": ErrorKind(
        "{part} is {type} and cannot be written as {format}.",
        "Store it as {instead}, or convert the value.",
    ),
    "SCHEMA_UNWRITABLE": ErrorKind(
        "{part} cannot be written in {format}: {reason}.",
        "Give the field another name with AS, or choose another format.",
    ),
    "FORMAT_CONFLICT": ErrorKind(
        "The program reads {topic} as {named}, but it is declared as {known}.",
        "Name the same format in both places.",
    ),
    "TABLE_INVALID": ErrorKind(
        "CREATE TABLE {topic} cannot be: {reason}.",
        "Say how a topic that the program reads is written: CREATE TABLE t(_key string, f int) FORMAT(STRING, JSON).",
    ),
    "SCHEMA_UNDECLARED": ErrorKind(
        "{topic} is read as {format}, whose records do not say what is in them, and no schema is declared.",
        "Declare the topic's format and schema in LSQL_TOPICS, or with CREATE TABLE in the program.",
    ),
    "REGISTRY_MISSING": ErrorKind(
        "Records of {topic} name their schemas, and there is no schema registry to look them up.",
        "Set SQL_SCHEMA_REGISTRY_URL (in the chart schemaRegistry.url, for `lsql test` --registry), or choose another format.",
    ),
    "SCHEMA_UNREADABLE": ErrorKind(
        "No type stands for {what}: {reason}.",
        "Write the topic with a schema without that, or read it as BYTES.",
    ),
    "REGISTRY_UNREACHABLE": ErrorKind(
        "No schema registry answers at {urls}: {reason}.",
        "Check SQL_SCHEMA_REGISTRY_URL and the network; it is tried again.",
        exit_code=RUNTIME,
        recovery=Recovery.WAIT,
        is_transient=True,
        is_shared=True,
    ),
    "REGISTRY_REFUSED": ErrorKind(
        "The schema registry at {url} refuses this client: {reason}.",
        "Correct LSQL_SCHEMA_REGISTRY_*, or give its user the rights on the subjects.",
        exit_code=RUNTIME,
        recovery=Recovery.RETRY,
        is_shared=True,
    ),
    "REGISTRY_RESPONSE_INVALID": ErrorKind(
        "What answers at {url} is no schema registry: {reason}.",
        "Give SQL_SCHEMA_REGISTRY_URL the address of Confluent's API with its path, as http://host:8080/apis/ccompat/v7.",
        exit_code=RUNTIME,
        recovery=Recovery.RETRY,
        is_shared=True,
    ),
    "SCHEMA_UNKNOWN": ErrorKind(
        "The schema registry has no {what}.",
        "Check that it is the registry of those who write the topic; a schema that was deleted there can be restored.",
        exit_code=RUNTIME,
        recovery=Recovery.RETRY,
    ),
    "SCHEMA_INCOMPATIBLE": ErrorKind(
        "The schema registry refuses a new version of {subject}: {reason}.",
        "Change the schema so that the subject's compatibility allows it, or write to another topic.",
        exit_code=RUNTIME,
        recovery=Recovery.RETRY,
    ),
    "SCHEMA_INVALID": ErrorKind(
        "The schema registry takes the schema for {subject} for no {kind} schema: {reason}.",
        "Correct the schema; what it refers to must be registered before.",
        exit_code=RUNTIME,
    ),
}
