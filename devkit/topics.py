"""Topics, records and consumer groups of a broker, for tests. Each call returns when its work is done."""

import subprocess
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, cast

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    IsolationLevel,
    KafkaError,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # exported, but not in the way mypy asks for
    AdminClient,
    NewTopic,
    OffsetSpec,
)

from devkit.consumer_groups import GroupPartition, parse_describe
from devkit.jars import jar_folder, java_command
from devkit.records import Record

Isolation = Literal["read_uncommitted", "read_committed"]
Config = dict[str, str | int | float | bool]

CLIENT_CONFIG: Config = {
    "log_level": 0,  # clients log each refused connection of a restarted broker; a failed test says more
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 200,
}
ADMIN_DEADLINE_S = 30


class Topics:
    """Operations on the broker at `bootstrap`. They raise AssertionError if they do not end in time.

    Clients are kept and reused, because a new one takes half a second to be ready. Threads may share the object.
    """

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self._producers: list[Producer] = []
        self._consumers: dict[Isolation, list[Consumer]] = {"read_committed": [], "read_uncommitted": []}

    def close_clients(self) -> None:
        """Close the clients; the next call makes new ones."""
        self._producers.clear()
        for idle in self._consumers.values():
            while idle:
                idle.pop().close()

    def create_topic(
        self, name: str, partitions: int = 1, config: Mapping[str, str] | None = None, *, replication: int = 1
    ) -> None:
        """Create a topic that keeps records of any age; returns when clients see all its partitions."""
        admin = self._admin()
        topic = NewTopic(name, partitions, replication, config={"retention.ms": "-1", **(config or {})})
        admin.create_topics([topic])[name].result(ADMIN_DEADLINE_S)
        deadline = time.monotonic() + ADMIN_DEADLINE_S
        while len(_partitions(admin, name)) < partitions:
            if time.monotonic() > deadline:
                raise AssertionError(f"topic {name} has fewer than {partitions} partitions after {ADMIN_DEADLINE_S} s")

    def delete_topic(self, name: str) -> None:
        """Delete a topic."""
        admin = self._admin()
        admin.delete_topics([name])[name].result(ADMIN_DEADLINE_S)

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        """Delete the records of a partition before an offset, as retention does."""
        admin = self._admin()
        for future in admin.delete_records([TopicPartition(topic, partition, before)]).values():
            future.result(ADMIN_DEADLINE_S)

    def produce(self, topic: str, records: Iterable[Record], deadline_s: float = 30) -> None:
        """Write records in order; returns when the broker has all of them.

        A timestamp of 0 is a ValueError: the client library would write the current time.
        """
        producer = self._producers.pop() if self._producers else self._new_producer()
        errors: list[KafkaError] = []

        def on_delivery(error: KafkaError | None, _: Message) -> None:
            if error is not None:
                errors.append(error)

        for record in records:
            if record.timestamp_ms == 0:
                raise ValueError(f"timestamp_ms of {record} cannot be 0, use 1")
            producer.produce(
                topic,
                key=record.key,
                value=record.value,
                headers=list(record.headers),
                on_delivery=on_delivery,
                partition=-1 if record.partition is None else record.partition,
                timestamp=0 if record.timestamp_ms is None else record.timestamp_ms,
            )
        missing = producer.flush(deadline_s)
        if missing or errors:
            raise AssertionError(f"{missing} records not on {topic} in {deadline_s} s, errors: {errors}")
        self._producers.append(producer)

    def consume(
        self, topic: str, count: int, deadline_s: float = 30, isolation: Isolation = "read_uncommitted"
    ) -> list[Record]:
        """The first `count` records that arrive from the beginning, by partition and offset.

        Raises AssertionError, with the records so far, after the deadline.
        """
        records: list[Record] = []
        deadline = time.monotonic() + deadline_s
        with self._reading(topic, isolation) as (consumer, _):
            while len(records) < count:
                message = consumer.poll(max(0.0, min(1.0, deadline - time.monotonic())))
                if message is not None and message.error() is None:
                    records.append(_record(message))
                elif time.monotonic() > deadline:
                    arrived = f"{len(records)} of {count} records"
                    raise AssertionError(f"{arrived} on {topic} in {deadline_s} s: {records}")
        return sorted(records, key=_position)

    def consume_all(
        self, topic: str, deadline_s: float = 30, isolation: Isolation = "read_uncommitted"
    ) -> list[Record]:
        """All records that the topic has now, by partition and offset.

        Raises AssertionError if the end of a partition is not reached by the deadline.
        """
        records: list[Record] = []
        deadline = time.monotonic() + deadline_s
        with self._reading(topic, isolation) as (consumer, partitions):
            unread = set(partitions)
            while unread:
                message = consumer.poll(max(0.0, min(1.0, deadline - time.monotonic())))
                if message is not None and _at_end(message):
                    unread.discard(message.partition())
                elif message is not None and message.error() is None:
                    records.append(_record(message))
                if unread and time.monotonic() > deadline:
                    raise AssertionError(f"end of {topic} {sorted(unread)} not reached in {deadline_s} s")
        return sorted(records, key=_position)

    def consume_committed(self, topic: str, deadline_s: float = 30) -> list[Record]:
        """All records of the topic, once no transaction is open.

        A commit returns before the partitions have its marker, so a reader of committed records may not see them yet.
        Raises AssertionError if a transaction is still open at the deadline.
        """
        deadline = time.monotonic() + deadline_s
        while (stable := self.end_offsets(topic, "read_committed")) != (ends := self.end_offsets(topic)):
            assert time.monotonic() < deadline, f"a transaction in {topic} is open: {stable} of {ends}"
        return self.consume_all(topic, deadline_s, "read_committed")

    @contextmanager
    def member(self, group: str, topic: str, deadline_s: float = 30) -> Iterator[None]:
        """In the block, a consumer of the topic is a member of the group, that commits nothing.

        Raises AssertionError if it has not joined by the deadline.
        """
        consumer = Consumer(self._config({"group.id": group, "enable.auto.commit": False}))
        try:
            consumer.subscribe([topic])
            deadline = time.monotonic() + deadline_s
            while not consumer.assignment():
                assert time.monotonic() < deadline, f"no member of {group} in {deadline_s} s"
                consumer.poll(0.1)
            yield
        finally:
            consumer.close()

    def end_offsets(self, topic: str, isolation: Isolation = "read_uncommitted") -> dict[int, int]:
        """The offset after the last record that such a reader sees, for each partition."""
        admin = self._admin()
        latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
        wanted = {TopicPartition(topic, partition): latest for partition in _partitions(admin, topic)}
        futures = admin.list_offsets(wanted, isolation_level=IsolationLevel[isolation.upper()])
        return {place.partition: future.result(ADMIN_DEADLINE_S).offset for place, future in futures.items()}

    def consumer_groups_describe(self, group: str) -> list[GroupPartition]:
        """The output of Kafka's `kafka-consumer-groups --describe` for a group.

        Raises AssertionError, with the output of the tool, if there is no such group.
        """
        tool = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
        quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"
        command = java_command(jar_folder("broker-jars"), tool, quiet)
        command += ["--bootstrap-server", self.bootstrap, "--describe", "--group", group]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        rows = parse_describe(result.stdout)
        if not rows:
            raise AssertionError(f"no group {group}: {result.stdout}{result.stderr}")
        return rows

    def _config(self, more: Config) -> Config:
        return {**CLIENT_CONFIG, "bootstrap.servers": self.bootstrap, **more}

    def _admin(self) -> AdminClient:
        """A client; the caller keeps it in a variable while it awaits futures, which end with the client."""
        return AdminClient(self._config({}))

    def _new_producer(self) -> Producer:
        # The partitioner of the Java clients, so that a key is in the same partition as in the engine's output.
        settings: Config = {"enable.idempotence": True, "partitioner": "murmur2_random", "linger.ms": 1}
        settings["queue.buffering.max.messages"] = 1_000_000
        return Producer(self._config(settings))

    def _new_consumer(self, isolation: Isolation) -> Consumer:
        settings: Config = {
            "group.id": f"kit-{uuid.uuid4()}",  # required by the client, but nothing is committed
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 20,
            "isolation.level": isolation,
        }
        return Consumer(self._config(settings))

    @contextmanager
    def _reading(self, topic: str, isolation: Isolation) -> Iterator[tuple[Consumer, list[int]]]:
        """A consumer at the beginning of all partitions, and the partitions."""
        idle = self._consumers[isolation]
        consumer = idle.pop() if idle else self._new_consumer(isolation)
        try:
            # From this client: one that does not know the topic yet would wait for up to a second.
            partitions = _partitions(consumer, topic)
            if not partitions:
                raise AssertionError(f"there is no topic {topic}")
            consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in partitions])
            yield consumer, partitions
            consumer.unassign()
        except BaseException:
            consumer.close()
            raise
        idle.append(consumer)


def _partitions(client: AdminClient | Consumer, topic: str) -> list[int]:
    """The partitions that have a leader; none while the topic is unknown."""
    metadata = client.list_topics(topic, timeout=ADMIN_DEADLINE_S).topics[topic]
    return [number for number, partition in metadata.partitions.items() if partition.leader >= 0]


def _at_end(message: Message) -> bool:
    error = message.error()
    return error is not None and error.code() == KafkaError._PARTITION_EOF


def _record(message: Message) -> Record:
    _, timestamp_ms = message.timestamp()
    return Record(
        key=message.key(),
        value=message.value(),
        headers=tuple(cast("list[tuple[str, bytes | None]]", message.headers() or [])),
        timestamp_ms=timestamp_ms,
        partition=message.partition(),
        offset=message.offset(),
    )


def _position(record: Record) -> tuple[int, int]:
    return record.partition or 0, record.offset or 0
