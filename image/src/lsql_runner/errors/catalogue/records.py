"""Records that a program cannot process."""

from __future__ import annotations

from lsql_runner.errors.kinds import EXIT_RUNTIME, ErrorKind

RECORDS: dict[str, ErrorKind] = {
    "RECORD_MALFORMED": ErrorKind(
        "The {part} of the record at {topic}, partition {partition}, offset {offset} is not valid {format}: {reason}.",
        "Correct the producer, or declare the format and schema of the topic in LSQL_TOPICS. Then POST /start.",
        exit_code=EXIT_RUNTIME,
    ),
    "RECORD_REFUSED": ErrorKind(
        "The program fails on the record at {topic}, partition {partition}, offset {offset}: {reason}.",
        "Guard the expression with CASE, COALESCE or WHERE. Then start the processor again.",
        exit_code=EXIT_RUNTIME,
    ),
    "RECORD_TOO_LARGE": ErrorKind(
        "The output of the record at {topic}, partition {partition}, offset {offset} is too large: {reason}.",
        "Raise max.message.bytes of the target topic and max.request.size of the producer, or write less.",
        exit_code=EXIT_RUNTIME,
    ),
    "RECORD_LATE": ErrorKind(
        "The record at {topic}, partition {partition}, offset {offset} is late for {windows}: event time has passed "
        "them and the grace. The record is not counted there.",
        "Raise GRACE BY, or correct the clock of the producer.",
        exit_code=EXIT_RUNTIME,
    ),
    "RECORDS_EXCEED_HEAP": ErrorKind(
        "The JVM ran out of memory twice, with a heap of {heap_mib} MiB, when it read {topic}, partition {partition}, "
        "from offset {offset}. It does not read these records again.",
        "Raise the memory limit of the container, which determines the heap size, or LSQL_HEAP_MIB. Or skip the "
        "record: delete the records before offset {next_offset} with kafka-delete-records, and restart with "
        "LSQL_ON_DATA_LOSS=continue. To try again, POST /start.",
        exit_code=EXIT_RUNTIME,
    ),
    "RECORDS_EXCEED_WORKER_HEAP": ErrorKind(
        "Two workers ran out of memory, with a heap of {heap_mib} MiB, when they read {topic}, partition {partition}, "
        "from offset {offset}.",
        "Raise workers.resources.limits.memory, which determines the heap of a worker, or their LSQL_HEAP_MIB; "
        "then POST /start. Or skip the record: delete the records before offset {next_offset} with "
        "kafka-delete-records, and restart with LSQL_ON_DATA_LOSS=continue.",
        exit_code=EXIT_RUNTIME,
    ),
    "RECORD_WITHOUT_KEY": ErrorKind(
        "A record of {topic}, which is read as a table, has no key. The record is skipped and counted.",
        "Let the producer set a key, or read the topic as a stream.",
        exit_code=EXIT_RUNTIME,
    ),
    "GROUP_TOO_LARGE": ErrorKind(
        "The state of a group is too large: {reason}.",
        "Keep fewer values, or GROUP BY more fields or a window. To count many distinct values, GROUP BY them.",
        exit_code=EXIT_RUNTIME,
    ),
    "SINK_RECORD_REFUSED": ErrorKind(
        "{sink} rejects the row of the record at {topic}, partition {partition}, offset {offset}: {reason}.",
        "Correct the table or the producer of the record, or exclude such records with WHERE. Then POST /start.",
        exit_code=EXIT_RUNTIME,
    ),
    "SINK_ROW_REFUSED": ErrorKind(
        "{sink} rejects the row {row}: {reason}.",
        "Correct the table or the program. Then POST /start.",
        exit_code=EXIT_RUNTIME,
    ),
    "SINK_ROWS_REFUSED": ErrorKind(
        "{sink} rejects the rows of a batch at its commit: {reason}.",
        "Correct the table or the program. Then POST /start.",
        exit_code=EXIT_RUNTIME,
    ),
}
