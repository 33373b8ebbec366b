"""The start of a processor: ports, state, Java, topics."""

from __future__ import annotations

from http import HTTPStatus

from lsql_runner.errors.kinds import EXIT_RUNTIME, ErrorKind, Recovery

STARTUP: dict[str, ErrorKind] = {
    "PORT_IN_USE": ErrorKind(
        "Port {port} is already in use.", "Stop the process that uses it, or set SQL_PORT to a free port."
    ),
    "PORT_NOT_ALLOWED": ErrorKind(
        "The runner cannot listen on port {port}.", "Set SQL_PORT to a port from 1024 to 65535."
    ),
    "ADDRESS_NOT_LOCAL": ErrorKind(
        "The runner cannot listen on {address}, because it is not an address of this machine.",
        "Set LSQL_BIND_ADDRESS to an address of an interface, or unset it to listen on all of them.",
    ),
    "STATE_DIR_UNWRITABLE": ErrorKind(
        "The state directory {path} is not writable: {reason}.",
        "Set SQL_STATE_STORE_DIR to a writable directory.",
        recovery=Recovery.RETRY,
    ),
    "STATE_DIR_UNREADABLE": ErrorKind(
        "The state directory {path} cannot be read: {reason}.",
        "Check the volume or the claim. Nothing was changed; the processor retries.",
        recovery=Recovery.RETRY,
    ),
    "STATE_DIR_IN_USE": ErrorKind(
        "The state directory {path} is in use by process {pid}.",
        "Stop that process, or set another SQL_APP_ID.",
        http_status=HTTPStatus.CONFLICT,
    ),
    "APP_ID_IN_USE": ErrorKind(
        "Another processor has the application id {app}, with other state: it runs on {host}.",
        "Both would write every result. Stop one of the two, or give one another SQL_APP_ID. This one waits, and "
        "starts at once when the other one was stopped, or 15 seconds after it was killed.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.WAIT,
        is_transient=True,
    ),
    "LEASE_UNAVAILABLE": ErrorKind(
        "The Lease {lease} cannot be used: {reason}.",
        "Check LSQL_LEASE, and that the service account may get and update this Lease. A processor that leads goes on.",
        recovery=Recovery.RETRY,
    ),
    "STATE_STORE_UNREACHABLE": ErrorKind(
        "The store of {uri} is unreachable: {reason}.",
        "Check LSQL_STATE_URI, its endpoint and the network. The processor retries.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.WAIT,
        is_transient=True,
    ),
    "STATE_STORE_REFUSED": ErrorKind(
        "The store of {uri} refused the client: {reason}.",
        "Create the bucket, or correct the credentials and grant the rights to read, write, list and delete there.",
        recovery=Recovery.RETRY,
    ),
    "STATE_STORE_WITHOUT_CONNECTOR": ErrorKind(
        "No connector for {uri} can be loaded: {reason}.",
        "Put the jars of Hadoop's connector into the directory LSQL_STATE_JARS.",
    ),
    "STATE_STORE_FAILED": ErrorKind(
        "The store of {uri} failed: {reason}.",
        "Check LSQL_STATE_URI and the settings of the store. The processor retries.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.RETRY,
    ),
    "STATE_STORE_NOT_ATOMIC": ErrorKind(
        "The store of {uri} does not refuse to create a file that exists: {reason}.",
        "Use a store with conditional writes (`If-None-Match`) or a file system with an atomic rename. Two processes "
        "could both write the same batch.",
    ),
    "STATE_LOCK_EXPIRED": ErrorKind(
        "The lock on the state at {uri} could not be renewed for {seconds} s: {reason}.",
        "Check the store and the network. The process ends, because another one may take the state; when it is started "
        "again, it waits for the store.",
        exit_code=EXIT_RUNTIME,
    ),
    "STATE_UNREADABLE": ErrorKind(
        "{path} was not written by this version of the runner.",
        "Use the version that wrote it, set another SQL_APP_ID, or delete the directory and its state.",
    ),
    "STATE_INCOMPATIBLE": ErrorKind(
        "The state in {path} does not fit the program: {change}.",
        "Run the program that it belongs to, set another SQL_APP_ID, or begin new state for these INSERTs with "
        "LSQL_STATE_ON_CHANGE=rebuild (upgrade.onIncompatible=newGeneration in the values of the chart). `lsql state "
        "repartition` changes the number of partitions.",
    ),
    "STATE_MEANING_CHANGED": ErrorKind(
        "The program can continue the state in {path}, but computes its values in another way: {change}.",
        "Run the program that it belongs to, or set LSQL_STATE_ON_MEANING_CHANGE=accept: values from before stay as "
        "they are.",
    ),
    "CHANGE_FAILED": ErrorKind(
        "{runs} runs with the changed INSERT have ended with an error, or with the process.",
        "Look for the errors in the log, and give the processor more memory if it was killed. POST /stop and POST "
        "/start try again; with the earlier program, the change ends.",
        exit_code=EXIT_RUNTIME,
    ),
    "VERDICT_UNKNOWN": ErrorKind(
        "The processor at {url} cannot say whether its state fits the program: {reason}.",
        "Check it, or accept that the start after the upgrade may be refused: --on-unknown accept "
        "(upgrade.onUnknown in the values of the chart).",
        exit_code=EXIT_RUNTIME,
    ),
    "STATE_MISSING": ErrorKind(
        "{path} contains no state of a program.",
        "Set SQL_APP_ID and SQL_STATE_STORE_DIR to the values of the processor, or wait until it has started once.",
        http_status=HTTPStatus.CONFLICT,
    ),
    "STORE_MISSING": ErrorKind("The saved program has no state store {store}.", "Name one of its stores: {stores}."),
    "STATE_EXISTS": ErrorKind(
        "{path} has state of a processor already.",
        "Choose another application id, or delete the directory.",
        http_status=HTTPStatus.CONFLICT,
    ),
    "SNAPSHOT_NAME_INVALID": ErrorKind(
        "`{name}` cannot be the name of a snapshot.",
        "Use letters, digits, `.`, `_` and `-`, beginning with a letter or digit, at most 100.",
        http_status=HTTPStatus.BAD_REQUEST,
    ),
    "SNAPSHOT_EXISTS": ErrorKind(
        "There is a snapshot {name} already.",
        "Choose another name, or delete it with `lsql state prune`.",
        http_status=HTTPStatus.CONFLICT,
    ),
    "SNAPSHOT_MISSING": ErrorKind(
        "There is no snapshot {name} in {path}.",
        "`lsql state list` prints the snapshots.",
        http_status=HTTPStatus.NOT_FOUND,
    ),
    "SNAPSHOT_OVERTAKEN": ErrorKind(
        "The query {query} has deleted its batch while it was copied.",
        "Repeat the command, or keep batches for a longer time: LSQL_CHECKPOINT_KEEP_S.",
        http_status=HTTPStatus.SERVICE_UNAVAILABLE,
    ),
    "PARTITIONS_FIXED": ErrorKind(
        "The state of INSERT INTO {target} cannot be divided into {now} partitions: it has {operator}.",
        "Keep its {was} partitions, or start with empty state: set state.partitions and LSQL_STATE_ON_CHANGE=reset.",
    ),
    "BATCH_UNFINISHED": ErrorKind(
        "The last batch of the query {query} has not ended: the processor was killed.",
        "Start the processor with its {was} partitions, stop it with SIGTERM, and repeat the command.",
    ),
    "STATE_CONVERSION_FAILED": ErrorKind(
        "The state of the query {query} could not be converted for its new aggregates, and is unchanged: {reason}.",
        "Roll back, or let the INSERT have new state: LSQL_STATE_ON_CHANGE=rebuild.",
        exit_code=EXIT_RUNTIME,
    ),
    "REPARTITION_FAILED": ErrorKind(
        "The state of the query {query} could not be divided, and is unchanged: {reason}.",
        "Keep its partitions, or start with empty state: set state.partitions and LSQL_STATE_ON_CHANGE=reset.",
        exit_code=EXIT_RUNTIME,
    ),
    "STATE_LOST": ErrorKind(
        "The consumer group {group} has committed offsets, but its state is missing from {path}.",
        "Restore the state, or set LSQL_STATE_ON_LOSS to reset (continue with empty state) or rebuild (read all "
        "records again).",
    ),
    "MEMORY_LIMIT_TOO_SMALL": ErrorKind(
        "The program needs about {needed_mib} MiB of memory; the container has {limit_mib} MiB.",
        "Set resources.limits.memory to {needed_mib}Mi or more, or split the program.",
    ),
    "JAVA_MISSING": ErrorKind(
        "Java was not found: JAVA_HOME is not set, and PATH has no java.",
        "Install a JDK 17 or newer, or set JAVA_HOME.",
        is_shared=True,
    ),
    "TEMPORARY_FOLDER_NOEXEC": ErrorKind(
        "Files in {path} cannot be executed: its file system is mounted with noexec.",
        "The JVM unpacks native libraries into the folder for temporary files. Set TMPDIR to a folder whose file "
        "system is not mounted with noexec; in a pod, for example, to an emptyDir with medium: Memory.",
        is_shared=True,
    ),
    "JAVA_HOME_INVALID": ErrorKind(
        "JAVA_HOME is {path}, which has no bin/java.",
        "Set JAVA_HOME to a JDK 17 or newer, or unset it to use the java on PATH.",
        is_shared=True,
    ),
    "JARS_MISSING": ErrorKind(
        "The jars of Kafka's client are missing from {path}.",
        "Run `make setup`, or set LSQL_JARS_DIR.",
        is_shared=True,
    ),
    "TOPIC_EMPTY": ErrorKind(
        "The topic {topic} is empty and has no declared schema.",
        "Write a record to the topic, which starts the processor, or declare the schema in LSQL_TOPICS.",
        exit_code=EXIT_RUNTIME,
        recovery=Recovery.WAIT,
    ),
}
