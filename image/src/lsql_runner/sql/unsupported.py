"""The features of Lenses SQL that this version does not support, and the errors for them."""

from __future__ import annotations

from dataclasses import dataclass

from lsql_runner.errors import LsqlError
from lsql_runner.spans import Span

_PARAMETERS = {"STATEMENT_UNSUPPORTED": "statement", "CLAUSE_UNSUPPORTED": "clause", "FEATURE_UNSUPPORTED": "feature"}
"""The parameter of each error code that names the unsupported feature."""


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A row of the table. `feature` and `instead` may contain placeholders in braces for values of the program."""

    code: str
    feature: str
    instead: str
    guide: str | None = ""
    """The name of the feature in the language guide: `feature` by default; None if the guide does not list it."""


def _statement(feature: str, instead: str) -> Unsupported:
    return Unsupported("STATEMENT_UNSUPPORTED", feature, instead, f"`{feature}`")


def _clause(feature: str, instead: str) -> Unsupported:
    return Unsupported("CLAUSE_UNSUPPORTED", feature, instead, f"`{feature}`")


def _feature(feature: str, instead: str, guide: str | None = "") -> Unsupported:
    return Unsupported("FEATURE_UNSUPPORTED", feature, instead, guide)


KEYS_OF_ENGINE: dict[str, str] = {
    "application.id": "set SQL_APP_ID",
    "group.id": "set SQL_APP_ID",
    "bootstrap.servers": "set SQL_BOOTSTRAP_SERVERS",
    "schema.registry.url": "set SQL_SCHEMA_REGISTRY_URL",
    "state.dir": "set SQL_STATE_STORE_DIR",
    "state.onLoss": "set LSQL_STATE_ON_LOSS",
    "enable.auto.commit": "leave it out: the position is committed after each batch",
    "allow.auto.create.topics": "SET defaults.topic.autocreate=true, for targets; sources must exist",
    "enable.idempotence": "leave it out: the producer is always idempotent",
    "acks": "leave it out: the producer always waits for all in-sync replicas",
    "key.deserializer": "write STORE KEY AS or declare the topic in LSQL_TOPICS",
    "value.deserializer": "write STORE VALUE AS or declare the topic in LSQL_TOPICS",
    "key.serializer": "write STORE KEY AS <format>",
    "value.serializer": "write STORE VALUE AS <format>",
    "default.key.serde": "write STORE KEY AS or declare the topic in LSQL_TOPICS",
    "default.value.serde": "write STORE VALUE AS or declare the topic in LSQL_TOPICS",
    "default.timestamp.extractor": "write EVENTTIME BY <field>",
    "partitioner.class": "leave it out: a hash of the key selects the partition",
    "interceptor.classes": "leave it out: the clients have no interceptors",
    "metric.reporters": "leave it out: metrics are on GET /metrics",
    "security.providers": "leave it out: set SSL_* and SASL_* in the environment",
    "transactional.id": "leave it out: the runner chooses it",
    "default.deserialization.exception.handler": "SET error.policy='fail', 'continue' or 'dlq'",
    "deserialization.exception.handler": "SET error.policy='fail', 'continue' or 'dlq'",
    "default.production.exception.handler": "SET error.policy='fail', 'continue' or 'dlq'",
    "production.exception.handler": "SET error.policy='fail', 'continue' or 'dlq'",
    "processing.exception.handler": "SET error.policy='fail', 'continue' or 'dlq'",
    "rocksdb.config.setter": "SET the supported rocksdb.* keys",
}
"""Keys of Kafka and Kafka Streams that the engine or the environment sets, and the alternative to a SET of them."""

_NO_SINK = "leave it out: the sinks are PostgreSQL and Redis"
_NO_SOURCE = "leave it out: a processor reads topics of Kafka"
_BY_HAND = "create the table as you need it before you start the program"

KCQL_CLAUSES: dict[str, str] = {
    "AUTOEVOLVE": "change the table before you start the program",
    "INITIALIZE": "write AUTOCREATE, or create the table before you start the program",
    "CLUSTERBY": _BY_HAND,
    "DISTRIBUTEBY": _BY_HAND,
    "CAPITALIZE": "name the columns with AS",
    "IGNORE": "name the fields to write in the SELECT list",
    "WITHSTRUCTURE": "build structs with AS, as in a AS b.a",
    "WITHUNWRAP": "name the fields of the struct, as in SELECT payload.*",
    "WITHTAG": "write the tags as fields, as in 'eu' AS region",
    "WITHTARGET": "write one INSERT INTO for each target, each with its WHERE",
    "WITHTIMESTAMP": "write the time as a field, as in _ts AS time",
    "TIMESTAMPUNIT": "write the time as a field in this unit, as in _ts / 1000 AS seconds",
    "WITHTYPE": "leave it out: each sink stores rows in one way",
    "WITHKEY": "name key columns with PK",
    "KEYDELIMITER": "leave it out: the parts of a key are separated by `:`",
    "TTL": "let the server expire keys",
    "PROPERTIES": "set the variables LSQL_SINK_<NAME>_* of the sink",
    **dict.fromkeys(
        ("WITH_FLUSH_COUNT", "WITH_FLUSH_SIZE", "WITH_FLUSH_INTERVAL"), "write BATCH n, for n rows in a request"
    ),
    "PARTITIONBY": "set the key of the records with AS _key: it determines the partition of a topic",
    "WITHPARTITIONER": "leave it out: a hash of the key selects the partition",
    "WITHCOMPRESSION": "SET compression.type, for topics",
    "WITH_ENCODE_BASE64": "write BASE64(field)",
    "WITHCONVERTER": "declare the format of the source in LSQL_TOPICS or with CREATE TABLE",
    "PROJECTTO": "declare the schema of the source in LSQL_TOPICS or with CREATE TABLE",
    "WITHGROUP": "set SQL_APP_ID: it is the consumer group",
    "WITHOFFSET": "SET auto.offset.reset",
    "SAMPLE": "filter with WHERE, as in RANDINT() % 100 = 0",
    **dict.fromkeys(("INCREMENTALMODE", "WITHJMSSELECTOR", "WITHREGEX", "WITHSUBSCRIPTION"), _NO_SOURCE),
    **dict.fromkeys(("WITHDOCTYPE", "WITHINDEXSUFFIX", "WITHPIPELINE"), _NO_SINK),
    **dict.fromkeys(("WITHDELAY", "WITH_ACK", "WITH_LOCK_TIME", "WITH_SESSION"), _NO_SINK),
    **dict.fromkeys(("WITH_OVERWRITE", "WITH_PARTITIONING", "WITH_SCHEMA_EVOLUTION", "WITH_TABLE_LOCATION"), _NO_SINK),
}
"""Clauses of KCQL, the language of the connectors of Stream Reactor, that no sink here has, and the alternatives."""

UNSUPPORTED: dict[str, Unsupported] = {
    # --- statements ---
    "UPDATE": _statement("UPDATE", "write INSERT INTO <topic> SELECT ... ; records of a topic cannot be changed"),
    "DELETE": _statement("DELETE", "write a tombstone: INSERT INTO <topic> SELECT STREAM NULL AS _value FROM <topic>"),
    "DROP": _statement("DROP", "delete topics with the tools of Kafka"),
    "TRUNCATE": _statement("TRUNCATE", "delete records with the tools of Kafka"),
    "ALTER": _statement("ALTER", "change topics with the tools of Kafka"),
    "SHOW": _statement("SHOW", "list topics with the tools of Kafka"),
    "DESCRIBE": _statement("DESCRIBE", "run lsql explain, which prints the formats and schemas of the sources"),
    "EXPLAIN": _statement("EXPLAIN", "run lsql explain"),
    "USE": _statement("USE", "leave it out: a processor reads and writes one Kafka cluster"),
    "VALUES": Unsupported(
        "STATEMENT_UNSUPPORTED",
        "INSERT INTO ... VALUES",
        "write INSERT INTO <topic> SELECT ... FROM <topic>; single records are written with the tools of Kafka",
        "`INSERT INTO ... VALUES`",
    ),
    "CREATE STREAM": _statement(
        "CREATE STREAM",
        "declare a topic with CREATE TABLE <topic>(...) FORMAT(...) or LSQL_TOPICS, and fill one with INSERT INTO "
        "<topic> SELECT STREAM",
    ),
    "CREATE FUNCTION": _statement(
        "CREATE FUNCTION",
        "declare a Java class in the file functions.yaml of LSQL_UDF_DIR; Python functions are not supported, because "
        "Python code in Spark reaches 23,000 records/s",
    ),
    # --- clauses ---
    "SELECT DISTINCT": _clause("SELECT DISTINCT", "GROUP BY the fields that identify a record"),
    "DISTINCT": Unsupported(
        "CLAUSE_UNSUPPORTED",
        "DISTINCT",
        "use COLLECT_UNIQUE, or GROUP BY the field",
        "`DISTINCT` in an aggregate",
    ),
    "subselect in expression": Unsupported(
        "CLAUSE_UNSUPPORTED",
        "A subselect in an expression",
        "write it in FROM or JOIN, as in JOIN (SELECT ...) AS x ON id = x.id",
    ),
    "UNION": _clause("UNION", "write one INSERT INTO per SELECT, with the same target"),
    "ORDER": Unsupported(
        "CLAUSE_UNSUPPORTED",
        "ORDER",
        "leave it out: a stream has no end; records of one key stay in order",
        "`ORDER BY`",
    ),
    "EMIT": Unsupported(
        "CLAUSE_UNSUPPORTED",
        "EMIT",
        "leave it out: every change is written; SET emit='final' writes one result for each window",
        "`EMIT CHANGES`",
    ),
    "LIMIT": _clause("LIMIT", "filter with WHERE; a stream has no end"),
    "properties of table": Unsupported(
        "CLAUSE_UNSUPPORTED",
        "PROPERTIES",
        "SET topic.<name>.partitions and other topic settings, for topics that the program creates",
        "`PROPERTIES` of `CREATE TABLE`",
    ),
    "columns of INSERT": Unsupported(
        "CLAUSE_UNSUPPORTED",
        "A list of columns after INSERT INTO",
        "name the fields with AS in the SELECT list",
    ),
    "UPSERT PK": Unsupported(
        "CLAUSE_UNSUPPORTED",
        "UPSERT PK ... INTO",
        "write UPSERT INTO, and PK after the SELECT",
        "`UPSERT PK ... INTO`",
    ),
    **{name: _clause(name, instead) for name, instead in KCQL_CLAUSES.items()},
    # --- windows and aggregates ---
    "sliding aggregate": _feature("SLIDING windows of an aggregate", "use HOP with a small advance"),
    "window of windowed key": _feature(
        "a window over records with a windowed key ({format})",
        "GROUP BY _key, the key without the window",
        "A window over records with a windowed key",
    ),
    "aggregate of outer join": _feature(
        "an aggregate of an outer join of streams",
        "write the join to a topic, and aggregate the topic with a second processor",
    ),
    "aggregate of aggregate": _feature(
        "an aggregate of the changes of an aggregate",
        "if the first aggregate has no window, read it with SELECT TABLE; otherwise write it to a topic, and aggregate "
        "the topic with a second processor",
    ),
    "outer join with aggregate": _feature(
        "an outer join of streams with an aggregate of a stream",
        "write the aggregate to a topic, and join the topic with a second processor",
    ),
    "random state": _feature(
        "{function}() where it changes the state of an aggregate or a join",
        "write it in the SELECT list above the aggregate or join, write the records with it to a topic, or SET "
        "processing.guarantee='at_least_once'",
        "`RANDINT()` and `UUID()` where they change the state of an aggregate or a join: below it, in its key, its "
        "condition or HAVING",
    ),
    # --- tables ---
    "window of table": _feature(
        "a window over a table",
        "write SELECT STREAM, which reads every record as an event",
        "A window over a table",
    ),
    "lateral of table": _feature(
        "LATERAL over a table",
        "write SELECT STREAM; the elements of an array have no keys",
    ),
    "key of table": _feature(
        "a new key for the rows of a table",
        "write SELECT STREAM, or join or group the table by the new key",
    ),
    # --- settings and sinks ---
    "key of environment": _feature(
        "SET {key}",
        "set {name}, in the environment of the processor",
        "`SET` of Kafka's `security.protocol`, `sasl.*` and `ssl.*`",
    ),
    **{key: _feature("SET {key}", instead, guide=None) for key, instead in KEYS_OF_ENGINE.items()},
    "error policy of sink": _feature(
        "SET error.policy other than fail, or late.records='dlq', with a sink",
        "write to a topic, and write the topic to the sink with a second processor",
    ),
    "late records of results": _feature(
        "SET late.records='dlq' with a window or a join of streams over the results of {below}",
        "write these results to a topic, and read it with a second processor",
        "`SET late.records='dlq'` with a window or a join of streams over the results of a join or an aggregate",
    ),
    "late records of sessions": _feature(
        "SET late.records='dlq' with {above} over session windows",
        "write the sessions to a topic, and read it with a second processor",
        "`SET late.records='dlq'` with a filter, a join or an aggregate over session windows",
    ),
}
"""By key: the keyword of a statement or clause, the key of a SET, or a name of the feature."""


def unsupported(key: str, span: Span | None = None, /, **values: str) -> LsqlError:
    """The error for a row of the table.

    Args:
        key: the key in UNSUPPORTED.
        span: the position in the program.
        values: the values of the placeholders.
    """
    row = UNSUPPORTED[key]
    feature, instead = row.feature.format_map(values), row.instead.format_map(values)
    return LsqlError(row.code, span, (), **{_PARAMETERS[row.code]: feature, "instead": instead})
