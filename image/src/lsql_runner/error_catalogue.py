"""Every error a user can meet: what was found and what to do, with slots for values.

Codes are stable. `found` and `do` are one sentence each; what stands in braces is a parameter, always
a value and never a sentence. docs/reference/errors.md is made from this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import Formatter

USER = 1
"""Exit code: the SQL or the configuration is wrong."""
RUNTIME = 3
"""Exit code: something outside failed while it ran."""


@dataclass(frozen=True, slots=True)
class ErrorKind:
    found: str
    do: str
    exit_code: int = USER

    @property
    def slots(self) -> set[str]:
        """The parameters that the sentences ask for."""
        return {name for text in (self.found, self.do) for _, name, _, _ in Formatter().parse(text) if name}


STATE_CHANGES: dict[str, str] = {
    "version": "program.json describes the state in version {was}, and this version of lsql-runner in version {now}",
    "unreadable": "program.json does not describe a state",
    "removed": "no INSERT continues the state of INSERT INTO {target}",
    "sources": "INSERT INTO {target} reads {now} instead of {was}",
    "operators": "the stateful operators of INSERT INTO {target} are {now} instead of {was}",
    "layout": "INSERT INTO {target} stores the state of {operator} in layout {now} instead of {was}",
    "error_policy": "error.policy.write of INSERT INTO {target} is {now} instead of {was}",
    "filter": "INSERT INTO {target} has another filter below its state",
    "lateral": "INSERT INTO {target} has another LATERAL",
    "keys": "INSERT INTO {target} groups by other values",
    "window": "INSERT INTO {target} has another window",
    "grace": "INSERT INTO {target} has another grace",
    "event_time": "INSERT INTO {target} has another event time",
    "final": "INSERT INTO {target} has another emit mode",
    "aggregates": "INSERT INTO {target} has other aggregates",
    "conditions": "INSERT INTO {target} has another condition in HAVING or ON",
    "join_kind": "INSERT INTO {target} has another kind of join",
    "within": "INSERT INTO {target} has another WITHIN",
    "join_keys": "INSERT INTO {target} joins by other values",
    "kept_fields": "INSERT INTO {target} reads other fields of a joined source, or with other types",
}
"""Why a program cannot continue a state, by kind: what STATE_OF_ANOTHER_PROGRAM shows as `change`."""


CATALOGUE: dict[str, ErrorKind] = {
    # --- the text ---
    "SQL_EMPTY": ErrorKind(
        "There is no SQL.", "Set SQL to a program, as: INSERT INTO target SELECT STREAM * FROM source."
    ),
    "SQL_TOO_LARGE": ErrorKind(
        "The program has {size_bytes} bytes; at most {limit_bytes} are read.",
        "Split it into several processors.",
    ),
    "SQL_NOT_UTF8": ErrorKind(
        "The program is not UTF-8: byte {byte} starts no character.", "Save the program as UTF-8."
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
    "ONE_STATEMENT_ONLY": ErrorKind(
        "{where} holds more than one statement.", "Keep one SELECT there and move the rest out."
    ),
    "INSERT_MISSING": ErrorKind(
        "The program writes nowhere: it has no INSERT INTO.",
        "Put INSERT INTO <topic> before the SELECT whose records you want.",
    ),
    "STATEMENT_UNSUPPORTED": ErrorKind("{statement} is not supported.", "Instead, {instead}."),
    "CLAUSE_UNSUPPORTED": ErrorKind("{clause} is not supported.", "Instead, {instead}."),
    "CLAUSE_TWICE": ErrorKind("{clause} stands twice.", "Keep one of the two."),
    "FEATURE_UNSUPPORTED": ErrorKind("{feature}: not supported in this version.", "Instead, {instead}."),
    "GENERATIONS_MIXED": ErrorKind(
        "One SELECT mixes the legacy form ({legacy}) with the modern one ({modern}).",
        "Write both places in the same generation.",
    ),
    "WINDOW_TWICE": ErrorKind("The SELECT has a second window.", "Keep one; for another length, write another INSERT."),
    "WINDOW_INVALID": ErrorKind(
        "The window has {why}.", "Give a size above zero, and for HOP an advance no longer than the size."
    ),
    "WINDOW_WITHOUT_AGGREGATE": ErrorKind(
        "There is a window but nothing is aggregated.",
        "Aggregate something, as COUNT(*) AS n, or take the window away.",
    ),
    # --- names and types ---
    "TOPIC_UNKNOWN": ErrorKind(
        "The source topic {topic} does not exist on the brokers.",
        "Create the topic, or correct its name. Near names: {near}.",
    ),
    "TARGET_UNKNOWN": ErrorKind(
        "The target topic {topic} does not exist on the brokers.",
        "Create the topic, or let the program do it: SET defaults.topic.autocreate=true.",
    ),
    "FIELD_UNKNOWN": ErrorKind("{source} has no field {name}.", "Use a field that it has: {known}."),
    "FIELD_NOT_INSIDE": ErrorKind(
        "{name} is {type}: it has no {step} inside.",
        "Stop before {step}, or declare the field's type in LSQL_TOPICS.",
    ),
    "FUNCTION_UNKNOWN": ErrorKind("There is no function {name}.", "Near names: {near}. `lsql functions` lists all."),
    "ARGUMENT_COUNT": ErrorKind("{function} was given {found} arguments.", "It takes: {signature}."),
    "ARGUMENT_TYPE": ErrorKind(
        "Argument {position} of {function} is {found}, not {expected}.", "Convert it: CAST(... AS {example})."
    ),
    "ARGUMENT_VALUE": ErrorKind("Argument {position} of {function} cannot be '{found}'.", "Give it {expected}."),
    "ARGUMENT_NOT_CONSTANT": ErrorKind(
        "Argument {position} of {function} must be a constant.", "Write a literal {expected} there."
    ),
    "OPERATOR_TYPES": ErrorKind(
        "`{op}` does not work on {left} and {right}.", "Convert one side: CAST(... AS {example})."
    ),
    "OPERAND_TYPE": ErrorKind("`{op}` needs {expected}, not {found}.", "Give it {expected}, or CAST the operand."),
    "NULL_OPERAND": ErrorKind(
        "`{op}` takes no null, and {field} may be one.",
        "Say what counts instead, COALESCE({field}, ...); or that it is never null, AS_NON_NULLABLE({field}); or look "
        "first, CASE WHEN {field} IS NULL THEN ... ELSE ... END.",
    ),
    "NULL_LITERAL": ErrorKind("`{op}` takes no null, and this is one.", "Write IS NULL or IS NOT NULL, or a value."),
    "CONDITION_TYPE": ErrorKind(
        "{clause} needs a condition, and this is {found}.", "Compare it with something, as x = 1."
    ),
    "TYPE_UNKNOWN": ErrorKind("There is no type {name}.", "The types are {known}."),
    "CAST_IMPOSSIBLE": ErrorKind(
        "{source} cannot be cast to {target}.", "Cast from or to a scalar type that stands between them."
    ),
    "NOT_AN_ARRAY": ErrorKind(
        "LATERAL needs an array, and this is {found}.",
        "Name an array field, or declare it as array<...> in LSQL_TOPICS.",
    ),
    "STAR_MISPLACED": ErrorKind(
        "`*` stands where one value is needed.", "Name a field; `*` alone is for SELECT * and COUNT(*)."
    ),
    "STAR_OF_SCALAR": ErrorKind("{name}.* needs a struct, and {name} is {found}.", "Write {name} without the star."),
    "STAR_WITH_GROUP": ErrorKind(
        "SELECT * beside GROUP BY or an aggregate.", "Name the grouped fields and the aggregates."
    ),
    "PROJECTION_TWICE": ErrorKind("{name} is set twice.", "Give one of them another alias."),
    "PROJECTION_OVERLAPS": ErrorKind(
        "{name} is set as a value and as a struct.", "Set the whole of it or fields inside it."
    ),
    "PROJECTION_TARGET": ErrorKind("Nothing can be projected to {name}.", "Project to a field, to _key or to _value."),
    "VALUE_MISSING": ErrorKind(
        "The SELECT sets the key but no value.", "Add `*` or a field; for a tombstone, NULL AS _value."
    ),
    "FIELD_AMBIGUOUS": ErrorKind("{name} could be of more than one source.", "Say of which one: {known}."),
    "JOIN_KEYS_DIFFER": ErrorKind(
        "The keys are joined, but one is {left} and the other {right}.", "Say with ON what is equal to what."
    ),
    "JOIN_WITHOUT_EQUALITY": ErrorKind(
        "The join has no condition that a value of one source equals one of the other.",
        "Join by at least one equality, as ON a.id = b.id; others may be added with AND.",
    ),
    "JOIN_RESIDUAL": ErrorKind(
        "A {kind} join has a condition that is no equality between both sources.",
        "Make it an INNER join, or move the condition to a WITH query over the one source that it is about.",
    ),
    "JOIN_WITHIN_MISSING": ErrorKind(
        "Two streams are joined without end: no record could ever be forgotten.",
        "Add a length of time, as WITHIN 1h; or read one of them as a table, in WITH x AS (SELECT TABLE ...); in the "
        "legacy generation, WITH x AS (SELECT ...).",
    ),
    "JOIN_WITHIN_MISPLACED": ErrorKind(
        "How far apart times may be is for two streams to say; one side of this join is a table.",
        "Take WITHIN, or SLIDING, away, or read both with SELECT STREAM.",
    ),
    "JOIN_KIND": ErrorKind(
        "This {kind} join has no result that could be kept right: {why}.", "Write an INNER join, or change the sides."
    ),
    "JOIN_MANY_TO_MANY": ErrorKind(
        "Two tables are joined and neither of them by its key: no key would be that of one row of the result.",
        "Join one of them by its _key, or write SELECT STREAM ... WITHIN.",
    ),
    "FINAL_WITHOUT_WINDOW": ErrorKind(
        "emit='final' asks for one result, when nothing can change it any more; without a window that is never.",
        "Add a window, or SET emit='changes'.",
    ),
    "HAVING_WITHOUT_AGGREGATE": ErrorKind(
        "There is a HAVING but nothing is aggregated.", "Aggregate something, or write WHERE."
    ),
    "NAME_TWICE": ErrorKind("{name} is defined twice.", "Give one of them another name."),
    "NAME_SHADOWS_TOPIC": ErrorKind(
        "{name} is a WITH query and cannot be a target.", "Name a topic after INSERT INTO."
    ),
    "AGGREGATE_MISPLACED": ErrorKind(
        "{function} is an aggregate and cannot stand in {clause}.", "Aggregate in the SELECT list."
    ),
    "AGGREGATE_MISSING": ErrorKind("GROUP BY without an aggregate.", "Aggregate something, as COUNT(*) AS n."),
    "NOT_GROUPED": ErrorKind(
        "{name} is neither grouped nor aggregated.", "Add it to GROUP BY, or aggregate it: MAX({name})."
    ),
    "KEY_IN_AGGREGATE": ErrorKind(
        "The key of an aggregate is its group; _key cannot be set.", "GROUP BY what the key should be."
    ),
    "HEADER_NOT_CONSTANT": ErrorKind(
        "A header's name must be a literal string.", "Write _header.<name> or HEADERASSTRING('<name>')."
    ),
    # --- sinks ---
    "SINK_UNKNOWN": ErrorKind(
        "{clause} writes to a sink, and no sink {sink} is configured; there are: {known}.",
        "Set {variable} to its server, as jdbc:postgresql://db:5432/shop or redis://cache:6379 (in the chart: "
        "sinks.{sink}.url), or correct the name; to write to a topic, use INSERT INTO without {clause}.",
    ),
    "TARGET_AMBIGUOUS": ErrorKind(
        "{target} is a topic, and {sink} is a sink.",
        "Name the sink otherwise, or say that it is meant with a clause of its own, as PK or BATCH.",
    ),
    "SINK_CLAUSE": ErrorKind("{clause} means nothing to {sink}, a sink of kind {kind}.", "Instead, {instead}."),
    "PK_MISSING": ErrorKind(
        "{statement} into {sink} does not say which rows are the same.", "Add PK with one or more of {known}."
    ),
    "PK_UNKNOWN": ErrorKind("PK names {name}, which the SELECT does not give.", "Name one of {known}."),
    "PK_NOT_OF_ROWS": ErrorKind(
        "Rows of a table go again, and PK {key} does not tell which: they are known by {identity}.",
        "Let PK name columns that are {identity}, all of it and as it is, as _key AS id; or write SELECT STREAM, where "
        "each record is an event.",
    ),
    "SINK_ROWS_GO": ErrorKind(
        "Rows of a table go again, and INSERT INTO {target} can take none away.",
        "Write UPSERT INTO {target}, with PK and the columns that are {identity}; or write SELECT STREAM, where each "
        "record is an event.",
    ),
    "SINK_ROWS_UNKNOWN": ErrorKind(
        "Rows of this SELECT go again, and no column of {target} could tell which: what they are known by is in none.",
        "Give windows one result each with SET emit='final'; name what is grouped by, as GROUP BY _key; or write to a "
        "topic.",
    ),
    "SINK_FIELDS_MISSING": ErrorKind(
        "{sink} stores named fields, and the SELECT gives {found}.", "Name them: SELECT _value AS text, ..."
    ),
    # --- formats and settings ---
    "FORMAT_UNSUPPORTED": ErrorKind("The format {format} is not supported here.", "Use one of {known}."),
    "FORMAT_MISFIT": ErrorKind(
        "{part} is {type} and cannot be written as {format}.", "Store it as {instead}, or convert the value."
    ),
    "SCHEMA_UNWRITABLE": ErrorKind(
        "{part} cannot be written in {format}: {why}.", "Give the field another name with AS, or choose another format."
    ),
    "FORMAT_CONTRADICTS": ErrorKind(
        "The program reads {topic} as {named}, but it is declared as {known}.", "Name the same format in both places."
    ),
    "TABLE_INVALID": ErrorKind(
        "CREATE TABLE {topic} cannot be: {why}.",
        "Say how a topic that the program reads is written: CREATE TABLE t(_key string, f int) FORMAT(STRING, JSON).",
    ),
    "SCHEMA_UNDECLARED": ErrorKind(
        "{topic} is read as {format}, whose records do not say what is in them, and no schema is declared.",
        "Declare the topic's format and schema in LSQL_TOPICS, or with CREATE TABLE in the program.",
    ),
    "SETTING_UNKNOWN": ErrorKind("There is no setting {key}.", "Near names: {near}."),
    "SETTING_INVALID": ErrorKind("{key} cannot be {value}.", "Give it {expected}."),
    "SETTING_TWICE": ErrorKind("{key} is set twice, to {first} and to {second}.", "Keep one of them."),
    "ENV_UNKNOWN": ErrorKind("The environment holds {name}, which means nothing here.", "Near names: {near}."),
    "ENV_INVALID": ErrorKind("{name} cannot be {value}.", "Give it {expected}."),
    "ENV_MISSING": ErrorKind("{name} is not set.", "Set {name} to {expected}."),
    "FILE_UNREADABLE": ErrorKind("The file {path} cannot be read: {why}.", "Give a file that exists and may be read."),
    "CASE_INVALID": ErrorKind(
        "The case file {path} is wrong at {place}: {why}.",
        "Correct that place; the format is in docs/reference/cases.md.",
    ),
    "CASE_CONFLICT": ErrorKind(
        "The {what} exists already, and the case {path} would use it as its own.",
        "Run the case where nobody uses that name; what a run that was killed left behind is to be deleted by hand.",
    ),
    "CASE_BROKEN_OFF": ErrorKind(
        "The case {path} broke off before {what}: {why}.",
        "Look at the brokers and their log; what the case made there is deleted again.",
        RUNTIME,
    ),
    "CASE_LEFT_BEHIND": ErrorKind(
        "Of the case {path}, the {what} could not be deleted: {why}.", "Delete it by hand.", RUNTIME
    ),
    "CASE_FAILED": ErrorKind("{failed} of {total} cases failed.", "Read the differences above."),
    # --- before it runs ---
    "PORT_IN_USE": ErrorKind("Port {port} is in use.", "Stop what listens there, or set SQL_PORT to a free port."),
    "STATE_DIR_UNWRITABLE": ErrorKind(
        "The state directory {path} cannot be written: {why}.",
        "Point SQL_STATE_STORE_DIR at a writable directory.",
    ),
    "STATE_DIR_IN_USE": ErrorKind(
        "The state in {path} is in use by process {pid}.", "Stop that process, or set another SQL_APP_ID."
    ),
    "STATE_OF_ANOTHER_PROGRAM": ErrorKind(
        "The state in {path} was made by another program: {change}.",
        "Run that program again, set another SQL_APP_ID, or give the state up with LSQL_STATE_ON_CHANGE=reset.",
    ),
    "STATE_LOST": ErrorKind(
        "The consumer group {group} has a position, but the state that belongs to it is gone from {path}.",
        "Restore the state, or choose LSQL_STATE_ON_LOSS=reset (start empty there) or rebuild (read all again).",
    ),
    "JAVA_MISSING": ErrorKind("No Java was found: {why}.", "Install a JDK 17 or newer, or set JAVA_HOME."),
    "JARS_MISSING": ErrorKind(
        "The Kafka connector's jars are not in {path}.", "Run `make setup`, or set LSQL_JARS_DIR."
    ),
    # --- while it runs ---
    "BROKER_UNREACHABLE": ErrorKind(
        "No broker answers at {servers}: {why}.",
        "Check SQL_BOOTSTRAP_SERVERS and the network; it is tried again.",
        RUNTIME,
    ),
    "BROKER_REFUSED": ErrorKind(
        "The brokers at {servers} refuse this client: {why}.",
        "Give it the rights it needs on its topics and its group, or correct its credentials; it is tried again.",
        RUNTIME,
    ),
    "REGISTRY_MISSING": ErrorKind(
        "Records of {topic} name their schemas, and there is no schema registry to look them up.",
        "Set SQL_SCHEMA_REGISTRY_URL (in the chart schemaRegistry.url, for `lsql test` --registry), or choose another "
        "format.",
    ),
    "SCHEMA_UNREADABLE": ErrorKind(
        "No type stands for {what}: {why}.", "Write the topic with a schema without that, or read it as BYTES."
    ),
    "REGISTRY_UNREACHABLE": ErrorKind(
        "No schema registry answers at {urls}: {why}.",
        "Check SQL_SCHEMA_REGISTRY_URL and the network; it is tried again.",
        RUNTIME,
    ),
    "REGISTRY_REFUSED": ErrorKind(
        "The schema registry at {url} refuses this client: {why}.",
        "Correct LSQL_SCHEMA_REGISTRY_*, or give its user the rights on the subjects.",
        RUNTIME,
    ),
    "REGISTRY_ANSWER_INVALID": ErrorKind(
        "What answers at {url} is no schema registry: {why}.",
        "Give SQL_SCHEMA_REGISTRY_URL the address of Confluent's API with its path, as http://host:8080/apis/ccompat/v7.",
        RUNTIME,
    ),
    "SCHEMA_UNKNOWN": ErrorKind(
        "The schema registry has no {what}.",
        "Check that it is the registry of those who write the topic; a schema that was deleted there can be restored.",
        RUNTIME,
    ),
    "SCHEMA_INCOMPATIBLE": ErrorKind(
        "The schema registry refuses a new version of {subject}: {why}.",
        "Change the schema so that the subject's compatibility allows it, or write to another topic.",
        RUNTIME,
    ),
    "SCHEMA_INVALID": ErrorKind(
        "The schema registry takes the schema for {subject} for no {kind} schema: {why}.",
        "Correct the schema; what it refers to must be registered before.",
        RUNTIME,
    ),
    "KAFKA_SETTINGS_INVALID": ErrorKind(
        "No Kafka client can be made with these settings: {why}.",
        "Correct SECURITY_PROTOCOL, SASL_* and SSL_*; the jars of login modules of your own go into LSQL_JARS_DIR.",
    ),
    "TOPIC_REFUSED": ErrorKind(
        "The brokers refused to create {topic}: {why}.",
        "Create the topic by hand, or correct its settings.",
        RUNTIME,
    ),
    "RECORD_MALFORMED": ErrorKind(
        "The {part} of the record at {topic}, partition {partition}, offset {offset} is not {format}: {reason}.",
        "Correct what writes it, or declare the topic's format and schema in LSQL_TOPICS; then POST /start.",
        RUNTIME,
    ),
    "RECORD_REFUSED": ErrorKind(
        "The program fails on the record at {topic}, partition {partition}, offset {offset}: {reason}.",
        "Guard the expression (CASE, COALESCE, a WHERE before it); then start again.",
        RUNTIME,
    ),
    "RECORD_TOO_LARGE": ErrorKind(
        "The record made of the one at {topic}, partition {partition}, offset {offset} is too large: {reason}.",
        "Let the target take larger ones (max.message.bytes, and max.request.size of the producer), or write less.",
        RUNTIME,
    ),
    "RECORD_WITHOUT_KEY": ErrorKind(
        "A record of {topic}, which is read as a table, has no key, so that it is no row: it is left out and counted.",
        "Let what writes it give a key, or read the topic as a stream.",
        RUNTIME,
    ),
    "GROUP_TOO_LARGE": ErrorKind(
        "A group holds more than its state can: {reason}.",
        "Keep fewer values, group by more fields or in windows; where many values are counted, GROUP BY them instead.",
        RUNTIME,
    ),
    "SINK_UNREACHABLE": ErrorKind(
        "The server of the sink {sink} does not answer at {url}: {why}.",
        "Check the server, LSQL_SINK_*_URL and the network; it is tried again.",
        RUNTIME,
    ),
    "SINK_REFUSED": ErrorKind(
        "The server of the sink {sink} at {url} refuses this client: {why}.",
        "Correct LSQL_SINK_*_USER and _PASSWORD, or give the user its rights; it is tried again.",
        RUNTIME,
    ),
    "SINK_TABLE_MISFIT": ErrorKind(
        "The table {table} of the sink {sink} does not take these rows: {why}.",
        "Change the table or the SELECT's aliases; AUTOCREATE makes a table that is missing.",
        RUNTIME,
    ),
    "SINK_RECORD_REFUSED": ErrorKind(
        "{sink} refuses the row of the record at {topic}, partition {partition}, offset {offset}: {reason}.",
        "Correct the table or what writes the record, or leave such records out with WHERE; then POST /start.",
        RUNTIME,
    ),
    "SINK_ROW_REFUSED": ErrorKind(
        "{sink} refuses the row {row}: {reason}.", "Correct the table or the program; then POST /start.", RUNTIME
    ),
    "OFFSETS_GONE": ErrorKind(
        "Records that were not read yet are gone from the brokers: {reason}.",
        "Lengthen the topic's retention; to go on behind the gap, start again with LSQL_ON_DATA_LOSS=continue.",
        RUNTIME,
    ),
    "QUERY_FAILED": ErrorKind(
        "The query stopped: {reason}.", "It is restarted by itself; the log holds the details.", RUNTIME
    ),
    "QUERY_STUCK": ErrorKind(
        "No batch has ended for {seconds} s while the lag grew to {lag} records.",
        "Look at the brokers, the CPU limit and the log.",
        RUNTIME,
    ),
    "JVM_GONE": ErrorKind(
        "The Spark JVM ended: {reason}.",
        "The process ends and is to be restarted. Where it ran out of memory, raise the container's memory limit, from "
        "which the heap follows, or set LSQL_HEAP_MIB.",
        RUNTIME,
    ),
    "WORKER_GONE": ErrorKind(
        "The process that holds the JVM ended: {reason}.",
        "The processor ends and is to be restarted. Where it ran out of memory, raise the container's memory limit.",
        RUNTIME,
    ),
    "SCHEMA_WAITING": ErrorKind(
        "The topic {topic} is empty and has no declared schema.",
        "Nothing to do: it starts with the first record, or declare it in LSQL_TOPICS.",
        RUNTIME,
    ),
    "TRANSITION_REFUSED": ErrorKind(
        "The processor cannot {action} while it is {state}.",
        "Wait for the state to change; GET /stream shows it.",
    ),
    "REQUEST_INVALID": ErrorKind("The request is wrong: {why}.", "See GET /openapi.json."),
    "CROSS_SITE_REFUSED": ErrorKind(
        "A page of {origin} asked for this, not the processor's own page.",
        "Ask from the processor's page, or from a program.",
    ),
    "NOT_FOUND": ErrorKind("There is no {path} here.", "See GET /openapi.json for what there is."),
    "METHOD_NOT_ALLOWED": ErrorKind("{method} is not allowed on {path}.", "Use {allowed}."),
    "INTERNAL": ErrorKind(
        "Something broke that is not your doing: {reason}.",
        "The log holds the details under {reference}; please report it.",
        RUNTIME,
    ),
    # --- recovery and console ---
    "CONSOLE_CONFIG_INVALID": ErrorKind(
        "The console's configuration {path} is wrong at {place}: {why}.",
        "Correct that place; docs/guides/console.md lists the keys.",
    ),
    "CLUSTER_REFUSED": ErrorKind(
        "The API server did not {what}: {why}.",
        "Check that it can be reached and what the service account's Role allows.",
        RUNTIME,
    ),
    "DOCUMENT_TOO_LARGE": ErrorKind(
        "What is known of {processors} processors takes {size_bytes} bytes; a ConfigMap holds {limit_bytes}.",
        "Divide the namespaces between several releases of the console.",
        RUNTIME,
    ),
    "PROCESSOR_UNKNOWN": ErrorKind("There is no processor {id}.", "GET /api/v1/streams lists them."),
    "PROCESSOR_DELETED": ErrorKind("The processor {name} was deleted.", "Install its release again."),
    "LOGIN_NEEDED": ErrorKind("It is not known who asks: {why}.", "Log in, or send what the console asks for."),
    "LOGIN_WRONG": ErrorKind("This token is not known.", "Ask whoever runs the console for one."),
    "RIGHT_MISSING": ErrorKind("{user} may not {action}.", "Ask whoever runs the console for the role {role}."),
    "ACTION_OFF": ErrorKind("To {action} is switched off.", "Set {setting} to true in the chart's values."),
    "SCALE_REFUSED": ErrorKind(
        "{name} cannot be scaled to {runners}: its release has no workers, and a second runner would do all "
        "its work twice.",
        "Give the runner more CPU, or divide the program.",
    ),
    "RUNNER_UNREACHABLE": ErrorKind(
        "The runner of {name} does not answer: {why}.", "Look at its pod and its Service.", RUNTIME
    ),
    "RUNNER_REFUSED": ErrorKind("The runner of {name} refused to {action}: {why}.", "{way_out}"),
}
