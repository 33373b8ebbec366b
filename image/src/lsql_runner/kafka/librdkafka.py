"""Brokers through confluent-kafka (librdkafka), which runs in this process. Every request has a deadline.

Brokers that do not answer are BROKER_UNREACHABLE; brokers that answer with an error about rights or credentials are
BROKER_REFUSED.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from threading import Lock, Thread
from typing import Any

import stamina
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicCollection, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ConfigResource,
    NewTopic,
    OffsetSpec,
    ResourceType,
)
from stamina.instrumentation import LoggingOnRetryHook, set_on_retry_hooks

from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.offset_ranges import OffsetRanges, RangeReader, missing_leader
from lsql_runner.kafka.ports import RawRecord, Right, TopicLimits, TopicRequest
from lsql_runner.kafka.reasons import REASONS, RIGHTS
from lsql_runner.kafka.refusals import is_handshake_error, is_refusal, refusal_reason
from lsql_runner.kafka.rights import missing_rights

# If structlog is installed, stamina logs retries through it by default. structlog prints to stdout until it is
# configured, that is, into the output of commands.
set_on_retry_hooks([LoggingOnRetryHook])


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
        self._consumers: dict[str, Consumer] = {}
        self._lock = Lock()
        self._waiting: Future[list[TopicPartition]] | None = None

    def topics(self) -> dict[str, int]:
        try:
            found = self._admin.list_topics(timeout=self._request_timeout_s).topics
        except KafkaException as error:
            raise self._failed(error) from None
        return {name: len(topic.partitions) for name, topic in found.items() if topic.error is None}

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
                raise self._failed(error) from None
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
                raise self._failed(error) from None

    def limits(self, topics: Iterable[str]) -> dict[str, TopicLimits]:
        asked = [ConfigResource(ResourceType.TOPIC, topic) for topic in topics]
        found: dict[str, TopicLimits] = {}
        answers = self._admin.describe_configs(asked, request_timeout=self._request_timeout_s) if asked else {}
        for resource, future in answers.items():
            with suppress(KafkaException, TimeoutError, KeyError):
                config = future.result(self._request_timeout_s * 2)
                largest, cleanup = config["max.message.bytes"].value, config["cleanup.policy"].value
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
        futures = self._admin.list_offsets(asked, request_timeout=self._request_timeout_s)
        found = {Partition(tp.topic, tp.partition): self._result(future).offset for tp, future in futures.items()}
        if (no_leader := missing_leader(found)) is not None:
            raise self._unreachable(no_leader)
        return found

    def group_positions(self, group: str, partitions: Iterable[Partition]) -> dict[Partition, int]:
        asked = [TopicPartition(p.topic, p.partition) for p in partitions]
        found = (
            self._of_group(group, lambda consumer: consumer.committed(asked, timeout=self._request_timeout_s))
            if asked
            else []
        )
        return {Partition(tp.topic, tp.partition): tp.offset for tp in found if tp.offset >= 0}

    def commit(self, group: str, positions: Mapping[Partition, int]) -> None:
        offsets = [TopicPartition(p.topic, p.partition, offset) for p, offset in positions.items()]
        self._of_group(group, lambda consumer: consumer.commit(offsets=offsets, asynchronous=False))

    def check_topics(self, rights: Mapping[str, Collection[Right]]) -> None:
        if not rights:
            return
        futures = self._admin.describe_topics(
            TopicCollection(list(rights)),
            include_authorized_operations=True,
            request_timeout=self._request_timeout_s,
        )
        found: dict[str, set[str]] = {}
        for topic, future in futures.items():
            try:
                allowed = future.result(self._request_timeout_s * 2).authorized_operations
            except (KafkaException, TimeoutError) as error:
                code = error.args[0].code() if isinstance(error, KafkaException) else None
                if code == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                    found[topic] = set()
                elif code != KafkaError.UNKNOWN_TOPIC_OR_PART:
                    raise self._failed(error) from None
            else:
                if allowed:  # a client that may describe a topic has this right; old brokers return no rights
                    found[topic] = {operation.name for operation in allowed}
        if (missing := missing_rights(rights, found)) is not None:
            raise self._refused(missing)

    def check_group(self, name: str) -> None:
        # A request for positions needs Describe only, and its response is that of a coordinator that is ready:
        # `_ask_group` has the reason.
        @stamina.retry(on=_is_loading, timeout=self._request_timeout_s, wait_initial=0.05, wait_max=0.5)
        def allowed() -> Any:
            described = self._admin.describe_consumer_groups(
                [name], include_authorized_operations=True, request_timeout=self._request_timeout_s
            )
            return described[name].result(self._request_timeout_s * 2).authorized_operations

        try:
            found = allowed()
        except (KafkaException, TimeoutError) as error:
            if isinstance(error, KafkaException) and error.args[0].code() == KafkaError.GROUP_AUTHORIZATION_FAILED:
                raise self._refused(RIGHTS("GROUP", name=name)) from None
            raise self._failed(error) from None
        if found and "READ" not in {operation.name for operation in found}:  # old brokers return no rights
            raise self._refused(RIGHTS("GROUP", name=name))

    def check_transactional_id(self, name: str) -> None:
        settings = {"transactional.id": name, "transaction.timeout.ms": MAX_TRANSACTION_MS}
        # Without a logger, librdkafka prints the refusal, which it calls fatal, to stderr.
        producer = Producer({**self._connection.librdkafka(), **settings}, logger=_UNREAD_LOG)
        try:
            producer.init_transactions(self._request_timeout_s)
        except KafkaException as error:
            code = error.args[0].code()
            if code == KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
                raise self._refused(RIGHTS("TRANSACTIONAL_ID", name=name)) from None
            if code != KafkaError.INVALID_TRANSACTION_TIMEOUT:
                raise self._failed(error) from None

    def close(self) -> None:
        with self._lock:
            while self._consumers:
                self._consumers.popitem()[1].close()

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
        found: list[RawRecord] = []
        size = 0
        while left and size < most_bytes:
            message = consumer.poll(self._request_timeout_s)
            if message is None:
                raise self._unreachable(REASONS("NO_RECORD", seconds=f"{self._request_timeout_s:.0f}"))
            partition = Partition(message.topic() or "", message.partition() or 0)
            error = message.error()
            if error is not None and error.code() != KafkaError._PARTITION_EOF:
                raise self._failed(KafkaException(error))
            offset = message.offset() or 0
            if error is not None:
                left.pop(partition, None)
                continue
            if partition in left and offset < left[partition][1]:
                record = RawRecord(partition, offset, _bytes(message.key()), _bytes(message.value()))
                found.append(record)
                size += record.size
            if partition in left and offset >= left[partition][1] - 1:
                left.pop(partition)
        return found

    def _of_group(self, group: str, ask: Callable[[Consumer], list[TopicPartition] | None]) -> list[TopicPartition]:
        """Send a request to the coordinator of a group. Retries while it is loading: the first group of a cluster
        creates the coordinator's topic.

        A commit that is on its way when the broker fails returns when the broker is back, whatever the timeouts are;
        closing its consumer waits for it too. So the request has a thread of its own, and while that waits, further
        requests fail.
        """
        with self._lock:
            if self._waiting is not None and not self._waiting.done():
                raise self._timed_out()
            request: Future[list[TopicPartition]] = Future()
            Thread(target=self._complete, args=(request, group, ask), name=f"group {group}", daemon=True).start()
            try:
                return request.result(self._request_timeout_s * 1.5)
            except TimeoutError:
                self._waiting = request
                raise self._timed_out() from None

    def _complete(
        self,
        request: Future[list[TopicPartition]],
        group: str,
        ask: Callable[[Consumer], list[TopicPartition] | None],
    ) -> None:
        try:
            request.set_result(self._ask_group(group, ask))
        except BaseException as error:
            request.set_exception(error)

    def _timed_out(self) -> LsqlError:
        return self._failed(KafkaException(KafkaError(KafkaError._TIMED_OUT)))

    def _ask_group(self, group: str, ask: Callable[[Consumer], list[TopicPartition] | None]) -> list[TopicPartition]:
        """Send a request to the coordinator of a group.

        Uses a consumer that never joins the group. The admin client of confluent-kafka 2.16 sometimes crashes on the
        response of a coordinator that is still loading.
        """

        @stamina.retry(on=_is_loading, timeout=self._request_timeout_s, wait_initial=0.05, wait_max=0.5)
        def request(consumer: Consumer) -> list[TopicPartition]:
            found = ask(consumer) or []
            failed = next((position.error for position in found if position.error is not None), None)
            if failed is not None:
                raise KafkaException(failed)
            return found

        consumer = self._consumers.pop(group, None) or self._group_consumer(group)
        try:
            found = request(consumer)
        except KafkaException as error:
            # If the coordinator refuses, the request times out; the error is in the consumer's queue.
            message = consumer.poll(0)
            refusal = None if message is None else message.error()
            consumer.close()
            if (refusal or error.args[0]).code() == KafkaError.GROUP_AUTHORIZATION_FAILED:
                raise self._refused(RIGHTS("GROUP", name=group)) from None
            raise self._failed(error if refusal is None else KafkaException(refusal)) from None
        self._consumers[group] = consumer
        return found

    def _group_consumer(self, group: str) -> Consumer:
        wait_ms = int(self._request_timeout_s * 1000)
        # The session timeout also limits how long a commit looks for the coordinator.
        waits = {"session.timeout.ms": wait_ms, "heartbeat.interval.ms": wait_ms // 3}
        return Consumer(self._connection.librdkafka() | {"group.id": group, "enable.auto.commit": False} | waits)

    def _result(self, future: Any) -> Any:
        try:
            return future.result(self._request_timeout_s * 2)
        except (KafkaException, TimeoutError) as error:
            raise self._failed(error) from None

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

    def _failed(self, error: BaseException) -> LsqlError:
        cause = error.args[0] if isinstance(error, KafkaException) else None
        self._admin.poll(0)  # calls _on_error
        if self._handshake_error is not None and (cause is None or cause.code() in _TRANSPORT):
            cause = self._handshake_error
        # After a broker has stopped, a client may keep outdated leader epochs: the next request uses a new client. The
        # old client is kept until the next error, because its futures fail without it and another thread may wait for
        # them.
        self._previous_admin, self._admin = self._admin, self._new_admin()
        if cause is not None and is_refusal(cause):
            return self._refused(refusal_reason(cause))
        timeout = REASONS("TIMEOUT", seconds=f"{self._request_timeout_s:.0f}")
        return self._unreachable(timeout if cause is None else cause.str())

    def _refused(self, reason: str) -> LsqlError:
        return LsqlError("BROKER_REFUSED", servers=self._connection.servers, reason=reason)

    def _unreachable(self, reason: str) -> LsqlError:
        return LsqlError("BROKER_UNREACHABLE", servers=self._connection.servers, reason=reason)


def _is_loading(error: Exception) -> bool:
    """Whether a coordinator is not ready yet, so that the request has to be retried."""
    return isinstance(error, KafkaException) and error.args[0].code() in _COORDINATOR_LOADING


_COORDINATOR_LOADING = {
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
}
_UNREAD_LOG = logging.getLogger(f"{__name__}.unread")
_UNREAD_LOG.addHandler(logging.NullHandler())
_UNREAD_LOG.propagate = False
MAX_TRANSACTION_MS = 2_147_483_647
"""A time-out of transactions that brokers refuse after they have checked the rights: so they store nothing."""
_TRANSPORT = {
    KafkaError._TRANSPORT,
    KafkaError._TIMED_OUT,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError._RESOLVE,
}


def _bytes(data: Any) -> bytes | None:
    return data.encode() if isinstance(data, str) else data
