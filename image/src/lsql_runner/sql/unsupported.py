"""What the language of Lenses has and this version does not run: one table, and the only place that refuses by it."""

from __future__ import annotations

from dataclasses import dataclass

from lsql_runner.errors import LsqlError
from lsql_runner.spans import Span

_PARAMETERS = {"STATEMENT_UNSUPPORTED": "statement", "CLAUSE_UNSUPPORTED": "clause", "FEATURE_UNSUPPORTED": "feature"}
"""By code, the parameter that names what is refused."""


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A row: `what` and `instead` may have slots in braces for values of the program."""

    code: str
    what: str
    instead: str
    listed: str | None = ""
    """As the language guide lists it; empty takes `what`. None is listed elsewhere."""


def _statement(what: str, instead: str) -> Unsupported:
    return Unsupported("STATEMENT_UNSUPPORTED", what, instead, f"`{what}`")


def _clause(what: str, instead: str) -> Unsupported:
    return Unsupported("CLAUSE_UNSUPPORTED", what, instead, f"`{what}`")


def _feature(what: str, instead: str, listed: str | None = "") -> Unsupported:
    return Unsupported("FEATURE_UNSUPPORTED", what, instead, listed)


KEYS_OF_ENGINE: dict[str, str] = {
    "application.id": "set SQL_APP_ID",
    "group.id": "set SQL_APP_ID",
    "bootstrap.servers": "set SQL_BOOTSTRAP_SERVERS",
    "schema.registry.url": "set SQL_SCHEMA_REGISTRY_URL",
    "state.dir": "set SQL_STATE_STORE_DIR",
    "state.onLoss": "set LSQL_STATE_ON_LOSS",
    "enable.auto.commit": "leave it out: the position is committed after each batch",
    "allow.auto.create.topics": "SET defaults.topic.autocreate=true, for targets; sources must be there",
    "enable.idempotence": "leave it out: the producer always is idempotent",
    "acks": "leave it out: the producer always waits for all in-sync replicas",
    "key.deserializer": "write STORE KEY AS or declare the topic in LSQL_TOPICS",
    "value.deserializer": "write STORE VALUE AS or declare the topic in LSQL_TOPICS",
    "key.serializer": "write STORE KEY AS <format>",
    "value.serializer": "write STORE VALUE AS <format>",
    "default.key.serde": "write STORE KEY AS or declare the topic in LSQL_TOPICS",
    "default.value.serde": "write STORE VALUE AS or declare the topic in LSQL_TOPICS",
    "default.timestamp.extractor": "write EVENTTIME BY <field>",
    "partitioner.class": "leave it out: a record goes by the hash of its key",
    "interceptor.classes": "leave it out: the engine sets its own",
    "metric.reporters": "leave it out: metrics are on GET /metrics",
    "security.providers": "leave it out: set SSL_* and SASL_* in the environment",
    "transactional.id": "leave it out: there are no transactions in this version",
    "transaction.timeout.ms": "leave it out: there are no transactions in this version",
    "default.deserialization.exception.handler": "SET error.policy='fail', 'continue' or 'dlq'",
    "deserialization.exception.handler": "SET error.policy='fail', 'continue' or 'dlq'",
    "default.production.exception.handler": "SET error.policy='fail', 'continue' or 'dlq'",
    "production.exception.handler": "SET error.policy='fail', 'continue' or 'dlq'",
    "processing.exception.handler": "SET error.policy='fail', 'continue' or 'dlq'",
    "rocksdb.config.setter": "SET the rocksdb.* keys that are taken here",
}
"""Keys of Kafka and Kafka Streams that the engine or the environment sets, with what to do instead."""

UNSUPPORTED: dict[str, Unsupported] = {
    # --- statements ---
    "UPDATE": _statement("UPDATE", "write INSERT INTO <topic> SELECT ... ; a topic's records cannot be changed"),
    "DELETE": _statement("DELETE", "write a tombstone: INSERT INTO <topic> SELECT STREAM NULL AS _value ..."),
    "DROP": _statement("DROP", "delete topics with Kafka's own tools"),
    # --- clauses ---
    "SELECT DISTINCT": _clause("SELECT DISTINCT", "GROUP BY the fields that tell records apart"),
    "DISTINCT": Unsupported(
        "CLAUSE_UNSUPPORTED",
        "DISTINCT",
        "COLLECT_UNIQUE, or a GROUP BY on the field",
        "`DISTINCT` in an aggregate",
    ),
    "UNION": _clause("UNION", "write one INSERT INTO for each SELECT: they share the target"),
    "ORDER": Unsupported(
        "CLAUSE_UNSUPPORTED",
        "ORDER",
        "a stream has no end to sort at; order is kept for each key",
        "`ORDER BY`",
    ),
    "LIMIT": _clause("LIMIT", "a stream has no end; filter with WHERE"),
    "PROPERTIES": Unsupported(
        "CLAUSE_UNSUPPORTED",
        "PROPERTIES",
        "SET topic.<name>.partitions and the like, for a topic that the program makes",
        "`PROPERTIES` of `CREATE TABLE`",
    ),
    "AUTOEVOLVE": _clause("AUTOEVOLVE", "change the table by hand before the program that needs it"),
    "CAPITALIZE": _clause("CAPITALIZE", "name the columns with AS"),
    "WITHTYPE": _clause("WITHTYPE", "leave it out: rows have one form in each sink"),
    "WITHKEY": _clause("WITHKEY", "name key columns with PK"),
    "TTL": _clause("TTL", "let the server expire keys"),
    # --- windows and aggregates ---
    "sliding aggregate": _feature("SLIDING windows of an aggregate", "use HOP with a small advance"),
    "window of windowed key": _feature(
        "a window around a key that has one ({format})",
        "GROUP BY _key, the key inside the window",
        "A window around a key that has one",
    ),
    "aggregate of outer join": _feature(
        "an aggregate of an outer join of streams",
        "write the join to a topic, and aggregate that topic in a second processor",
    ),
    "aggregate of aggregate": _feature(
        "an aggregate of the changes of an aggregate",
        "read that as a table, SELECT TABLE, where it has no window; or write it to a topic, and aggregate that in a "
        "second processor",
    ),
    "outer join with aggregate": _feature(
        "an outer join of streams with an aggregate of a stream",
        "write the aggregate to a topic, and join that topic in a second processor",
    ),
    # --- tables ---
    "window of table": _feature(
        "a window over a table (a SELECT without STREAM reads a table)",
        "write SELECT STREAM; every record then counts as an event",
        "A window over a table",
    ),
    "lateral of table": _feature(
        "LATERAL over a table",
        "write SELECT STREAM; the elements of a row have no key of their own",
    ),
    "key of table": _feature(
        "another key for the rows of a table",
        "write SELECT STREAM; or join or group the table by what is to be the key",
    ),
    # --- settings and sinks ---
    "guarantee": _feature(
        "SET processing.guarantee='{value}'", "use at_least_once", "`SET processing.guarantee='exactly_once'`"
    ),
    "key of environment": _feature(
        "SET {key}",
        "set {name}, in the environment of the processor",
        "`SET` of Kafka's `security.protocol`, `sasl.*` and `ssl.*`",
    ),
    **{key: _feature("SET {key}", instead, listed=None) for key, instead in KEYS_OF_ENGINE.items()},
    "error policy of sink": _feature(
        "SET error.policy other than fail with a sink",
        "write to a topic, and from that to the sink in a second processor",
    ),
}
"""By key: the word of a statement or clause as the parser meets it, the key of a SET, else a name of the row."""


def unsupported(key: str, span: Span | None = None, /, **values: str) -> LsqlError:
    """The error of a row.

    Args:
        key: of UNSUPPORTED.
        span: the place in the program.
        values: for the slots of the row.
    """
    row = UNSUPPORTED[key]
    what, instead = row.what.format_map(values), row.instead.format_map(values)
    return LsqlError(row.code, span, (), **{_PARAMETERS[row.code]: what, "instead": instead})
