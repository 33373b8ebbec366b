"""What a start of exactly-once output does with the transactions and records that an earlier process has left.

A producer of librdkafka, which knows nothing about the runner, makes the transactions of the killed process.
"""

from __future__ import annotations

import json
import shutil
import struct
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTime
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer
from pyspark.sql import functions as F

from devkit.broker import Broker
from devkit.in_process import in_process
from devkit.process import Process
from devkit.records import Record
from lsql_runner.compile.identity import HIGH, LOW
from lsql_runner.compile.schema import HEADERS
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.engine.topic_writer import BATCH_HEADER, IDENTITY_HEADER
from lsql_runner.jvm.call import java_class
from lsql_runner.jvm.java_entries import TOPIC_OUTPUT, TOPIC_SINK
from lsql_runner.kafka.connection import KafkaConnection
from tests.conftest import TopicFactory

pytestmark = pytest.mark.timeout(120)

BATCH = 7

LEFT_OPEN = """
import json, struct, sys, time
from confluent_kafka import Producer
bootstrap, target, transactional_id, batch, identities = sys.argv[1:]
producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": transactional_id})
producer.init_transactions(30)
producer.begin_transaction()
for identity in json.loads(identities):
    headers = [("lsql.batch", batch.encode()), ("lsql.id", struct.pack(">qq", *identity))]
    producer.produce(target, b"lost %d" % identity[1], b"k", headers=headers)
producer.flush(30)
print("written", flush=True)
time.sleep(600)
"""
"""A process that writes records within a transaction, and waits to be killed."""


class Query:
    """The output of a query to one target, in the engine."""

    def __init__(self, engine: SparkEngine, bootstrap: str, target: str, folder: Path) -> None:
        self.name = f"app-{target}/q"
        self.writer = f"app-{target}/0123abcd/q/"
        self.batch = f"{self.writer}{BATCH}"
        self._engine = engine
        self._kafka = KafkaConnection(bootstrap)
        self._target = target
        self._offsets = folder / "target-offsets"
        self._options = self._kafka.spark() | {
            "output": self.name,
            "writer": self.writer,
            "commit.interval.ms": "100",
            "tasks": "3",
        }

    def remember_offset(self, offset: int, target: str | None = None) -> None:
        """The search for records of the batch begins here."""
        self._offsets.write_text(json.dumps([{"batch": BATCH, "offsets": {target or self._target: {"0": offset}}}]))

    def remembered_offsets(self) -> dict[int, object]:
        """By batch: where the search for its records begins."""
        return {entry["batch"]: entry["offsets"] for entry in json.loads(self._offsets.read_text())}

    @contextmanager
    def opened(self) -> Iterator[None]:
        """The output, ready to write BATCH again."""
        _ = self._engine.session
        targets, connection = [self._target], self._kafka.java()
        output = java_class(TOPIC_OUTPUT).openTransactional(
            self.name, self.writer, targets, str(self._offsets.parent), self._options, connection, BATCH, True, None
        )
        try:
            yield
        finally:
            output.close()

    def write(self, lows: Iterable[int]) -> None:
        """Write records with the identities (1, low) in one task."""
        rows = self._engine.session.range(0, 1, 1, 1).select(F.explode(F.array(*map(F.lit, lows))).alias("low"))
        records = rows.select(
            F.lit(self._target).alias("topic"),
            F.lit(b"k").alias("key"),
            F.concat(F.lit("again "), F.col("low").cast("string")).cast("binary").alias("value"),
            F.lit(0).cast("long").alias("ts"),
            F.lit(None).cast(HEADERS).alias("headers"),
            F.lit(1).cast("long").alias(HIGH),
            F.col("low").cast("long").alias(LOW),
        )
        records.write.format(TOPIC_SINK).options(**self._options).mode("append").save()


@pytest.fixture
def target(topic: TopicFactory) -> str:
    return topic("out")


@pytest.fixture
def query(engine: SparkEngine, broker: Broker, target: str, tmp_path: Path) -> Query:
    return Query(engine, broker.bootstrap, target, tmp_path)


def transactional(broker: Broker, transactional_id: str) -> Producer:
    """A producer with an open transaction."""
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": transactional_id})
    producer.init_transactions(30)
    producer.begin_transaction()
    return producer


def produce(producer: Producer, target: str, batch: str, low: int, value: bytes) -> None:
    headers: list[tuple[str, str | bytes | None]] = [
        (BATCH_HEADER, batch.encode()),
        (IDENTITY_HEADER, struct.pack(">qq", 1, low)),
    ]
    producer.produce(target, value, b"k", headers=headers)
    producer.flush(30)


def leave_open(broker: Broker, target: str, query: Query, slot: int, lows: Iterable[int]) -> None:
    """Write records with the identities (1, low) in a transaction of another process, and kill it."""
    identities = json.dumps([(1, low) for low in lows])
    arguments = [broker.bootstrap, target, f"{query.writer}{slot}", query.batch, identities]
    process = Process(
        [sys.executable, "-c", LEFT_OPEN, *arguments], name="lost", probe=lambda: "written" in process.output()
    )
    with process:
        process.kill()


def values(broker: Broker, target: str) -> list[bytes | None]:
    return [record.value for record in broker.consume_committed(target)]


def test_a_transaction_that_a_killed_process_has_left_open_is_committed_and_its_records_are_left_out(
    broker: Broker, target: str, query: Query
) -> None:
    leave_open(broker, target, query, 0, [10, 11])
    leave_open(broker, target, query, 1, [12])
    query.remember_offset(0)
    assert broker.consume_all(target, isolation="read_committed") == []

    with query.opened():
        assert values(broker, target) == [b"lost 10", b"lost 11", b"lost 12"]
        query.write([9, 10, 11, 12, 13])

    assert values(broker, target) == [b"lost 10", b"lost 11", b"lost 12", b"again 9", b"again 13"]
    assert values(broker, target) == [record.value for record in broker.consume_all(target)]


def test_a_process_that_still_runs_cannot_write_any_more(broker: Broker, target: str, query: Query) -> None:
    old = transactional(broker, f"{query.writer}0")
    produce(old, target, query.batch, 10, b"before")
    query.remember_offset(0)

    with query.opened():
        assert values(broker, target) == [b"before"]
        with pytest.raises(KafkaException, match="fenced"):
            produce(old, target, query.batch, 11, b"after")

    assert [record.value for record in broker.consume_all(target)] == [b"before"]


def test_only_committed_records_of_the_batch_after_the_remembered_offset_are_left_out(
    broker: Broker, target: str, query: Query
) -> None:
    aborted = transactional(broker, f"aborted-{target}")
    produce(aborted, target, query.batch, 10, b"aborted")
    aborted.abort_transaction(30)
    others = [query.batch, f"{query.writer}6", f"app-{target}/0123abcd/other/7", f"app-{target}/99999999/q/7"]
    for name, low in zip(others, (11, 12, 13, 14), strict=True):
        identity = (IDENTITY_HEADER, struct.pack(">qq", 1, low))
        broker.produce(target, [Record(b"k", name.encode(), headers=((BATCH_HEADER, name.encode()), identity))])
    start = broker.end_offsets(target)[0]
    broker.produce(target, [Record(b"k", b"found", headers=((BATCH_HEADER, query.batch.encode()), identity))])
    query.remember_offset(start)

    with query.opened():
        query.write([10, 11, 12, 13, 14])

    assert values(broker, target)[len(others) :] == [b"found", *(b"again %d" % low for low in (10, 11, 12, 13))]


def test_the_open_transaction_of_another_producer_does_not_delay_the_start(
    broker: Broker, target: str, query: Query
) -> None:
    """A consumer of committed records does not see the query's records that follow it."""
    leave_open(broker, target, query, 0, [10])
    other = transactional(broker, f"other-{target}")
    other.produce(target, b"other", b"k")
    other.flush(30)
    leave_open(broker, target, query, 1, [11])
    query.remember_offset(0)

    with query.opened():
        query.write([10, 11, 12])
    assert [record.value for record in broker.consume_all(target)] == [b"lost 10", b"other", b"lost 11", b"again 12"]

    other.commit_transaction(30)
    assert values(broker, target) == [b"lost 10", b"other", b"lost 11", b"again 12"]


def abort_beside_another(broker: Broker, target: str, query: Query) -> Producer:
    """Abort a transaction of the query, after the first record of another producer, whose transaction stays open."""
    other = transactional(broker, f"other-{target}")
    other.produce(target, b"other", b"k")
    other.flush(30)
    aborted = transactional(broker, f"{query.writer}0")
    produce(aborted, target, query.batch, 10, b"aborted")
    aborted.abort_transaction(30)
    query.remember_offset(0)
    return other


def test_the_start_waits_for_another_producer_if_the_brokers_have_aborted_a_transaction_of_the_query(
    broker: Broker, target: str, query: Query
) -> None:
    """Whether the records after the first of the other producer belong to the aborted transaction is not known yet."""
    other = abort_beside_another(broker, target, query)

    def start() -> None:
        with query.opened():
            query.write([10])

    with ThreadPoolExecutor(1) as thread:
        starting = thread.submit(start)
        with pytest.raises(NotInTime):
            starting.result(3)
        other.commit_transaction(30)
        starting.result(20)

    assert values(broker, target) == [b"other", b"again 10"]


def test_an_abort_is_remembered_if_the_start_that_has_found_it_is_killed(
    engine: SparkEngine, broker: Broker, target: str, query: Query, tmp_path: Path
) -> None:
    """A start opens producers with the ids, and then the brokers do not tell it any more."""
    other = abort_beside_another(broker, target, query)

    def start(opening: Query) -> None:
        with opening.opened():
            pass

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(start, query)
        with pytest.raises(NotInTime):
            first.result(3)
        folder = Path(shutil.copytree(tmp_path, tmp_path.with_suffix(".after-kill")))
        after_kill = Query(engine, broker.bootstrap, target, folder)
        second = threads.submit(start, after_kill)
        with pytest.raises(NotInTime):
            second.result(3)
        other.commit_transaction(30)
        first.result(20)
        second.result(20)
    with after_kill.opened():
        after_kill.write([10])

    assert values(broker, target) == [b"other", b"again 10"]


def test_an_open_transaction_is_committed_whatever_the_number_of_its_id(
    broker: Broker, target: str, query: Query
) -> None:
    """The brokers forget ids that were not used for a week, and so leave gaps."""
    leave_open(broker, target, query, 40, [10])
    query.remember_offset(0)

    with query.opened():
        query.write([10, 11])

    assert values(broker, target) == [b"lost 10", b"again 11"]


def test_a_transaction_may_be_open_as_long_as_the_brokers_allow(engine: SparkEngine, tmp_path: Path) -> None:
    with Broker({"transaction.max.timeout.ms": "130500"}) as short:
        short.create_topic("source")
        short.create_topic("out")
        short.produce("source", [Record(b"k", b'{"id": 1}')])
        with in_process(
            engine, short.bootstrap, "INSERT INTO out SELECT STREAM * FROM source", "app", tmp_path
        ) as running:
            status = running.read_to(1)

        assert any("open for 130 s only" in text for text in status.warnings), status.warnings
        assert values(short, "out") == [b'{"id": 1}']


def test_a_target_that_the_program_did_not_have_before_is_not_read(
    broker: Broker, target: str, topic: TopicFactory, query: Query
) -> None:
    """It may have any number of records. Nothing of the batch can be there: its present end is saved."""
    other = topic("other")
    broker.produce(target, [Record(b"k", b"of another producer")] * 5)
    query.remember_offset(0, other)

    with query.opened():
        saved = query.remembered_offsets()

    assert saved[BATCH] == {other: {"0": 0}, target: {"0": 5}}


def test_a_target_that_was_created_again_is_searched_from_its_first_record(
    broker: Broker, target: str, query: Query
) -> None:
    """It may have more records than the remembered offset, which belongs to the deleted topic."""
    broker.produce(target, [Record(b"k", b"of the deleted topic")] * 3)
    with query.opened():
        assert query.remembered_offsets() == {BATCH: {target: {"0": 3}}}
    broker.delete_topic(target)
    broker.create_topic(target)
    producer = transactional(broker, f"{query.writer}0")
    for low in range(5):
        produce(producer, target, query.batch, low, b"written %d" % low)
    producer.commit_transaction(30)

    with query.opened():
        query.write(range(6))

    assert values(broker, target) == [*(b"written %d" % low for low in range(5)), b"again 5"]


def test_without_remembered_offsets_the_targets_of_a_known_writer_are_searched_from_their_first_record(
    broker: Broker, target: str, query: Query
) -> None:
    """A checkpoint that was restored from a copy made before the first offsets were saved."""
    leave_open(broker, target, query, 0, [10, 11])

    with query.opened():
        assert query.remembered_offsets()[BATCH] == {target: {"0": 0}}
        query.write([10, 11, 12])

    assert values(broker, target) == [b"lost 10", b"lost 11", b"again 12"]


def test_with_state_the_next_batch_is_not_searched_before_the_ends_at_the_start(
    broker: Broker, target: str, query: Query
) -> None:
    """A restored checkpoint gives the numbers of batches again."""
    broker.produce(target, [Record(b"k", b"of the next batch, before the restore")] * 5)
    query.remember_offset(2)

    with query.opened():
        saved = query.remembered_offsets()

    assert saved == {BATCH: {target: {"0": 2}}, BATCH + 1: {target: {"0": 5}}}
