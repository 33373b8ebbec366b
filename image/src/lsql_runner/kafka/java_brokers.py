"""Brokers through Kafka's Java client, in a small JVM: for settings that librdkafka does not support.

The JVM runs com.lsqlrunner.kafka.BrokerRequests, which documents the lines of JSON that are exchanged.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from lsql_runner.errors import Detail, LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.jvm.java import LOCALE, java, spark_home
from lsql_runner.jvm.java_entries import (
    BROKER_FAILED,
    BROKER_LOGIN_REFUSED,
    BROKER_REQUESTS,
    BROKER_RIGHTS_MISSING,
    BROKER_SETTINGS_INVALID,
    GROUP_IN_USE,
    TOPIC_EXISTS,
)
from lsql_runner.jvm.java_error import JavaError, read_error
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.java_process import JavaGoneError, JavaProcess, JavaTimeoutError
from lsql_runner.kafka.offset_ranges import OffsetRanges, RangeReader, missing_leader
from lsql_runner.kafka.ports import NO_METADATA, RawRecord, Right, TopicLimits, TopicRequest
from lsql_runner.kafka.reasons import REASONS, RIGHTS
from lsql_runner.kafka.rights import missing_rights
from lsql_runner.kafka.topic_limits import LIMITING, limits_of

_START_S = 60.0
_HEAP_MIB = 64
"""While a batch of records is read it is in memory twice, and topics may allow batches of many MiB."""

_SPARK_JARS = (
    *("jackson-annotations", "jackson-core", "jackson-databind", "slf4j-api"),
    *("lz4-java", "snappy-java", "zstd-jni"),
)
"""Jars of Spark that Kafka's client and BrokerRequests use: JSON, compression, and the logging API without a logger."""
_OWN_JARS = ("kafka-clients", "lsql-jvm")
_SPARK_ONLY_PREFIXES = ("spark-", "commons-pool2-", "woodstox-core-", "stax2-api-")
"""Jars of the jar folder that only Spark uses. Other jars may hold login modules that a user has added."""


@dataclass(frozen=True, slots=True)
class BrokersJvm:
    """Options of the JVM. `jars` is the folder with the jars of the Kafka client and of our Java module."""

    jars: Path
    java_options: tuple[str, ...] = ()
    """Options of the processor's JVM. Only its system properties (`-D...`) are used; this JVM sizes its own heap."""


class JavaBrokers(RangeReader):
    """The Brokers port on Kafka's Java client.

    Sends one request at a time. This is enough: two threads send at most a few requests a second, and brokers that do
    not answer one request do not answer another one either.

    Raises:
        LsqlError: KAFKA_SETTINGS_INVALID, JAVA_MISSING, JARS_MISSING from the constructor; BROKER_UNREACHABLE or
            BROKER_REFUSED from every method.
    """

    def __init__(self, connection: KafkaConnection, jvm: BrokersJvm, request_timeout_s: float = 10.0) -> None:
        self._connection = connection
        self._request_timeout_s = request_timeout_s
        """Deadline of each request."""
        self._jvm = BrokersJvm(jvm.jars, tuple(option for option in jvm.java_options if option.startswith("-D")))
        self._class_path = class_path(jvm.jars)
        self._lock = Lock()
        self._closed = False
        self._process: JavaProcess | None = None
        with suppress(JavaGoneError):  # the first request starts another JVM, or reports why it cannot
            self._running()

    @property
    def pid(self) -> int | None:
        """The process id of the JVM; None if no JVM runs."""
        return None if self._process is None else self._process.pid

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

    def _offsets(self, at: str, partitions: Iterable[Partition]) -> dict[Partition, int]:
        asked = _as_rows(partitions)
        if not asked:
            return {}
        offsets = _by_partition(self._request({"ask": "offsets", "at": at, "partitions": asked}))
        if (reason := missing_leader(offsets)) is not None:
            raise self._unreachable(reason)
        return offsets

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
        if (process := self._process) is not None:
            process.close_input()  # ends a request in progress
        with self._lock:
            self._end_jvm()

    def _read(self, ranges: OffsetRanges, most_bytes: int) -> list[RawRecord]:
        if not ranges:
            return []
        rows = [[p.topic, p.partition, start, end] for p, (start, end) in ranges.items()]
        *records, last = self._answer({"ask": "read", "spans": rows, "most_bytes": most_bytes})
        if "error" in last:
            raise self._request_error(read_error(last["error"]))
        return [_record(line["record"]) for line in records]

    # --- the JVM ---

    def _request(self, request: Mapping[str, Any]) -> Any:
        answer = self._answer(request)[-1]
        if "error" in answer:
            raise self._request_error(read_error(answer["error"]))
        return answer["ok"]

    def _answer(self, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The lines of a response, from the running JVM or a new one."""
        with self._lock:
            if self._closed:
                raise self._unreachable(REASONS("CLOSED"))
            try:
                return self._ask(request)
            except JavaGoneError as gone:
                self._end_jvm()
                raise self._unreachable(REASONS("JVM_GONE", reason=gone.reason)) from None

    def _ask(self, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        # The JVM enforces the deadline itself; after twice as long it is stuck, for example in a login.
        line_timeout_s = self._request_timeout_s * 2
        used = self._process is not None
        try:
            return self._running().ask(request, line_timeout_s)
        except JavaTimeoutError:
            raise
        except JavaGoneError:
            if self._closed or not used:
                raise
            self._end_jvm()  # it had ended after an earlier request
            return self._running().ask(request, line_timeout_s)

    def _running(self) -> JavaProcess:
        if self._process is not None and self._process.runs:
            return self._process
        self._end_jvm()
        self._process = JavaProcess(self._command)
        first = {"settings": self._connection.java(), "request_timeout_ms": int(self._request_timeout_s * 1000)}
        answer = self._process.ask(first, _START_S + self._request_timeout_s)[-1]
        error = read_error(answer["error"]) if "error" in answer else None
        if error is not None and error.condition == BROKER_SETTINGS_INVALID:
            self._end_jvm()
            raise self._request_error(error)
        return self._process  # the next request fails with any other error again, and reports it

    def _end_jvm(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _command(self, scratch: Path) -> list[str]:
        return [
            java(),
            "-XX:+IgnoreUnrecognizedVMOptions",
            f"-Xmx{_HEAP_MIB}m",
            "-Xss512k",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:+PerfDisableSharedMem",
            "--enable-native-access=ALL-UNNAMED",
            # Kafka reads the errors of Kerberos by reflection.
            "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
            "-Dslf4j.internal.verbosity=ERROR",  # else it warns that there is no logger
            f"-Djava.io.tmpdir={scratch}",
            *self._jvm.java_options,
            *LOCALE,
            "-cp",
            ":".join(self._class_path),
            BROKER_REQUESTS,
        ]

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


def class_path(jars: Path) -> list[str]:
    """The jars of the small JVM: a few jars of Spark, and the jars in `jars` that are not for Spark only.

    Raises:
        LsqlError: JARS_MISSING.
    """
    sparks = spark_home() / "jars"
    paths = [path for path in sorted(jars.glob("*.jar")) if not path.name.startswith(_SPARK_ONLY_PREFIXES)]
    for folder, name in [*((jars, name) for name in _OWN_JARS), *((sparks, name) for name in _SPARK_JARS)]:
        named = sorted(folder.glob(f"{name}-[0-9]*.jar"))
        if not named:
            raise LsqlError("JARS_MISSING", path=str(folder))
        paths += [path for path in named if path not in paths]
    return [str(path) for path in paths]


def _as_rows(partitions: Iterable[Partition]) -> list[list[Any]]:
    return [[p.topic, p.partition] for p in partitions]


def _by_partition(rows: Iterable[tuple[str, int, int]]) -> dict[Partition, int]:
    return {Partition(topic, number): offset for topic, number, offset in rows}


def _record(row: tuple[str, int, int, str | None, str | None]) -> RawRecord:
    topic, number, offset, key, value = row
    return RawRecord(Partition(topic, number), offset, _bytes(key), _bytes(value))


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
