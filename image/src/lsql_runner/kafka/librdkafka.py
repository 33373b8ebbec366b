"""Brokers through confluent-kafka (librdkafka), which runs in this process. Every request has a deadline.

Brokers that do not answer are BROKER_UNREACHABLE; brokers that answer with an error about rights or credentials are
BROKER_REFUSED.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ConfigResource,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.granted_rights import may_read_group, may_write_transactional_id, topic_operations
from lsql_runner.kafka.group_requests import GroupRequests
from lsql_runner.kafka.offset_ranges import OffsetRanges, RangeReader, missing_leader
from lsql_runner.kafka.ports import NO_METADATA, RawRecord, Right, TopicLimits, TopicRequest
from lsql_runner.kafka.reasons import REASONS, RIGHTS
from lsql_runner.kafka.refusals import is_handshake_error, is_refusal, refusal_reason
from lsql_runner.kafka.rights import missing_rights
from lsql_runner.kafka.topic_ids import topic_ids
from lsql_runner.kafka.topic_limits import LIMITING, limits_of


class LibrdkafkaBrokers(RangeReader):
    """The Brokers port on confluent-kafka.

    Raises:
        LsqlError: KAFKA_SETTINGS_INVALID from the constructor; BROKER_UNREACHABLE or BROKER_REFUSED from every method.
    """

    def __init__(self, connection: KafkaConnection, request_timeout_s: float = 10.0) -> None:
        self._connection = connection
        self._request_timeout_s = request_timeout_s
        """Deadline of each request."""
        self._handshake_error: KafkaError | None = None
        self._admin = self._new_admin()
        self._previous_admin = self._admin
        self._groups = GroupRequests(connection, request_timeout_s, failed=self._request_error, refused=self._refusal)

    def topics(self) -> dict[str, int]:
        try:
            metadata = self._admin.list_topics(timeout=self._request_timeout_s).topics
        except KafkaException as error:
            raise self._request_error(error) from None
        return {name: len(topic.partitions) for name, topic in metadata.items() if topic.error is None}

    def topic_ids(self, topics: Iterable[str]) -> dict[str, str]:
        try:
            return topic_ids(self._admin, topics, self._request_timeout_s)
        except (KafkaException, TimeoutError) as error:
            raise self._request_error(error) from None

    def check_create(self, request: TopicRequest) -> None:
        self._create(request, validate_only=True)

    def create(self, request: TopicRequest) -> bool:
        return self._create(request)

    def _create(self, request: TopicRequest, *, validate_only: bool = False) -> bool:
        new = NewTopic(
            request.name,
            num_partitions=request.partitions or -1,
            replication_factor=request.replication or -1,
            config=dict(request.config),
        )
        futures = self._admin.create_topics([new], request_timeout=self._request_timeout_s, validate_only=validate_only)
        try:
            futures[request.name].result(self._request_timeout_s * 2)
        except (KafkaException, TimeoutError) as error:
            cause = error.args[0] if isinstance(error, KafkaException) else None
            if cause is None or cause.code() in _TRANSPORT:
                raise self._request_error(error) from None
            if cause.code() == KafkaError.TOPIC_ALREADY_EXISTS:
                return False
            raise LsqlError("TOPIC_REFUSED", topic=request.name, reason=cause.str()) from None
        return True

    def delete_topic(self, name: str) -> None:
        future = self._admin.delete_topics([name], request_timeout=self._request_timeout_s)[name]
        self._wait_for_deletion(future, KafkaError.UNKNOWN_TOPIC_OR_PART)

    def delete_group(self, group: str) -> None:
        future = self._admin.delete_consumer_groups([group], request_timeout=self._request_timeout_s)[group]
        self._wait_for_deletion(future, KafkaError.GROUP_ID_NOT_FOUND)

    def _wait_for_deletion(self, future: Any, absent: int) -> None:
        """Wait for a deletion; `absent` is the error code for a resource that does not exist, which is not an error.

        Raises:
            LsqlError: BROKER_UNREACHABLE, BROKER_REFUSED.
        """
        try:
            future.result(self._request_timeout_s * 2)
        except (KafkaException, TimeoutError) as error:
            if not isinstance(error, KafkaException) or error.args[0].code() != absent:
                raise self._request_error(error) from None

    def limits(self, topics: Iterable[str]) -> dict[str, TopicLimits]:
        asked = [ConfigResource(ResourceType.TOPIC, topic) for topic in topics]
        by_topic: dict[str, TopicLimits] = {}
        answers = self._admin.describe_configs(asked, request_timeout=self._request_timeout_s) if asked else {}
        for resource, future in answers.items():
            with suppress(KafkaException, TimeoutError, KeyError):
                config = future.result(self._request_timeout_s * 2)
                values = {name: config[name].value for name in LIMITING if name in config}
                by_topic[resource.name] = limits_of(values)
        return by_topic

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        return self._offsets(partitions, OffsetSpec.latest())  # type: ignore[no-untyped-call]

    def begins(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        return self._offsets(partitions, OffsetSpec.earliest())  # type: ignore[no-untyped-call]

    def _since(self, partitions: list[Partition], time_ms: int) -> dict[Partition, int]:
        return self._listed_offsets(partitions, OffsetSpec.for_timestamp(time_ms))

    def _offsets(self, partitions: Iterable[Partition], spec: OffsetSpec) -> dict[Partition, int]:
        offsets = self._listed_offsets(partitions, spec)
        if (no_leader := missing_leader(offsets)) is not None:
            raise self._unreachable(no_leader)
        return offsets

    def _listed_offsets(self, partitions: Iterable[Partition], spec: OffsetSpec) -> dict[Partition, int]:
        asked = {TopicPartition(p.topic, p.partition): spec for p in partitions}
        if not asked:
            return {}
        futures = self._admin.list_offsets(asked, request_timeout=self._request_timeout_s)
        return {Partition(tp.topic, tp.partition): self._result(future).offset for tp, future in futures.items()}

    def group_positions(self, group: str, partitions: Iterable[Partition]) -> dict[Partition, int]:
        committed = self._committed_offsets(group, partitions)
        return {Partition(tp.topic, tp.partition): tp.offset for tp in committed if tp.offset >= 0}

    def group_metadata(self, group: str, partitions: Iterable[Partition]) -> dict[Partition, str]:
        committed = self._committed_offsets(group, partitions)
        return {Partition(tp.topic, tp.partition): tp.metadata for tp in committed if tp.offset >= 0 and tp.metadata}

    def _committed_offsets(self, group: str, partitions: Iterable[Partition]) -> list[TopicPartition]:
        asked = [TopicPartition(p.topic, p.partition) for p in partitions]
        if not asked:
            return []
        return self._groups.send(group, lambda consumer: consumer.committed(asked, timeout=self._request_timeout_s))

    def commit(self, group: str, positions: Mapping[Partition, int], metadata: Mapping[str, str] = NO_METADATA) -> None:
        offsets = [
            TopicPartition(p.topic, p.partition, offset, metadata.get(p.topic, "")) for p, offset in positions.items()
        ]
        self._groups.send(group, lambda consumer: consumer.commit(offsets=offsets, asynchronous=False))

    def check_topics(self, rights: Mapping[str, Collection[Right]]) -> None:
        try:
            granted = topic_operations(self._admin, rights, self._request_timeout_s)
        except (KafkaException, TimeoutError) as error:
            raise self._request_error(error) from None
        if (missing := missing_rights(rights, granted)) is not None:
            raise self._refusal(missing)

    def check_group(self, name: str) -> None:
        try:
            allowed = may_read_group(self._admin, name, self._request_timeout_s)
        except (KafkaException, TimeoutError) as error:
            raise self._request_error(error) from None
        if not allowed:
            raise self._refusal(RIGHTS("GROUP", name=name))

    def check_transactional_id(self, name: str) -> None:
        try:
            allowed = may_write_transactional_id(self._connection, name, self._request_timeout_s)
        except KafkaException as error:
            raise self._request_error(error) from None
        if not allowed:
            raise self._refusal(RIGHTS("TRANSACTIONAL_ID", name=name))

    def close(self) -> None:
        self._groups.close()

    def _read(self, ranges: OffsetRanges, most_bytes: int) -> list[RawRecord]:
        if not ranges:
            return []
        consumer = Consumer(
            self._connection.librdkafka()
            | {"group.id": "lsql-sample", "enable.auto.commit": False, "enable.partition.eof": True}
            | {"queued.max.messages.kbytes": most_bytes >> 10 or 1}
        )
        try:
            consumer.assign([TopicPartition(p.topic, p.partition, start) for p, (start, _) in ranges.items()])
            return self._drain(consumer, dict(ranges), most_bytes)
        finally:
            consumer.close()

    def _drain(self, consumer: Consumer, left: OffsetRanges, most_bytes: int) -> list[RawRecord]:
        records: list[RawRecord] = []
        size = 0
        while left and size < most_bytes:
            message = consumer.poll(self._request_timeout_s)
            if message is None:
                raise self._unreachable(REASONS("NO_RECORD", seconds=f"{self._request_timeout_s:.0f}"))
            partition = Partition(message.topic() or "", message.partition() or 0)
            error = message.error()
            if error is not None and error.code() != KafkaError._PARTITION_EOF:
                raise self._request_error(KafkaException(error))
            offset = message.offset() or 0
            if error is not None:
                left.pop(partition, None)
                continue
            if partition in left and offset < left[partition][1]:
                record = RawRecord(partition, offset, _bytes(message.key()), _bytes(message.value()))
                records.append(record)
                size += record.size
            if partition in left and offset >= left[partition][1] - 1:
                left.pop(partition)
        return records

    def _result(self, future: Any) -> Any:
        try:
            return future.result(self._request_timeout_s * 2)
        except (KafkaException, TimeoutError) as error:
            raise self._request_error(error) from None

    def _new_admin(self) -> AdminClient:
        self._handshake_error = None
        try:
            return AdminClient({**self._connection.librdkafka(), "error_cb": self._on_error})  # type: ignore[dict-item]
        except KafkaException as error:  # a setting that librdkafka, or this build of it, does not support
            raise LsqlError("KAFKA_SETTINGS_INVALID", reason=error.args[0].str()) from None

    def _on_error(self, error: KafkaError) -> None:
        """Remember refused credentials. librdkafka reports them only here, and the requests time out."""
        if is_handshake_error(error):
            self._handshake_error = error

    def _request_error(self, error: BaseException) -> LsqlError:
        cause = error.args[0] if isinstance(error, KafkaException) else None
        self._admin.poll(0)  # calls _on_error
        if self._handshake_error is not None and (cause is None or cause.code() in _TRANSPORT):
            cause = self._handshake_error
        # After a broker has stopped, a client may keep outdated leader epochs: the next request uses a new client. The
        # old client is kept until the next error, because its futures fail without it and another thread may wait for
        # them.
        self._previous_admin, self._admin = self._admin, self._new_admin()
        if cause is not None and is_refusal(cause):
            return self._refusal(refusal_reason(cause))
        timeout = REASONS("TIMEOUT", seconds=f"{self._request_timeout_s:.0f}")
        return self._unreachable(timeout if cause is None else cause.str())

    def _refusal(self, reason: str) -> LsqlError:
        return LsqlError("BROKER_REFUSED", servers=self._connection.servers, reason=reason)

    def _unreachable(self, reason: str) -> LsqlError:
        return LsqlError("BROKER_UNREACHABLE", servers=self._connection.servers, reason=reason)


_TRANSPORT = {
    KafkaError._TRANSPORT,
    KafkaError._TIMED_OUT,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError._RESOLVE,
}


def _bytes(data: Any) -> bytes | None:
    return data.encode() if isinstance(data, str) else data
