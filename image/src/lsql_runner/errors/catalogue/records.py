"""Records that a program cannot process."""

from __future__ import annotations

from lsql_runner.errors.kinds import RUNTIME, ErrorKind

RECORDS: dict[str, ErrorKind] = {
    "RECORD_MALFORMED": ErrorKind(
        "The {part} of the record at {topic}, partition {partition}, offset {offset} is not {format}: {reason}.",
        "Correct what writes it, or declare the topic's format and schema in LSQL_TOPICS; then POST /start.",
        exit_code=RUNTIME,
    ),
    "RECORD_REFUSED": ErrorKind(
        "The program fails on the record at {topic}, partition {partition}, offset {offset}: {reason}.",
        "Guard the expression (CASE, COALESCE, a WHERE before it); then start again.",
        exit_code=RUNTIME,
    ),
    "RECORD_TOO_LARGE": ErrorKind(
        "The record made of the one at {topic}, partition {partition}, offset {offset} is too large: {reason}.",
        "Let the target take larger ones (max.message.bytes, and max.request.size of the producer), or write less.",
        exit_code=RUNTIME,
    ),
    "RECORD_WITHOUT_KEY": ErrorKind(
        "A record of {topic}, which is read as a table, has no key, so that it is no row: it is left out and counted.",
        "Let what writes it give a key, or read the topic as a stream.",
        exit_code=RUNTIME,
    ),
    "GROUP_TOO_LARGE": ErrorKind(
        "A group holds more than its state can: {reason}.",
        "Keep fewer values, group by more fields or in windows; where many values are counted, GROUP BY them instead.",
        exit_code=RUNTIME,
    ),
    "SINK_RECORD_REFUSED": ErrorKind(
        "{sink} refuses the row of the record at {topic}, partition {partition}, offset {offset}: {reason}.",
        "Correct the table or what writes the record, or leave such records out with WHERE; then POST /start.",
        exit_code=RUNTIME,
    ),
    "SINK_ROW_REFUSED": ErrorKind(
        "{sink} refuses the row {row}: {reason}.",
        "Correct the table or the program; then POST /start.",
        exit_code=RUNTIME,
    ),
    "OFFSETS_OUT_OF_RANGE": ErrorKind(
        "Records that were not read yet are gone from the brokers: {reason}.",
        "Lengthen the topic's retention; to go on behind the gap, start again with LSQL_ON_DATA_LOSS=continue.",
        exit_code=RUNTIME,
    ),
}
