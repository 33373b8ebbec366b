"""The options with which TOPIC_SINK in the JVM writes the batches of a query to topics. Each row names its topic.

Every record has a header with its batch. With exactly-once delivery it also has one with its identity, so that a batch
that runs again leaves out the records that it has already written.
"""

from __future__ import annotations

from lsql_runner.compile.attempts import size_limits
from lsql_runner.compile.dead_letters import OutputContext
from lsql_runner.engine.port import OutputOptions, qualified_name

BATCH_HEADER = "lsql.batch"
"""`<app id>/<run>/<query>/<batch id>`, UTF-8. The run is the beginning of the checkpoint's id."""
IDENTITY_HEADER = "lsql.id"
"""The identity of a record, unique in its query, 16 bytes (`compile.identity`)."""

_BATCH_BYTES = 131_072

_REQUEST = "max.request.size"
_REQUEST_BYTES = 1_048_576
"""Kafka's default, before compression."""
_DEAD_LETTER_BYTES = 32 * 1024 * 1024
"""A larger dead letter is written without its value."""
_QUERY_BYTES = 48
"""The most bytes of the run, a query's name and a batch id in BATCH_HEADER."""
_RUN_DIGITS = 8
_IDENTITY_BYTES = len(IDENTITY_HEADER) + 16

_TUNED = {
    "kafka.linger.ms": "20",
    "kafka.compression.type": "lz4",
}
_CONTINUOUS_LINGER_MS = "5"
FIXED = {
    "kafka.enable.idempotence": "true",
    "kafka.acks": "all",
}
"""Settings of the producer that a program cannot change."""


def output_context(options: OutputOptions) -> OutputContext:
    """The properties of the processor and its targets, from the options of its output."""
    request_bytes = _request_bytes(options)
    compression = dict(options.producer).get("compression.type", _TUNED["kafka.compression.type"])
    header_bytes = len(f"{BATCH_HEADER}{options.app_id}") + _QUERY_BYTES
    if options.exactly_once:
        header_bytes += _IDENTITY_BYTES
    sizes = {
        topic: size_limits(
            batch_bytes=limits.batch_bytes,
            request_bytes=_dead_letter_bytes(options) if topic == options.dead_letter_topic else request_bytes,
            header_bytes=header_bytes,
            compression=compression,
        )
        for topic, limits in options.limits.items()
    }
    times = {topic: limits for topic, limits in options.limits.items() if limits.after_ms is not None}
    compacted = frozenset(topic for topic, limits in options.limits.items() if limits.compacted)
    return OutputContext(
        app_id=options.app_id,
        size_limits=sizes,
        time_limits=times,
        compacted=compacted,
        with_identities=options.exactly_once,
    )


def _request_bytes(options: OutputOptions) -> int:
    """The maximum size of a record, before compression."""
    return int(dict(options.producer).get(_REQUEST, _REQUEST_BYTES))


def _dead_letter_bytes(options: OutputOptions) -> int:
    """The maximum size of a dead letter, before compression."""
    return max(_DEAD_LETTER_BYTES, _request_bytes(options))


def _largest_batch(options: OutputOptions) -> int | None:
    """The size of a batch that every target accepts; None if no target reports a limit.

    The producer splits a batch that a topic refuses into batches of `batch.size`. If these were too large as well, it
    would retry for minutes and delay the valid records.
    """
    return min(
        (limits.batch_bytes for limits in options.limits.values() if limits.batch_bytes is not None), default=None
    )


def writer_options(query: str, options: OutputOptions, run: str) -> dict[str, str]:
    """The options of TOPIC_SINK for the batches of a query.

    Args:
        query: the name of the query.
        options: of the processor.
        run: the id of the query's checkpoint.
    """
    largest_record = _request_bytes(options) if options.dead_letter_topic is None else _dead_letter_bytes(options)
    size = {
        "kafka.batch.size": str(min(_BATCH_BYTES, _largest_batch(options) or _BATCH_BYTES)),
        "kafka.buffer.memory": str(max(options.buffer_bytes, largest_record)),
    }
    producer = {f"kafka.{key}": value for key, value in options.producer}
    output = {
        "output": qualified_name(options.app_id, query),
        "writer": writer_name(options.app_id, run, query),
        "commit.interval.ms": str(options.commit_interval_ms),
        "on.workers": str(options.on_workers).lower(),
    }
    if options.dead_letter_topic is not None:
        # `limit_size` checks the records of other targets. A dead letter may be as large as a record of a source.
        producer[f"kafka.{_REQUEST}"] = str(largest_record)
    return _TUNED | size | producer | options.kafka.spark() | FIXED | output


def writer_name(app_id: str, run: str, query: str) -> str:
    """The beginning of BATCH_HEADER, and of the transactional ids of a query."""
    return f"{app_id}/{run[:_RUN_DIGITS]}/{query}/"


def continuous_writer_options(query: str, options: OutputOptions, run: str, batch_id: int) -> dict[str, str]:
    """The options of TOPIC_SINK for a continuous query.

    Args:
        query: the name of the query.
        options: of the processor.
        run: the id of the query's checkpoint.
        batch_id: the batch at which the query begins: all its records have it in BATCH_HEADER.
    """
    # The time that a record may wait for others, which a batch does not have: it flushes its records at its end.
    linger = {} if "linger.ms" in dict(options.producer) else {"kafka.linger.ms": _CONTINUOUS_LINGER_MS}
    return writer_options(query, options, run) | linger | {"continuous.batch": str(batch_id)}
