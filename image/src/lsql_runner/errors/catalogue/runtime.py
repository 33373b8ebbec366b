"""Brokers, queries and processes while a processor runs."""

from __future__ import annotations

from lsql_runner.errors.kinds import EXIT_RUNTIME, ErrorKind, Recovery

RUNTIME: dict[str, ErrorKind] = {
    "BROKER_UNREACHABLE": ErrorKind(
        "The brokers at {servers} are unreachable: {reason}.",
        "Check SQL_BOOTSTRAP_SERVERS and the network. The processor retries.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.WAIT,
        is_transient=True,
        is_shared=True,
    ),
    "BROKER_REFUSED": ErrorKind(
        "The brokers at {servers} refused the client: {reason}.",
        "Grant the client access to its topics, its consumer group and its transactional ids, or correct its "
        "credentials. The processor retries.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.RETRY,
        is_shared=True,
    ),
    "BROKERS_TOO_OLD": ErrorKind(
        "The brokers at {servers} do not support exactly-once delivery: {reason}.",
        "Use brokers of Kafka 3.0 or newer (3.6 or newer for consumers of uncommitted records), or "
        "SET processing.guarantee='at_least_once'.",
        exit_code=EXIT_RUNTIME,
    ),
    "GROUP_IN_USE": ErrorKind(
        "Another consumer is a member of the consumer group {group}, and the brokers accept positions from members "
        "only: the position in the group stays where it is. The processor continues from its checkpoint.",
        "Stop the other consumer, or give it another group. The group of a processor has the name of its application "
        "id.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.RETRY,
    ),
    "KAFKA_SETTINGS_INVALID": ErrorKind(
        "The settings of the Kafka client are invalid: {reason}.",
        "Correct SECURITY_PROTOCOL, SASL_* and SSL_*. Put the jars of custom login modules into LSQL_JARS_DIR.",
    ),
    "TOPIC_REFUSED": ErrorKind(
        "The brokers refused to create {topic}: {reason}.",
        "Create the topic by hand, or correct its settings.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.RETRY,
    ),
    "TOPIC_NOT_DELETED": ErrorKind(
        "The topic {topic} still exists {seconds} s after its deletion.",
        "Check the brokers and their log.",
        exit_code=EXIT_RUNTIME,
    ),
    "TOPIC_DELETED": ErrorKind(
        "The topic {topic}, which the program reads, was deleted.",
        "Create the topic again, or stop the processor. A topic that was created again has other records: the start "
        "fails with OFFSETS_OUT_OF_RANGE, or reads it from its first record with LSQL_ON_DATA_LOSS=continue.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.RETRY,
    ),
    "OFFSETS_OUT_OF_RANGE": ErrorKind(
        "The brokers deleted records before they were read: {reason}.",
        "Increase the retention of the topic. To skip the missing records, restart with LSQL_ON_DATA_LOSS=continue.",
        exit_code=EXIT_RUNTIME,
    ),
    "QUERY_FAILED": ErrorKind(
        "The query failed: {reason}.",
        "The processor restarts it. The log has the details.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.RETRY,
        is_transient=True,
    ),
    "FUNCTION_UNUSABLE": ErrorKind(
        "A user-defined function cannot run: {reason}.",
        "Put the jar that is missing into LSQL_UDF_DIR, or correct the class. Then start the processor again.",
        exit_code=EXIT_RUNTIME,
    ),
    "PROCESSOR_REPLACED": ErrorKind(
        "Another process runs the processor {app} and writes its results.",
        "Stop one of the two: an application id must be used by one processor only. After a failure of a node, delete "
        "the old pod.",
        exit_code=EXIT_RUNTIME,
    ),
    "JVM_GONE": ErrorKind(
        "The Spark JVM ended: {reason}.",
        "The process ends and has to be restarted. After an out-of-memory error, raise the memory limit of the "
        "container, which determines the heap size, or set LSQL_HEAP_MIB.",
        exit_code=EXIT_RUNTIME,
        is_shared=True,
    ),
    "WORKERS_OUT_OF_MEMORY": ErrorKind(
        "A task failed four times, and the JVMs of workers that ran it were out of memory.",
        "The processor starts the query again and reads its first records one at a time, to find a record that is too "
        "large. If it does not find one, raise workers.resources.limits.memory, not the limit of the processor.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.RETRY,
    ),
    "JVM_START_TIMEOUT": ErrorKind(
        "The Spark JVM did not start within {seconds} s.",
        "Check the CPU and memory limits of the container, and the log.",
        exit_code=EXIT_RUNTIME,
        is_shared=True,
    ),
    "SERVER_GONE": ErrorKind(
        "The process that serves the API ended: {reason}.",
        "The process ends and has to be restarted. After an out-of-memory error, raise the memory limit of the "
        "container.",
        exit_code=EXIT_RUNTIME,
    ),
}
