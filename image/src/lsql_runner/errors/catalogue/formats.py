"""Formats and schemas, and the schema registry."""

from __future__ import annotations

from lsql_runner.errors.kinds import EXIT_RUNTIME, ErrorKind, Recovery

FORMATS: dict[str, ErrorKind] = {
    "FORMAT_UNSUPPORTED": ErrorKind("The format {format} is not supported here.", "Use one of {known}."),
    "FORMAT_CONDITION_MISPLACED": ErrorKind(
        "{name} names the format of a topic and is not a field.",
        "Connect it to the rest of WHERE with AND, and put OR in brackets: (a = 1 OR a = 2) AND {name}=JSON.",
    ),
    "FORMAT_MISMATCH": ErrorKind(
        "The {part} has the type {type} and cannot be written as {format}.",
        "Store it as {suggested}, or convert the value.",
    ),
    "FORMAT_CONFLICT": ErrorKind(
        "The program reads {topic} as {named}, and the topic is declared as {known}.", "Use the same format in both."
    ),
    "FORMAT_DUPLICATE": ErrorKind(
        "The program reads the {part} of {topic} both as {first} and as {second}.",
        "Keep one of the two formats: it applies to all SELECTs from the topic.",
    ),
    "FIELD_NAME_INVALID": ErrorKind(
        "`{field}` is not a valid {format} field name.",
        "Use letters, digits and _. In a SELECT, rename the field with AS, or use another format.",
    ),
    "SCHEMA_UNWRITABLE": ErrorKind(
        "The {part} cannot be written as {format}: {reason}.",
        "Convert or rename the field, declare its type, or use another format.",
    ),
    "SCHEMA_UNDECLARED": ErrorKind(
        "{topic} is read as {format}, which needs a schema, and no schema is declared.",
        "Declare the format and the schema of the topic in LSQL_TOPICS, or with CREATE TABLE.",
    ),
    "TABLE_UNUSED": ErrorKind(
        "CREATE TABLE declares {topic}, which no SELECT reads.",
        "Remove the statement, or name a topic that the program reads.",
    ),
    "TABLE_COLUMNS_MISSING": ErrorKind(
        "CREATE TABLE {topic} declares no columns of the {part}, and {format} needs them.",
        "Add columns, as in CREATE TABLE t(_key.id string, f int) FORMAT(JSON, JSON).",
    ),
    "TABLE_NOT_SCALAR": ErrorKind(
        "CREATE TABLE {topic} declares fields in {format}, which holds one value of the type {type}.",
        "Declare one column of that type, as in CREATE TABLE t(_key string, f int) FORMAT(STRING, JSON).",
    ),
    "TABLE_PART_MIXED": ErrorKind(
        "CREATE TABLE {topic} declares the {part} both as one value and with fields.", "Declare one or the other."
    ),
    "TABLE_NUMBERS_MISSING": ErrorKind(
        "CREATE TABLE {topic} cannot declare PROTOBUF, because its columns have no field numbers.",
        "Declare the schema in LSQL_TOPICS, or register it in the schema registry.",
    ),
    "TABLE_INDEXED": ErrorKind("A column's name cannot contain an index.", "Declare an array: items int[]."),
    "TABLE_INVALID": ErrorKind("CREATE TABLE {topic} is invalid: {reason}.", "Correct the columns or the format."),
    "REGISTRY_MISSING": ErrorKind(
        "{topic} needs a schema registry, and none is configured.",
        "Set SQL_SCHEMA_REGISTRY_URL (in the chart: schemaRegistry.url, for `lsql test`: --registry), or use another "
        "format.",
    ),
    "SCHEMA_RECURSIVE": ErrorKind(
        "The registered schema {schema} is recursive: {field} has the type {type}, which contains itself.",
        "Write the topic with another schema, or read it as BYTES.",
    ),
    "SCHEMA_UNREADABLE": ErrorKind(
        "The registered schema {schema} is not supported: {reason}.",
        "Write the topic with another schema, or read it as BYTES.",
    ),
    "REGISTRY_UNREACHABLE": ErrorKind(
        "The schema registry at {urls} is unreachable: {reason}.",
        "Check SQL_SCHEMA_REGISTRY_URL and the network. The processor retries.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.WAIT,
        is_transient=True,
        is_shared=True,
    ),
    "REGISTRY_REFUSED": ErrorKind(
        "The schema registry at {url} refused the request: {reason}.",
        "Correct LSQL_SCHEMA_REGISTRY_USER and _PASSWORD, or grant the user access to the subjects.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.RETRY,
        is_shared=True,
    ),
    "REGISTRY_CERTIFICATE_UNTRUSTED": ErrorKind(
        "The certificate of the schema registry at {url} is not trusted: {reason}.",
        "Set LSQL_SCHEMA_REGISTRY_CA to the certificate authority; for another host name, correct "
        "SQL_SCHEMA_REGISTRY_URL.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.RETRY,
        is_shared=True,
    ),
    "REGISTRY_TLS_REFUSED": ErrorKind(
        "The schema registry at {url} ended the TLS handshake with `{alert}`.",
        "Correct the client certificate in LSQL_SCHEMA_REGISTRY_CERTIFICATE and LSQL_SCHEMA_REGISTRY_KEY.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.RETRY,
        is_shared=True,
    ),
    "REGISTRY_RESPONSE_INVALID": ErrorKind(
        "The response from {url} is not from a schema registry: {reason}.",
        "Set SQL_SCHEMA_REGISTRY_URL to the address of the Confluent API with its path, for example "
        "http://host:8080/apis/ccompat/v7.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.RETRY,
        is_shared=True,
    ),
    "REGISTRY_RESPONSE_TOO_LARGE": ErrorKind(
        "The response from {url} has more than {limit_bytes} bytes.",
        "Check that SQL_SCHEMA_REGISTRY_URL is the address of the registry. Divide a larger schema, with references.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.RETRY,
        is_shared=True,
    ),
    "SCHEMA_ID_UNKNOWN": ErrorKind(
        "The schema registry has no schema with the ID {id}.",
        "Check that the registry is the one that the topic's producers use. A deleted schema can be restored.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.RETRY,
    ),
    "SUBJECT_UNKNOWN": ErrorKind(
        "The schema registry has no subject {subject}.",
        "Check that the registry is the one that the topic's producers use. A deleted subject can be restored.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.RETRY,
    ),
    "SUBJECT_VERSION_UNKNOWN": ErrorKind(
        "The subject {subject} in the schema registry has no version {version}.",
        "Check that the registry is the one that the topic's producers use. A deleted version can be restored.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.RETRY,
    ),
    "SCHEMA_REFERENCE_UNKNOWN": ErrorKind(
        "The schema for {subject} refers to a schema that the registry does not have.",
        "Register the referenced schema. A deleted schema can be restored.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.RETRY,
    ),
    "SCHEMA_INCOMPATIBLE": ErrorKind(
        "The schema registry rejects a new version of {subject} as incompatible: {reason}.",
        "Change the schema as the compatibility level of the subject allows, or write to another topic.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.RETRY,
    ),
    "SCHEMA_INVALID": ErrorKind(
        "The schema registry rejects the {kind} schema for {subject} as invalid: {reason}.",
        "Correct the schema. Schemas that it refers to must be registered first.",
        exit_code=EXIT_RUNTIME,
    ),
}
