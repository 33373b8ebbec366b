"""Questions to the brokers, each with a deadline.

Brokers that do not answer are BROKER_UNREACHABLE; brokers that answer with a no are BROKER_REFUSED.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol

import stamina
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ConfigResource,
    NewTopic,
    OffsetSpec,
    ResourceType,
)
from stamina.instrumentation import LoggingOnRetryHook, set_on_retry_hooks

from lsql_runner.errors import Detail, LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.client import KafkaConnection
from lsql_runner.kafka.reasons import REASONS
from lsql_runner.kafka.refusals import ends_handshake, is_refusal, reason

# A retry is logged as libraries log. Where structlog is installed stamina takes that, which prints to stdout unless it
# is configured: into the answers of commands.
set_on_retry_hooks([LoggingOnRetryHook])


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


@dataclass(frozen=True, slots=True)
class TopicLimits:
    """What a topic takes, as far as the brokers tell."""

    batch_bytes: int | None = None
    """The largest batch of records."""
    compacted: bool = False
    """No record without a key."""


class Brokers(Protocol):
    """What a processor asks of its brokers."""

    def topics(self) -> dict[str, int]:
        """All topics with the number of their partitions."""

    def create(self, request: TopicRequest) -> bool:
        """Make a topic; one that exists already is left as it is, and False is returned."""

    def delete_topic(self, name: str) -> None:
        """Take a topic away with all its records; one that is not there is left alone."""

    def delete_group(self, group: str) -> None:
        """Take a consumer group without members away; one that is not there is left alone."""

    def limits(self, topics: Iterable[str]) -> dict[str, TopicLimits]:
        """What topics take, without those that nobody may ask about. It never fails: who does not know finds out later,
        and less politely."""

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """The end of each partition: the offset that the next record will have."""

    def begins(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """The first offset of each partition that the brokers still hold."""

    def group_positions(self, group: str, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """What a consumer group has committed; partitions without a position are left out."""

    def commit(self, group: str, positions: Mapping[Partition, int]) -> None:
        """Commit positions for a group that has no members."""

    def sample(self, topic: str, limit: int) -> list[RawRecord]:
        """Up to `limit` of the newest records of a topic, over all its partitions."""

    def record(self, partition: Partition, offset: int) -> RawRecord | None:
        """One record; None if it is gone."""

    def close(self) -> None:
        """Let all connections go. No question may be asked after it."""


Spans = dict[Partition, tuple[int, int]]
"""Offsets by partition, from the first to before the second."""


class Sampling(ABC):
    """Records by their places, from whichever client reads a span of offsets."""

    @abstractmethod
    def topics(self) -> dict[str, int]: ...

    @abstractmethod
    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]: ...

    @abstractmethod
    def begins(self, partitions: Iterable[Partition]) -> dict[Partition, int]: ...

    @abstractmethod
    def _read(self, spans: Spans) -> list[RawRecord]:
        """The records in `[start, end)` of each partition, without joining any group."""

    def sample(self, topic: str, limit: int) -> list[RawRecord]:
        return self._read(self._newest(topic, limit))[:limit]

    def record(self, partition: Partition, offset: int) -> RawRecord | None:
        found = self._read({partition: (offset, offset + 1)})
        return found[0] if found else None

    def _newest(self, topic: str, limit: int) -> Spans:
        """Where the newest records of a topic lie: about `limit` of them, as many of each partition."""
        count = self.topics().get(topic, 0)
        partitions = [Partition(topic, number) for number in range(count)]
        ends, begins = self.ends(partitions), self.begins(partitions)
        share = max(1, limit // max(1, count))
        spans = {p: (max(begins[p], ends[p] - share), ends[p]) for p in partitions}
        return {p: span for p, span in spans.items() if span[0] < span[1]}


def leaderless(found: Mapping[Partition, int]) -> Detail | None:
    """What is wrong with offsets as told: a broker that goes down or comes up answers -1 and no error."""
    return next(
        (REASONS("NO_LEADER", topic=p.topic, partition=p.partition) for p, offset in found.items() if offset < 0),
        None,
    )


class KafkaBrokers(Sampling):
    """Brokers, asked through confluent-kafka.

    Raises:
        LsqlError: KAFKA_SETTINGS_INVALID when it is made; BROKER_UNREACHABLE or BROKER_REFUSED, from every method.
    """

    def __init__(self, connection: KafkaConnection, answer_s: float = 10.0) -> None:
        self._connection = connection
        self._answer_s = answer_s
        """Deadline of each question."""
        self._handshake_error: KafkaError | None = None
        self._admin = self._new_admin()  # kept: its futures die with it
        self._before = self._admin
        self._consumers: dict[str, Consumer] = {}
        self._lock = Lock()

    def topics(self) -> dict[str, int]:
        try:
            found = self._admin.list_topics(timeout=self._answer_s).topics
        except KafkaException as error:
            raise self._failed(error) from None
        return {name: len(topic.partitions) for name, topic in found.items() if topic.error is None}

    def create(self, request: TopicRequest) -> bool:
        new = NewTopic(
            request.name,
            num_partitions=request.partitions or -1,
            replication_factor=request.replication or -1,
            config=dict(request.config),
        )
        try:
            self._admin.create_topics([new], request_timeout=self._answer_s)[request.name].result(self._answer_s * 2)
        except KafkaException as error:
            code = error.args[0].code()
            if code == KafkaError.TOPIC_ALREADY_EXISTS:
                return False
            if code in _TRANSPORT:
                raise self._failed(error) from None
            raise LsqlError("TOPIC_REFUSED", topic=request.name, reason=error.args[0].str()) from None
        return True

    def delete_topic(self, name: str) -> None:
        future = self._admin.delete_topics([name], request_timeout=self._answer_s)[name]
        self._gone(future, KafkaError.UNKNOWN_TOPIC_OR_PART)

    def delete_group(self, group: str) -> None:
        future = self._admin.delete_consumer_groups([group], request_timeout=self._answer_s)[group]
        self._gone(future, KafkaError.GROUP_ID_NOT_FOUND)

    def _gone(self, future: Any, absent: int) -> None:
        """Waits for a deletion; `absent` is the code for what is not there."""
        try:
            future.result(self._answer_s * 2)
        except (KafkaException, TimeoutError) as error:
            if not isinstance(error, KafkaException) or error.args[0].code() != absent:
                raise self._failed(error) from None

    def limits(self, topics: Iterable[str]) -> dict[str, TopicLimits]:
        asked = [ConfigResource(ResourceType.TOPIC, topic) for topic in topics]
        found: dict[str, TopicLimits] = {}
        answers = self._admin.describe_configs(asked, request_timeout=self._answer_s) if asked else {}
        for resource, future in answers.items():
            with suppress(KafkaException, TimeoutError, KeyError):
                told = future.result(self._answer_s * 2)
                largest, cleanup = told["max.message.bytes"].value, told["cleanup.policy"].value
                found[resource.name] = TopicLimits(int(largest), "compact" in cleanup)
        return found

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        return self._offsets(partitions, OffsetSpec.latest())  # type: ignore[no-untyped-call]

    def begins(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        return self._offsets(partitions, OffsetSpec.earliest())  # type: ignore[no-untyped-call]

    def _offsets(self, partitions: Iterable[Partition], spec: OffsetSpec) -> dict[Partition, int]:
        asked = {TopicPartition(p.topic, p.partition): spec for p in partitions}
        if not asked:
            return {}
        futures = self._admin.list_offsets(asked, request_timeout=self._answer_s)
        found = {Partition(tp.topic, tp.partition): self._result(future).offset for tp, future in futures.items()}
        if (why := leaderless(found)) is not None:
            raise self._unreachable(why)
        return found

    def group_positions(self, group: str, partitions: Iterable[Partition]) -> dict[Partition, int]:
        asked = [TopicPartition(p.topic, p.partition) for p in partitions]
        found = (
            self._of_group(group, lambda consumer: consumer.committed(asked, timeout=self._answer_s)) if asked else []
        )
        return {Partition(tp.topic, tp.partition): tp.offset for tp in found if tp.offset >= 0}

    def commit(self, group: str, positions: Mapping[Partition, int]) -> None:
        offsets = [TopicPartition(p.topic, p.partition, offset) for p, offset in positions.items()]
        self._of_group(group, lambda consumer: consumer.commit(offsets=offsets, asynchronous=False))

    def close(self) -> None:
        with self._lock:
            while self._consumers:
                self._consumers.popitem()[1].close()

    def _read(self, spans: Spans) -> list[RawRecord]:
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

    def _drain(self, consumer: Consumer, left: Spans) -> list[RawRecord]:
        found: list[RawRecord] = []
        while left:
            message = consumer.poll(self._answer_s)
            if message is None:
                raise self._unreachable(REASONS("NO_RECORD", seconds=f"{self._answer_s:.0f}"))
            partition = Partition(message.topic() or "", message.partition() or 0)
            error = message.error()
            if error is not None and error.code() != KafkaError._PARTITION_EOF:
                raise self._failed(KafkaException(error))
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

        @stamina.retry(on=_is_settling, timeout=self._answer_s, wait_initial=0.05, wait_max=0.5)
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
                # A coordinator that refuses is only waited for; what it said lies where records would.
                heard = consumer.poll(0)
                refusal = None if heard is None else heard.error()
                consumer.close()
                raise self._failed(error if refusal is None else KafkaException(refusal)) from None
            self._consumers[group] = consumer
            return found

    def _group_consumer(self, group: str) -> Consumer:
        wait_ms = int(self._answer_s * 1000)
        waits = {"session.timeout.ms": wait_ms, "heartbeat.interval.ms": wait_ms // 3}  # a commit seeks so long
        return Consumer(self._connection.librdkafka() | {"group.id": group, "enable.auto.commit": False} | waits)

    def _result(self, future: Any) -> Any:
        try:
            return future.result(self._answer_s * 2)
        except (KafkaException, TimeoutError) as error:
            raise self._failed(error) from None

    def _new_admin(self) -> AdminClient:
        self._handshake_error = None
        try:
            return AdminClient({**self._connection.librdkafka(), "error_cb": self._heard})  # type: ignore[dict-item]
        except KafkaException as error:  # settings that it cannot use, or was built without
            raise LsqlError("KAFKA_SETTINGS_INVALID", reason=error.args[0].str()) from None

    def _heard(self, error: KafkaError) -> None:
        """A client whose credentials are refused tells it only here: its questions just time out."""
        if ends_handshake(error):
            self._handshake_error = error

    def _failed(self, error: BaseException) -> LsqlError:
        told = error.args[0] if isinstance(error, KafkaException) else None
        self._admin.poll(0)  # calls _heard
        if self._handshake_error is not None and (told is None or told.code() in _TRANSPORT):
            told = self._handshake_error
        # A client that has seen a broker go may never get over its leader epochs: the next question gets a new one.
        # The old one lives a little longer, since another thread may be waiting for its futures.
        self._before, self._admin = self._admin, self._new_admin()
        if told is not None and is_refusal(told):
            return LsqlError("BROKER_REFUSED", servers=self._connection.servers, reason=reason(told))
        late = REASONS("TIMEOUT", seconds=f"{self._answer_s:.0f}")
        return self._unreachable(late if told is None else told.str())

    def _unreachable(self, why: str) -> LsqlError:
        return LsqlError("BROKER_UNREACHABLE", servers=self._connection.servers, reason=why)


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
