"""Reads the committed state of queries. See `port.Engine.read_store`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lsql_runner.compile.nodes import Reader
from lsql_runner.compile.reads import GroupReads, group_reads, key_type
from lsql_runner.engine.port import Job, StoredRows, StoreRead
from lsql_runner.engine.session import activate
from lsql_runner.engine.source import range_reader
from lsql_runner.errors import DetailTable, LsqlError
from lsql_runner.jvm.call import java_class
from lsql_runner.jvm.failures import classify
from lsql_runner.jvm.java_entries import STORE_READER
from lsql_runner.plan.nodes import Aggregate
from lsql_runner.plan.queries import Plan, Query, Write
from lsql_runner.plan.stores import operator_number, query_stores, reads_state
from lsql_runner.plan.tree import nodes
from lsql_runner.state.folder import StateFolder
from lsql_runner.state.offset_log import PlannedBatch, newest_committed, operator_state_ids, planned_batch
from lsql_runner.types import STRING, describe

REASONS = DetailTable(
    {
        "WORKERS": "it is in the memory of workers",
        "KIND": "only groups and sessions can be read, and none beside a join in batches",
    }
)
_ANY_MS = 1 << 62
"""Later than any window, in milliseconds since 1970 UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """A store that can be read."""

    query: Query
    node: Aggregate
    reads: GroupReads
    java: JavaObject
    """A STORE_READER."""
    batch: int | None
    """The last batch when it was opened, if it reads files."""
    until: float
    """How long it is used although there is a newer batch, on the monotonic clock in seconds."""

    @property
    def finds(self) -> bool:
        """Whether it finds the row of a key; else all rows are compared."""
        return self.reads.group is not None


_LEAST_USE_S = 1.0
_USES = 10
"""Files are opened again after ten times the time that it has taken, so that it takes a tenth of the time."""


Open = Callable[[Query, str, GroupReads], JavaObject]
"""Opens the store with a name: a STORE_READER. Raises LsqlError: STORE_NOT_QUERYABLE."""


class StoreReads:
    """The stores of a plan.

    Args:
        spark: the session.
        plan: the plan, with the names of its state.
        checkpoints: the folder of the checkpoints.
        read: returns the records of a topic, which are not read.
        opens: opens the stores.
        only_running: whether only stores can be read that a running query lets others read.
    """

    def __init__(
        self,
        spark: SparkSession,
        plan: Plan,
        checkpoints: StateFolder,
        *,
        read: Reader,
        opens: Open,
        only_running: bool = True,
    ) -> None:
        self._spark = spark
        self._plan = plan
        self._checkpoints = checkpoints
        self._read_topic = read
        self._opens = opens
        self._only_running = only_running
        self._readers: dict[str, _Reader] = {}
        self._planned: dict[tuple[str, int], PlannedBatch] = {}
        self._lock = Lock()

    def read(self, read: StoreRead, committed: Mapping[str, int]) -> StoredRows | None:
        """The rows; None before a batch has loaded the store.

        Args:
            committed: by query, the id of the last batch that has ended in this process.

        Raises:
            LsqlError: STORE_NOT_QUERYABLE, STORE_KEY_INVALID, STORE_CURSOR_INVALID.
        """
        reader = self._reader(read.store)
        query = reader.query.name
        batch = committed.get(query)
        if batch is None:
            return None
        found = self._found(reader, read, batch + 1)
        return None if found is None else self._rows(query, json.loads(found.partition(',"rows":')[0] + "}"), found)

    def read_saved(self, read: StoreRead) -> StoredRows | None:
        """The rows after a recent batch of queries that do not run in this process; None if the store has no batch.

        Raises:
            LsqlError: STORE_UNREADABLE; as `read`.
        """
        names = (query.name for query in self._plan.queries)
        try:
            batches = {name: newest_committed(self._checkpoints / name) for name in names}
            committed = {name: batch for name, batch in batches.items() if batch is not None}
            rows = self.read(read, committed)
            return self.read(read, committed) if rows is None else rows  # the files were opened again meanwhile
        except (PySparkException, Py4JError, OSError) as error:
            raise LsqlError("STORE_UNREADABLE", store=read.store, reason=classify(error).reason) from None

    def close(self) -> None:
        """Close the stores that were opened from files."""
        with self._lock:
            readers, self._readers = self._readers, {}
        for reader in readers.values():
            reader.java.close()

    def _found(self, reader: _Reader, read: StoreRead, newest: int) -> str | None:
        keys = [None if key is None else _json_key(reader.node, key) for key in (read.key, read.key_from, read.key_to)]
        key, *bounds = keys
        window = None if reader.node.is_session else reader.node.window  # the sessions of a key are one entry
        is_one = reader.finds and bounds == [None, None] and (window is None or read.window_ms is not None)
        since = read.window_ms if read.window_ms is not None else read.since_ms
        until = read.until_ms if read.window_ms is None else read.window_ms + 1
        limits = (-_ANY_MS if since is None else since, _ANY_MS if until is None else until)
        try:
            if key is not None and is_one:
                end = None if window is None or read.window_ms is None else read.window_ms + window.size_ms
                found = reader.java.find(key, end, reader.java.filter(None, *bounds, *limits), newest)
            else:
                rows = reader.java.filter(key, *bounds, *limits)
                found = reader.java.scan(read.cursor, read.limit, read.partition, rows, newest)
        except Py4JJavaError as error:
            failure = classify(error)
            if failure.error.type == "CursorException":
                raise LsqlError("STORE_CURSOR_INVALID", cursor=read.cursor or "") from None
            if keys != [None] * 3 and failure.kind == "malformed":
                kind = describe(key_type(reader.node))
                raise LsqlError("STORE_KEY_INVALID", store=read.store, type=kind, reason=failure.reason) from None
            raise
        return None if found is None else str(found)

    def _rows(self, query: str, head: dict[str, Any], found: str) -> StoredRows | None:
        batch = int(head["version"]) - 1
        planned = self._batch(query, batch)
        if planned is None:  # the log has been cut meanwhile
            return None
        return StoredRows(
            rows=found.partition(',"rows":')[2].removesuffix("}"),
            cursor=head["next"],
            batch=batch,
            positions=planned.ends,
            watermark_ms=planned.watermark_ms or None,
            planned_ms=planned.at_ms,
        )

    def _batch(self, query: str, batch: int) -> PlannedBatch | None:
        planned = self._planned.get((query, batch))
        if planned is None:
            planned = planned_batch(self._checkpoints / query, batch)
            with self._lock:
                self._planned = {each: of for each, of in self._planned.items() if each[0] != query}
                if planned is not None:
                    self._planned[query, batch] = planned
        return planned

    def _reader(self, store: str) -> _Reader:
        with self._lock:
            reader = self._readers.get(store)
            if reader is not None and not self._is_old(reader):
                return reader
            opened = self._readers[store] = self._open(store, reader)
        if reader is not None:
            reader.java.close()
        return opened

    def _is_old(self, reader: _Reader) -> bool:
        if self._only_running or time.monotonic() < reader.until:
            return False
        return newest_committed(self._checkpoints / reader.query.name) != reader.batch

    def _open(self, store: str, before: _Reader | None) -> _Reader:
        query, write, node = self._find(store)
        if node is None:
            raise LsqlError("STORE_NOT_QUERYABLE", store=store, reason=REASONS("KIND"))
        activate(self._spark)
        reads = before.reads if before is not None else group_reads(write, node, self._read_topic)
        batch = None if self._only_running else newest_committed(self._checkpoints / query.name)
        began = time.monotonic()
        java = self._opens(query, store, reads)
        now = time.monotonic()
        until = now + max(_LEAST_USE_S, _USES * (now - began))
        return _Reader(query=query, node=node, reads=reads, java=java, batch=batch, until=until)

    def _find(self, store: str) -> tuple[Query, Write, Aggregate | None]:
        """The query and the INSERT of a store, and its aggregate; None if it is a store that cannot be read."""
        for query in self._plan.queries:
            if any(each.name == store for each in query_stores(query)):
                can_read = not self._only_running or reads_state(query)
                for write in query.writes:
                    for node in nodes(write.input):
                        if isinstance(node, Aggregate) and node.store == store:
                            return query, write, node if can_read else None
                return query, query.writes[0], None
        raise LsqlError("NOT_FOUND", path=f"/metadata/{store}")


def reads_of(spark: SparkSession, job: Job, running: Mapping[str, StreamingQuery]) -> StoreReads:
    """The stores of the running queries of a job."""

    def opens(query: Query, store: str, reads: GroupReads) -> JavaObject:
        streaming = running.get(query.name)
        if job.output.on_workers:
            raise LsqlError("STORE_NOT_QUERYABLE", store=store, reason=REASONS("WORKERS"))
        if streaming is None:
            raise LsqlError("STORE_NOT_QUERYABLE", store=store, reason=REASONS("KIND"))
        return java_class(STORE_READER).of(streaming._jsq, operator_number(query, store), *_frames(reads))

    return StoreReads(spark, job.plan, job.checkpoints, read=range_reader(spark, job.source.kafka, {}), opens=opens)


def saved_reads(spark: SparkSession, plan: Plan, checkpoints: StateFolder, read: Reader) -> StoreReads:
    """The stores in the checkpoints of queries that do not run.

    Args:
        spark: the session.
        plan: the plan, with the names of the state.
        checkpoints: the folder of the checkpoints.
        read: returns the records of a topic, which are not read.
    """

    def opens(query: Query, store: str, reads: GroupReads) -> JavaObject:
        checkpoint, operator = checkpoints / query.name, operator_number(query, store)
        batch = newest_committed(checkpoint)
        ids = [] if batch is None else operator_state_ids(checkpoint, batch, operator)
        folder = f"{checkpoint}/state"
        if batch is None or not ids:
            raise FileNotFoundError(folder)
        return java_class(STORE_READER).ofFiles(spark._jsparkSession, folder, operator, batch + 1, ids, *_frames(reads))

    return StoreReads(spark, plan, checkpoints, read=read, opens=opens, only_running=False)


def _frames(reads: GroupReads) -> tuple[Any, ...]:
    group = None if reads.group is None else reads.group._jdf
    return reads.shown_key._jdf, group, reads.places._jdf, reads.values._jdf


def _json_key(node: Aggregate, text: str) -> bytes:
    """A key as JSON. A key that is a STRING is given without quotes."""
    return (json.dumps(text, ensure_ascii=False) if key_type(node) == STRING else text).encode()
