"""Opens the output of a query to topics in the JVM: at least once, or exactly once."""

from __future__ import annotations

import json
from collections.abc import Mapping

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from lsql_runner.compile.dead_letters import dead_letter_identity, insert_identity, source_topics
from lsql_runner.compile.identity import signed_tag
from lsql_runner.engine.broker_errors import broker_error
from lsql_runner.engine.port import Job, qualified_name
from lsql_runner.engine.topic_writer import writer_name
from lsql_runner.events.batches import Partition
from lsql_runner.jvm.call import java_class
from lsql_runner.jvm.java_entries import TOPIC_OUTPUT
from lsql_runner.plan.late_records import late_nodes
from lsql_runner.plan.nodes import Unnest
from lsql_runner.plan.queries import Query, WriteTopic
from lsql_runner.plan.tree import nodes
from lsql_runner.state.offset_log import by_topic, first_batch, run_id


def commit_abandoned(job: Job) -> None:
    """With exactly-once: commit open transactions of queries that do not run any more, for example of a state that was
    reset. Consumers of committed records would wait for them.

    Raises:
        LsqlError: BROKER_REFUSED, BROKERS_TOO_OLD, QUERY_FAILED.
    """
    app_id, kafka = job.output.app_id, job.output.kafka
    if job.output.exactly_once:
        writers = [writer_name(app_id, run_id(job.checkpoints / query.name), query.name) for query in job.plan.queries]
        try:
            java_class(TOPIC_OUTPUT).commitAbandoned(f"{app_id}/", writers, kafka.java())
        except Py4JError as error:
            raise broker_error(kafka, error) from None


def open_output(query: Query, job: Job, options: dict[str, str], parallelism: int) -> JavaObject:
    """A TOPIC_OUTPUT.

    With exactly-once, transactions that an earlier process has left open are committed, its producers cannot write any
    more, and the records that it has written of the first batch are searched in the targets.

    Args:
        query: writes to topics.
        job: of the processor.
        options: of TOPIC_SINK.
        parallelism: the number of tasks that read a topic.

    Raises:
        LsqlError: BROKER_REFUSED, BROKERS_TOO_OLD, QUERY_FAILED.
    """
    name = qualified_name(job.output.app_id, query.name)
    if not job.output.exactly_once:
        return java_class(TOPIC_OUTPUT).open(name)
    checkpoint = job.checkpoints / query.name
    first = first_batch(checkpoint)
    positions = first.positions or job.source.start_offsets.get(query.name, {})
    try:
        return java_class(TOPIC_OUTPUT).openTransactional(
            name,
            options["writer"],
            list(query.target_topics),
            str(checkpoint),
            options | {"tasks": str(_tasks(query, job, parallelism))},
            job.output.kafka.java(),
            first.batch_id,
            # A query without batches writes records before it plans the batch that they belong to.
            first.has_begun or not query.stateful,
            None if query.stateful else insert_positions(query, positions),
        )
    except Py4JError as error:
        raise broker_error(job.output.kafka, error) from None


def _tasks(query: Query, job: Job, parallelism: int) -> int:
    """How many tasks may write at the same time: tasks that read, or tasks of the state; both with late records."""
    reads, stores = query.read_count * parallelism, job.state_partitions if query.stateful else 0
    return reads + stores if any(late_nodes(write) for write in _topic_writes(query)) else max(reads, stores)


def insert_positions(query: Query, first: Mapping[Partition, int]) -> str:
    """Where a query without state reads on, for each INSERT and each of its topics: a JSON list of the fields of
    InsertPositions in the JVM.

    Args:
        query: without state.
        first: the next offsets. Partitions without one are new, and begin at their first record.
    """
    dead_letters = ((write, dead_letter_identity(write)) for write in query.dead_letters_of)
    tags = [
        *(
            (topic, insert_identity(write), _arrays(write), _targets(write))
            for write in _topic_writes(query)
            for topic in source_topics(write)
        ),
        *(
            (topic, f"{name}{topic}", 0, _targets(write)[1:])
            for write, name in dead_letters
            for topic in source_topics(write)
        ),
    ]
    positions = by_topic(first)
    return json.dumps(
        [
            {
                "tag": signed_tag(name),
                "arrays": arrays,
                "topic": topic,
                "positions": positions.get(topic, {}),
                "targets": targets,
            }
            for topic, name, arrays, targets in tags
        ]
    )


def _topic_writes(query: Query) -> list[WriteTopic]:
    return [write for write in query.writes if isinstance(write, WriteTopic)]


def _targets(write: WriteTopic) -> list[str]:
    """The topics of an INSERT: its target, then its dead letter topic, if it has one."""
    queue = write.errors.dead_letter_topic
    return [write.topic] if queue is None else [write.topic, queue]


def _arrays(write: WriteTopic) -> int:
    """How many arrays an INSERT divides into their elements."""
    return sum(isinstance(node, Unnest) for node in nodes(write.input))
