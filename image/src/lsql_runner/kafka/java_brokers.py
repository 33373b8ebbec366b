"""Brokers through Kafka's Java client: for settings that librdkafka does not support."""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from threading import Lock
from typing import Any

from lsql_runner.errors import Detail, LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.jvm.java_entries import (
    BROKER_FAILED,
    BROKER_LOGIN_REFUSED,
    BROKER_RIGHTS_MISSING,
    BROKER_SETTINGS_INVALID,
    GROUP_IN_USE,
    TOPIC_EXISTS,
)
from lsql_runner.jvm.java_error import JavaError, read_error
from lsql_runner.kafka.channel import Channel, ChannelClosedError, ChannelTimeoutError
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.offset_ranges import OffsetRanges, RangeReader, missing_leader
from lsql_runner.kafka.ports import NO_METADATA, RawRecord, Right, TopicLimits, TopicRequest
from lsql_runner.kafka.reasons import REASONS, RIGHTS
from lsql_runner.kafka.rights import missing_rights
from lsql_runner.kafka.topic_limits import LIMITING, limits_of

_START_S = 60.0


class JavaBrokers(RangeReader):
    """The Brokers port on Kafka's Java client.

    Sends one request at a time. This is enough: two threads send at most a few requests a second, and brokers that do
    not answer one request do not answer another one either.

    Raises:
        LsqlError: KAFKA_SETTINGS_INVALID, JAVA_MISSING, JARS_MISSING from the constructor; BROKER_UNREACHABLE or
            BROKER_REFUSED from every method.
    """

    def __init__(
        self, connection: KafkaConnection, open_channel: Callable[[], Channel], request_timeout_s: float = 10.0
    ) -> None:
        self._connection = connection
        self._open_channel = open_channel
        """Opens a channel to a program with Kafka's client; raises ChannelClosedError, LsqlError."""
        self._request_timeout_s = request_timeout_s
        """Deadline of each request."""
        self._lock = Lock()
        self._closed = False
        self._channel: Channel | None = None
        with suppress(ChannelClosedError):  # the first request opens another one, or reports why it cannot
            self._running()

    def topics(self) -> dict[str, int]:
        partitions: dict[str, int] = self._request({"ask": "topics"})
        return partitions

    def topic_ids(self, topics: Iterable[str]) -> dict[str, str]:
        ids: dict[str, str] = self._request({"ask": "topic_ids", "topics": list(topics)})
        return ids

    def check_create(self, request: TopicRequest) -> None:
        self._create(request, validate_only=True)

    def create(self, request: TopicRequest) -> bool:
        return self._create(request)

    def _create(self, request: TopicRequest, *, validate_only: bool = False) -> bool:
        answer = self._answer(
            {
                "ask": "create",
                "name": request.name,
                "partitions": request.partitions,
                "replication": request.replication,
                "config": dict(request.config),
                "validate_only": validate_only,
            }
        )[-1]
        if "error" not in answer:
            return True
        error = read_error(answer["error"])
        if error.condition == TOPIC_EXISTS:
            return False
        if error.condition in (BROKER_RIGHTS_MISSING, BROKER_FAILED):
            raise LsqlError("TOPIC_REFUSED", topic=request.name, reason=error.reason)
        raise self._request_error(error)

    def delete_topic(self, name: str) -> None:
        self._request({"ask": "delete_topic", "name": name})

    def delete_group(self, group: str) -> None:
        self._request({"ask": "delete_group", "name": group})

    def limits(self, topics: Iterable[str]) -> dict[str, TopicLimits]:
        with suppress(LsqlError):
            rows = self._request({"ask": "configs", "topics": list(topics), "settings": list(LIMITING)})
            return {topic: limits_of(config) for topic, config in rows}
        return {}

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        return self._offsets("end", partitions)

    def begins(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        return self._offsets("begin", partitions)

    def _since(self, partitions: list[Partition], time_ms: int) -> dict[Partition, int]:
        return self._listed_offsets(time_ms, partitions)

    def _offsets(self, at: str, partitions: Iterable[Partition]) -> dict[Partition, int]:
        offsets = self._listed_offsets(at, partitions)
        if (reason := missing_leader(offsets)) is not None:
            raise self._unreachable(reason)
        return offsets

    def _listed_offsets(self, at: str | int, partitions: Iterable[Partition]) -> dict[Partition, int]:
        asked = _as_rows(partitions)
        return _by_partition(self._request({"ask": "offsets", "at": at, "partitions": asked})) if asked else {}

    def group_positions(self, group: str, partitions: Iterable[Partition]) -> dict[Partition, int]:
        return {place: offset for place, (offset, _) in self._committed_offsets(group, partitions).items()}

    def group_metadata(self, group: str, partitions: Iterable[Partition]) -> dict[Partition, str]:
        return {place: text for place, (_, text) in self._committed_offsets(group, partitions).items() if text}

    def _committed_offsets(self, group: str, partitions: Iterable[Partition]) -> dict[Partition, tuple[int, str]]:
        asked = _as_rows(partitions)
        rows = self._request({"ask": "positions", "group": group, "partitions": asked}) if asked else []
        return {Partition(topic, number): (offset, text) for topic, number, offset, text in rows}

    def commit(self, group: str, positions: Mapping[Partition, int], metadata: Mapping[str, str] = NO_METADATA) -> None:
        rows = [[p.topic, p.partition, offset, metadata.get(p.topic, "")] for p, offset in positions.items()]
        request = {"ask": "commit", "group": group, "positions": rows}
        answer = self._answer(request)[-1]
        if "error" in answer:
            error = read_error(answer["error"])
            raise (
                LsqlError("GROUP_IN_USE", group=group)
                if error.condition == GROUP_IN_USE
                else self._request_error(error)
            )

    def check_topics(self, rights: Mapping[str, Collection[Right]]) -> None:
        granted = self._request({"ask": "rights", "topics": list(rights)})
        if (missing := missing_rights(rights, dict(granted))) is not None:
            raise self._refusal(missing)

    def check_group(self, name: str) -> None:
        self._check({"ask": "check_group", "group": name}, RIGHTS("GROUP", name=name))

    def check_transactional_id(self, name: str) -> None:
        self._check({"ask": "transactional_id", "name": name}, RIGHTS("TRANSACTIONAL_ID", name=name))

    def _check(self, request: dict[str, Any], missing: Detail) -> None:
        """Send a request; raises BROKER_REFUSED with the missing right if the brokers refuse it."""
        answer = self._answer(request)[-1]
        if "error" not in answer:
            return
        error = read_error(answer["error"])
        if error.condition == BROKER_RIGHTS_MISSING:
            raise self._refusal(missing)
        raise self._request_error(error)

    def close(self) -> None:
        self._closed = True
        if (channel := self._channel) is not None:
            channel.end()  # also a request in progress
        with self._lock:
            self._close_channel()

    def _read(self, ranges: OffsetRanges, most_bytes: int) -> list[RawRecord]:
        if not ranges:
            return []
        rows = [[p.topic, p.partition, start, end] for p, (start, end) in ranges.items()]
        *lines, last = self._answer({"ask": "read", "spans": rows, "most_bytes": most_bytes})
        if "error" in last:
            raise self._request_error(read_error(last["error"]))
        return [_record(row) for line in lines for row in line["records"]]

    # --- the program ---

    def _request(self, request: Mapping[str, Any]) -> Any:
        answer = self._answer(request)[-1]
        if "error" in answer:
            raise self._request_error(read_error(answer["error"]))
        return answer["ok"]

    def _answer(self, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The lines of a response, from the running program or a new one."""
        with self._lock:
            if self._closed:
                raise self._unreachable(REASONS("CLOSED"))
            try:
                return self._ask(request)
            except ChannelClosedError as closed:
                self._close_channel()
                raise self._unreachable(closed.reason) from None

    def _ask(self, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        # The program enforces the deadline itself; after twice as long it is stuck, for example in a login.
        line_timeout_s = self._request_timeout_s * 2
        used = self._channel is not None
        try:
            return self._running().ask(request, line_timeout_s)
        except ChannelTimeoutError:
            raise
        except ChannelClosedError:
            if self._closed or not used:
                raise
            self._close_channel()  # it had ended after an earlier request
            return self._running().ask(request, line_timeout_s)

    def _running(self) -> Channel:
        if self._channel is not None and self._channel.runs:
            return self._channel
        self._close_channel()
        self._channel = self._open_channel()
        first = {"settings": self._connection.java(), "request_timeout_ms": int(self._request_timeout_s * 1000)}
        answer = self._channel.ask(first, _START_S + self._request_timeout_s)[-1]
        error = read_error(answer["error"]) if "error" in answer else None
        if error is not None and error.condition == BROKER_SETTINGS_INVALID:
            self._close_channel()
            raise self._request_error(error)
        return self._channel  # the next request fails with any other error again, and reports it

    def _close_channel(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()

    # --- errors ---

    def _request_error(self, error: JavaError) -> LsqlError:
        if error.condition == BROKER_SETTINGS_INVALID:
            return LsqlError("KAFKA_SETTINGS_INVALID", reason=error.reason)
        if error.condition in (BROKER_LOGIN_REFUSED, BROKER_RIGHTS_MISSING):
            return self._refusal(error.reason)
        return self._unreachable(error.reason or REASONS("TIMEOUT", seconds=f"{self._request_timeout_s:.0f}"))

    def _refusal(self, reason: str) -> LsqlError:
        return LsqlError("BROKER_REFUSED", servers=self._connection.servers, reason=reason)

    def _unreachable(self, reason: str) -> LsqlError:
        return LsqlError("BROKER_UNREACHABLE", servers=self._connection.servers, reason=reason)


def _as_rows(partitions: Iterable[Partition]) -> list[list[Any]]:
    return [[p.topic, p.partition] for p in partitions]


def _by_partition(rows: Iterable[tuple[str, int, int]]) -> dict[Partition, int]:
    return {Partition(topic, number): offset for topic, number, offset in rows}


def _record(row: tuple[str, int, int, str | None, str | None]) -> RawRecord:
    topic, number, offset, key, value = row
    return RawRecord(Partition(topic, number), offset, _bytes(key), _bytes(value))


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
