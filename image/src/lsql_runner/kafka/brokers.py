"""Questions to the brokers, each with a deadline; a broker that does not answer is BROKER_UNREACHABLE."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol

import stamina
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec  # type: ignore[attr-defined]

from lsql_runner.batches import Partition
from lsql_runner.errors import LsqlError
from lsql_runner.kafka.client import KafkaConnection

_ANSWER_S = 10.0


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A record as the brokers hold it."""

    partition: Partition
    offset: int
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class TopicRequest:
    """A topic to be made; None and the empty tuple leave the choice to the brokers."""

    name: str
    partitions: int | None = None
    replication: int | None = None
    config: tuple[tuple[str, str], ...] = ()


class Brokers(Protocol):
    """What a processor asks of its brokers."""

    def topics(self) -> dict[str, int]:
        """All topics with the number of their partitions."""

    def create(self, request: TopicRequest) -> None:
        """Make a topic; one that exists already is left as it is."""

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """The end of each partition: the offset that the next record will have."""

    def group_positions(self, group: str, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """What a consumer group has committed; partitions without a position are left out."""

    def commit(self, group: str, positions: Mapping[Partition, int]) -> None:
        """Commit positions for a group that has no members."""

    def sample(self, topic: str, limit: int) -> list[RawRecord]:
        """Up to `limit` of the newest records of a topic, over all its partitions."""

    def record(self, partition: Partition, offset: int) -> RawRecord | None:
        """One record; None if it is gone."""


class KafkaBrokers:
    """Brokers, asked through confluent-kafka."""

    def __init__(self, connection: KafkaConnection) -> None:
        self._connection = connection
        self._admin = AdminClient(connection.librdkafka())  # kept: its futures die with it
        self._before = self._admin
        self._consumers: dict[str, Consumer] = {}
        self._lock = Lock()

    def topics(self) -> dict[str, int]:
        try:
            found = self._admin.list_topics(timeout=_ANSWER_S).topics
        except KafkaException as error:
            raise self._unreachable(error) from None
        return {name: len(topic.partitions) for name, topic in found.items() if topic.error is None}

    def create(self, request: TopicRequest) -> None:
        new = NewTopic(
            request.name,
            num_partitions=request.partitions or -1,
            replication_factor=request.replication or -1,
            config=dict(request.config),
        )
        try:
            self._admin.create_topics([new], request_timeout=_ANSWER_S)[request.name].result(_ANSWER_S * 2)
        except KafkaException as error:
            code = error.args[0].code()
            if code == KafkaError.TOPIC_ALREADY_EXISTS:
                return
            if code in _TRANSPORT:
                raise self._unreachable(error) from None
            raise LsqlError("TOPIC_REFUSED", topic=request.name, why=error.args[0].str()) from None

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        return self._offsets(partitions, OffsetSpec.latest())  # type: ignore[no-untyped-call]

    def begins(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """The first offset of each partition that the brokers still hold."""
        return self._offsets(partitions, OffsetSpec.earliest())  # type: ignore[no-untyped-call]

    def _offsets(self, partitions: Iterable[Partition], spec: OffsetSpec) -> dict[Partition, int]:
        asked = {TopicPartition(p.topic, p.partition): spec for p in partitions}
        if not asked:
            return {}
        futures = self._admin.list_offsets(asked, request_timeout=_ANSWER_S)
        return {Partition(tp.topic, tp.partition): self._result(future).offset for tp, future in futures.items()}

    def group_positions(self, group: str, partitions: Iterable[Partition]) -> dict[Partition, int]:
        asked = [TopicPartition(p.topic, p.partition) for p in partitions]
        found = self._of_group(group, lambda consumer: consumer.committed(asked, timeout=_ANSWER_S)) if asked else []
        return {Partition(tp.topic, tp.partition): tp.offset for tp in found if tp.offset >= 0}

    def commit(self, group: str, positions: Mapping[Partition, int]) -> None:
        offsets = [TopicPartition(p.topic, p.partition, offset) for p, offset in positions.items()]
        self._of_group(group, lambda consumer: consumer.commit(offsets=offsets, asynchronous=False))

    def sample(self, topic: str, limit: int) -> list[RawRecord]:
        count = self.topics().get(topic, 0)
        partitions = [Partition(topic, number) for number in range(count)]
        ends, begins = self.ends(partitions), self.begins(partitions)
        share = max(1, limit // max(1, count))
        spans = {p: (max(begins[p], ends[p] - share), ends[p]) for p in partitions}
        return self._read({p: span for p, span in spans.items() if span[0] < span[1]})[:limit]

    def record(self, partition: Partition, offset: int) -> RawRecord | None:
        found = self._read({partition: (offset, offset + 1)})
        return found[0] if found else None

    def _read(self, spans: Mapping[Partition, tuple[int, int]]) -> list[RawRecord]:
        """The records in `[start, end)` of each partition, without joining any group."""
        if not spans:
            return []
        consumer = Consumer(
            self._connection.librdkafka()
            | {"group.id": "lsql-sample", "enable.auto.commit": False, "enable.partition.eof": True}
        )
        try:
            consumer.assign([TopicPartition(p.topic, p.partition, start) for p, (start, _) in spans.items()])
            return self._drain(consumer, dict(spans))
        finally:
            consumer.close()

    def _drain(self, consumer: Consumer, left: dict[Partition, tuple[int, int]]) -> list[RawRecord]:
        found: list[RawRecord] = []
        while left:
            message = consumer.poll(_ANSWER_S)
            if message is None:
                raise LsqlError(
                    "BROKER_UNREACHABLE",
                    servers=self._connection.servers,
                    why=f"no record came within {_ANSWER_S:.0f} s",
                )
            partition = Partition(message.topic() or "", message.partition() or 0)
            error = message.error()
            if error is not None and error.code() != KafkaError._PARTITION_EOF:
                raise self._unreachable(KafkaException(error))
            offset = message.offset() or 0
            if error is not None:
                left.pop(partition, None)
                continue
            if partition in left and offset < left[partition][1]:
                found.append(RawRecord(partition, offset, _bytes(message.key()), _bytes(message.value())))
            if partition in left and offset >= left[partition][1] - 1:
                left.pop(partition)
        return found

    def _of_group(self, group: str, ask: Callable[[Consumer], list[TopicPartition] | None]) -> list[TopicPartition]:
        """The answer of a group's coordinator, which may still be settling: the first group of a cluster makes it.

        Asked through a consumer that never joins the group, not through the admin client: confluent-kafka 2.16
        crashes now and then on the answer of a coordinator that is still loading.
        """

        @stamina.retry(on=_is_settling, timeout=_ANSWER_S, wait_initial=0.05, wait_max=0.5)
        def answer(consumer: Consumer) -> list[TopicPartition]:
            found = ask(consumer) or []
            failed = next((place.error for place in found if place.error is not None), None)
            if failed is not None:
                raise KafkaException(failed)
            return found

        with self._lock:
            consumer = self._consumers.pop(group, None) or self._group_consumer(group)
            try:
                found = answer(consumer)
            except KafkaException as error:
                consumer.close()
                raise self._unreachable(error) from None
            self._consumers[group] = consumer
            return found

    def _group_consumer(self, group: str) -> Consumer:
        waits = {"session.timeout.ms": 10_000, "heartbeat.interval.ms": 3_000}  # how long a commit seeks a coordinator
        return Consumer(self._connection.librdkafka() | {"group.id": group, "enable.auto.commit": False} | waits)

    def _result(self, future: Any) -> Any:
        try:
            return future.result(_ANSWER_S * 2)
        except (KafkaException, TimeoutError) as error:
            raise self._unreachable(error) from None

    def _unreachable(self, error: BaseException) -> LsqlError:
        # A client that has seen a broker go may never get over its leader epochs: the next question gets a new one.
        # The old one lives a little longer, since another thread may be waiting for its futures.
        self._before, self._admin = self._admin, AdminClient(self._connection.librdkafka())
        why = error.args[0].str() if isinstance(error, KafkaException) else f"no answer within {_ANSWER_S:.0f} s"
        return LsqlError("BROKER_UNREACHABLE", servers=self._connection.servers, why=why)


def _is_settling(error: Exception) -> bool:
    """Whether a coordinator asks to be asked again."""
    return isinstance(error, KafkaException) and error.args[0].code() in _SETTLING


_SETTLING = {
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
}
_TRANSPORT = {
    KafkaError._TRANSPORT,
    KafkaError._TIMED_OUT,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError._RESOLVE,
}


def _bytes(data: Any) -> bytes | None:
    return data.encode() if isinstance(data, str) else data
