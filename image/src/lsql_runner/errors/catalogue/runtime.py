"""Brokers, queries and processes while a processor runs."""

from __future__ import annotations

from lsql_runner.errors.kinds import RUNTIME, ErrorKind, Recovery

RUNTIME: dict[str, ErrorKind] = {
    "BROKER_UNREACHABLE": ErrorKind(
        "No broker answers at {servers}: {reason}.",
        "Check SQL_BOOTSTRAP_SERVERS and the network; it is tried again.",
        exit_code=RUNTIME,
        recovery=Recovery.WAIT,
        is_transient=True,
        is_shared=True,
    ),
    "BROKER_REFUSED": ErrorKind(
        "The brokers at {servers} refuse this client: {reason}.",
        "Give it the rights it needs on its topics and its group, or correct its credentials; it is tried again.",
        exit_code=RUNTIME,
        recovery=Recovery.RETRY,
        is_shared=True,
    ),
    "KAFKA_SETTINGS_INVALID": ErrorKind(
        "No Kafka client can be made with these settings: {reason}.",
        "Correct SECURITY_PROTOCOL, SASL_* and SSL_*; the jars of login modules of your own go into LSQL_JARS_DIR.",
    ),
    "TOPIC_REFUSED": ErrorKind(
        "The brokers refused to create {topic}: {reason}.",
        "Create the topic by hand, or correct its settings.",
        exit_code=RUNTIME,
        recovery=Recovery.RETRY,
    ),
    "QUERY_FAILED": ErrorKind(
        "The query stopped: {reason}.",
        "It is restarted by itself; the log holds the details.",
        exit_code=RUNTIME,
        recovery=Recovery.RETRY,
        is_transient=True,
    ),
    "JVM_GONE": ErrorKind(
        "The Spark JVM ended: {reason}.",
        "The process ends and is to be restarted. Where it ran out of memory, raise the container's memory limit, from which the heap follows, or set LSQL_HEAP_MIB.",
        exit_code=RUNTIME,
        is_shared=True,
    ),
    "WORKER_GONE": ErrorKind(
        "The process that holds the JVM ended: {reason}.",
        "The processor ends and is to be restarted. Where it ran out of memory, raise the container's memory limit.",
        exit_code=RUNTIME,
    ),
}
