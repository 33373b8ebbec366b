"""Requests to the coordinator of a consumer group: positions. For LibrdkafkaBrokers."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock, Thread
from typing import TypeVar

import stamina
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from stamina.instrumentation import LoggingOnRetryHook, set_on_retry_hooks

from lsql_runner.errors import LsqlError
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.reasons import RIGHTS

# If structlog is installed, stamina logs retries through it by default. structlog prints to stdout until it is
# configured, that is, into the output of commands.
set_on_retry_hooks([LoggingOnRetryHook])

_HAS_MEMBERS = {
    KafkaError.UNKNOWN_MEMBER_ID,
    KafkaError.ILLEGAL_GENERATION,
    KafkaError.REBALANCE_IN_PROGRESS,
    KafkaError.STALE_MEMBER_EPOCH,
}
"""The errors of a commit to a group that other consumers have joined."""

T = TypeVar("T")
Request = Callable[[Consumer], list[TopicPartition] | None]
"""A call of the consumer of a group."""

_LOADING = {
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
}


def retry_while_loading(request: Callable[[], T], timeout_s: float) -> T:
    """The result of a request, which is repeated while the coordinator is loading: the first group of a cluster creates
    the coordinator's topic.
    """
    retried = stamina.retry(on=_is_loading, timeout=timeout_s, wait_initial=0.05, wait_max=0.5)
    return retried(request)()


def _is_loading(error: Exception) -> bool:
    return isinstance(error, KafkaException) and error.args[0].code() in _LOADING


class GroupRequests:
    """Sends requests with a consumer for each group, which never joins it.

    The admin client of confluent-kafka 2.16 sometimes crashes on the response of a coordinator that is still loading.

    Args:
        connection: the brokers.
        request_timeout_s: deadline of each request.
        failed: the error for a failed request.
        refused: the error for a request that the brokers refuse, with the reason.
    """

    def __init__(
        self,
        connection: KafkaConnection,
        request_timeout_s: float,
        *,
        failed: Callable[[BaseException], LsqlError],
        refused: Callable[[str], LsqlError],
    ) -> None:
        self._connection = connection
        self._request_timeout_s = request_timeout_s
        self._failed, self._refused = failed, refused
        self._consumers: dict[str, Consumer] = {}
        self._lock = Lock()
        self._waiting: Future[list[TopicPartition]] | None = None

    def send(self, group: str, ask: Request) -> list[TopicPartition]:
        """Send a request to the coordinator of a group; retries while it is loading.

        A commit that was sent before the broker failed returns when the broker is back, regardless of timeouts;
        closing its consumer waits for it too. So the request has a thread of its own, and while that waits, further
        requests fail.

        Raises:
            LsqlError: BROKER_UNREACHABLE, BROKER_REFUSED, GROUP_IN_USE.
        """
        with self._lock:
            if self._waiting is not None and not self._waiting.done():
                raise self._timeout_error()
            request: Future[list[TopicPartition]] = Future()
            Thread(target=self._complete, args=(request, group, ask), name=f"group {group}", daemon=True).start()
            try:
                return request.result(self._request_timeout_s * 1.5)
            except TimeoutError:
                self._waiting = request
                raise self._timeout_error() from None

    def close(self) -> None:
        with self._lock:
            while self._consumers:
                self._consumers.popitem()[1].close()

    def _complete(self, request: Future[list[TopicPartition]], group: str, ask: Request) -> None:
        try:
            request.set_result(self._ask(group, ask))
        except BaseException as error:
            request.set_exception(error)

    def _timeout_error(self) -> LsqlError:
        return self._failed(KafkaException(KafkaError(KafkaError._TIMED_OUT)))

    def _ask(self, group: str, ask: Request) -> list[TopicPartition]:
        def request() -> list[TopicPartition]:
            positions = ask(consumer) or []
            failed = next((position.error for position in positions if position.error is not None), None)
            if failed is not None:
                raise KafkaException(failed)
            return positions

        consumer = self._consumers.pop(group, None) or self._group_consumer(group)
        try:
            positions = retry_while_loading(request, self._request_timeout_s)
        except KafkaException as error:
            # If the coordinator refuses, the request times out; the error is in the consumer's queue.
            message = consumer.poll(0)
            refusal = None if message is None else message.error()
            consumer.close()
            code = (refusal or error.args[0]).code()
            if code == KafkaError.GROUP_AUTHORIZATION_FAILED:
                raise self._refused(RIGHTS("GROUP", name=group)) from None
            if code in _HAS_MEMBERS:
                raise LsqlError("GROUP_IN_USE", group=group) from None
            raise self._failed(error if refusal is None else KafkaException(refusal)) from None
        self._consumers[group] = consumer
        return positions

    def _group_consumer(self, group: str) -> Consumer:
        wait_ms = int(self._request_timeout_s * 1000)
        # The session timeout also limits how long a commit looks for the coordinator.
        waits = {"session.timeout.ms": wait_ms, "heartbeat.interval.ms": wait_ms // 3}
        return Consumer(self._connection.librdkafka() | {"group.id": group, "enable.auto.commit": False} | waits)
