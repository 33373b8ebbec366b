"""The engine of the runtime on Spark: starts and stops plans, and reports why one failed."""

from __future__ import annotations

import gc
import json
import logging
from collections.abc import Callable, Mapping, Set
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from typing import TypeGuard

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lsql_runner.compile.codecs.avro import REGISTRY, register_registry
from lsql_runner.compile.event_time import WINDOW_END
from lsql_runner.compile.groups import aggregate_input
from lsql_runner.compile.nodes import Source, compile_node, source_of
from lsql_runner.compile.ticks import advance
from lsql_runner.compile.ticks import reset as reset_ticks
from lsql_runner.config.state_store import UriStore
from lsql_runner.container.budget import StoreMemory, store_memory
from lsql_runner.container.private_memory import private_bytes
from lsql_runner.engine.cluster import read_cluster
from lsql_runner.engine.conversion import convert_state
from lsql_runner.engine.port import Job, StoredRows, StoreRead, qualified_name
from lsql_runner.engine.query import RunningPlan
from lsql_runner.engine.record_error import record_error
from lsql_runner.engine.run_all import run_all
from lsql_runner.engine.session import SessionOptions, activate, forget_jvm, open_session
from lsql_runner.engine.source import range_reader
from lsql_runner.engine.state_options import tune_state
from lsql_runner.engine.store_reads import StoreReads, saved_reads
from lsql_runner.engine.topic_writer import output_context
from lsql_runner.engine.warm_up import warm_up
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import BatchEnded, Partition
from lsql_runner.events.memory import GarbageCollector, JvmMemory
from lsql_runner.events.workers import JoinedWorker, RefusedWorker
from lsql_runner.jvm.call import java_class
from lsql_runner.jvm.failures import (
    OF_A_RECORD,
    TIMESTAMP_TYPES,
    Failure,
    classify,
    classify_errors,
    query_error,
    store_error,
)
from lsql_runner.jvm.java_entries import BATCH_TRIGGER, FULL_COLLECTIONS, JVM_MEMORY, OPEN_STATE_STORES, OWNER
from lsql_runner.jvm.spark_jvm import SparkJvm
from lsql_runner.jvm.workers import Workers
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.plan.clocks import clock_of
from lsql_runner.plan.conversion import ConvertedQuery
from lsql_runner.plan.nodes import Aggregate, Join, PlanNode
from lsql_runner.plan.queries import Plan
from lsql_runner.plan.stores import query_stores, store_count
from lsql_runner.plan.tree import keeps_state, nodes
from lsql_runner.state.folder import StateFolder
from lsql_runner.state.offset_log import by_topic, newest_batch, planned_batch
from lsql_runner.state.owner import Owner, OwnerFile, OwnerNumber

LOG = logging.getLogger("lsql_runner.engine")

_OPENER_ENDS_S = 10.0
"""After the JVM was killed, the thread that opens the session has to end within this time."""


class SparkEngine:
    """One JVM with one session and at most one running plan. See `port.Engine` for the methods.

    A thread opens the session when the object is created, while the program is planned. `close` ends the JVM.
    """

    def __init__(
        self,
        app_id: str,
        jvm: SparkJvm,
        threads: int = 0,
        workers: Workers | None = None,
        *,
        store: UriStore | None = None,
    ) -> None:
        self._jvm = jvm
        self._state_stores_mib = jvm.state_stores_mib
        self._options = SessionOptions(
            app_id=app_id, scratch=self._jvm.scratch, threads=threads or None, workers=workers, store=store
        )
        self._opened: Future[SparkSession] = Future()
        self._opener = Thread(target=self._open, name="session", daemon=True)
        self._opener.start()
        self._running: RunningPlan | None = None
        self._job: Job | None = None
        self._saved: tuple[tuple[Plan, str], StoreReads] | None = None
        """The stores that `read_saved` has opened, with their plan and folder."""
        self._saved_lock = Lock()

    @property
    def session(self) -> SparkSession:
        """The session. Waits until it is open.

        Raises:
            LsqlError: JVM_GONE, JAVA_MISSING, JARS_MISSING.
        """
        return self._opened.result()

    def _open(self) -> None:
        try:
            self._jvm.connect()
            self._opened.set_result(open_session(self._options))
        except BaseException as error:
            self._opened.set_exception(error)

    @property
    def heap_mib(self) -> int:
        return self._jvm.heap_mib

    def jvm_death(self, within_s: float = 0.0) -> str | None:
        return None if self._jvm.is_alive(within_s) else self._jvm.death()

    def memory(self) -> JvmMemory | None:
        if not self._opened.done() or not self._jvm.is_alive():
            return None
        with suppress(Exception):  # the JVM may end during the call, which `jvm_death` reports
            measured = json.loads(java_class(JVM_MEMORY).json())
            collectors = tuple(GarbageCollector(**collector) for collector in measured.pop("collectors"))
            private = private_bytes([self._jvm.pid])
            return JvmMemory(**measured, collectors=collectors, private_bytes=private)
        return None

    def workers(self) -> tuple[tuple[JoinedWorker, ...], tuple[RefusedWorker, ...]] | None:
        if self._options.workers is None or not self._opened.done() or not self._jvm.is_alive():
            return None
        with suppress(Exception):  # the JVM may end during the call, which `jvm_death` reports
            return read_cluster()
        return None

    def shrink_heap(self, grown_bytes: int) -> None:
        if self._jvm.shrinks_heap and self._opened.done() and self._jvm.is_alive():
            with suppress(Exception):  # the JVM may end during the call, which `jvm_death` reports
                java_class(FULL_COLLECTIONS).collectIfGrown(grown_bytes)

    def reason_of(self, error: BaseException) -> str:
        return classify(error).reason

    def convert_state(
        self,
        kafka: KafkaConnection,
        owner: Owner | None,
        query: ConvertedQuery,
        source: StateFolder,
        target: StateFolder,
    ) -> None:
        session = self.session
        activate(session)
        _begin(owner)
        if self._state_stores_mib is not None:
            tune_state(session, (), store_memory(self._state_stores_mib, 2))  # one is read, and one written
        try:
            convert_state(query, source, target, range_reader(session, kafka, {}))
        except OSError as error:
            raise LsqlError("STATE_DIR_UNWRITABLE", path=str(target), reason=error.strerror or str(error)) from None
        except (PySparkException, Py4JError) as error:
            failure = classify(error)
            if failure.kind == "store":
                raise self._query_error(failure) from None
            raise LsqlError("STATE_CONVERSION_FAILED", query=query.new.name, reason=failure.reason) from None

    def start(self, job: Job) -> tuple[str, ...]:
        session = self.session
        with self._saved_lock:
            self._close_saved()
        activate(session)
        if self._options.workers is not None:
            source = replace(job.source, reads_state=False)  # the state is in other JVMs
            job = replace(job, source=source, output=replace(job.output, on_workers=True))
        self._configure(session, job)
        reset_ticks()
        _begin(job.owner)
        self._job = job
        try:
            self._running = RunningPlan(session, job)
        except (PySparkException, Py4JError) as error:
            failure = classify(error)
            if failure.kind not in ("function", "store"):
                raise
            raise self._query_error(failure) from None
        return self._running.warnings

    def warm_up(self, job: Job, goes_on: Callable[[], bool]) -> None:
        session = self.session
        activate(session)
        self._configure(session, job)
        with TemporaryDirectory(dir=self._jvm.scratch) as folder:
            warm_up(session, job, Path(folder), goes_on)

    def _configure(self, session: SparkSession, job: Job) -> None:
        """Set the session's settings for the queries of a job: registry, partitions and memory of state."""
        if job.registry is not None:
            register_registry(REGISTRY, job.registry.java())
        java_class(OPEN_STATE_STORES).keepCommitted(job.source.reads_state)
        session.conf.set("spark.sql.shuffle.partitions", str(job.state_partitions))
        tune_state(session, job.rocksdb, self._store_memory(job))

    def _store_memory(self, job: Job) -> StoreMemory | None:
        if self._state_stores_mib is None:
            return None
        return store_memory(self._state_stores_mib, job.state_partitions * store_count(job.plan))

    def death(
        self, positions: Mapping[Partition, int], ends: Callable[[], Mapping[Partition, int]]
    ) -> LsqlError | None:
        cause = None if self._running is None else self._running.death()
        if cause is None or isinstance(cause, LsqlError):
            return cause
        failure = classify_errors(cause)
        if failure.kind == "fenced" and self._is_replaced():
            return LsqlError("PROCESSOR_REPLACED", app=self._options.app_id)
        if failure.kind not in OF_A_RECORD:
            return self._query_error(failure)
        assert self._job is not None
        kafka, limit = self._job.source.kafka, self._job.source.max_records_per_batch
        ends_now = ends()
        ranges = {p: (at, min(ends_now[p], at + limit)) for p, at in positions.items() if p in ends_now}
        context = output_context(self._job.output)
        if failure.error.type in TIMESTAMP_TYPES:  # a topic whose limits are not known has refused a record
            context = context.with_default_times(self._job.plan.targets)
        error = record_error(self._job.plan, ranges, partial(range_reader, self.session, kafka), context)
        return error or LsqlError("QUERY_FAILED", reason=failure.reason)

    def dead_queries(self) -> frozenset[str]:
        return frozenset() if self._running is None else self._running.dead_queries()

    def _query_error(self, failure: Failure) -> LsqlError:
        store = self._options.store
        if failure.kind == "store" and store is not None:
            return store_error(failure, f"{store.uri}/{self._options.app_id}")
        return query_error(failure)

    def _is_replaced(self) -> bool:
        assert self._running is not None
        with suppress(Exception):  # the brokers do not respond: the restart of the query will find out
            return self._running.is_replaced()
        return False

    def count_late(self, event: BatchEnded) -> int:
        """The number of late records in a batch: once for each window that a record is late for, once for a join.

        For windows over records, Spark counts dropped groups, not records. So the batch is read again, only if it has
        late records. Spark drops records that are late by the watermark of the previous batch, which is in the offset
        log. For joins, and windows over joins, Spark's count is used.
        """
        assert self._job is not None
        dropped = {store.name: store.late_rows_dropped for store in event.stores}
        try:
            before = planned_batch(self._job.checkpoints / event.query, event.batch_id - 1)
        except (OSError, LsqlError):  # the volume or the store fails, which the query reports
            return 0
        ranges = {p: (0 if before is None else before.ends.get(p, 0), end) for p, end in event.positions.items()}
        total = 0
        for write in next(q for q in self._job.plan.queries if q.name == event.query).writes:
            for node in nodes(write.input):
                if isinstance(node, Join) or (_drops_groups(node) and keeps_state(node.input)):
                    total += dropped.get(node.store, 0)
                elif _drops_groups(node) and before is not None:
                    source = source_of(write, range_reader(self.session, self._job.source.kafka, ranges))
                    total += _late_windows(node, source, before.watermark_ms)
        return total

    def newest_ms(self) -> dict[str, int]:
        assert self._job is not None
        times: dict[str, int] = {}
        for query in self._job.plan.queries:
            clock = clock_of(query)
            batch = None if clock is None else newest_batch(self._job.checkpoints / query.name)
            if clock is not None and batch is not None and batch.watermark_ms > 0:
                times[query.name] = batch.watermark_ms + clock.delay_ms
        return times

    def advance(self, clock: str, time_ms: int) -> None:
        assert self._job is not None
        advance(clock, time_ms)
        clocks = {of_query.name: query.name for query in self._job.plan.queries if (of_query := clock_of(query))}
        java_class(BATCH_TRIGGER).wakeAll(qualified_name(self._job.source.app_id, clocks.get(clock, "")))

    def follow(self, green: str, blue: BatchEnded) -> None:
        assert self._job is not None
        name, ends = qualified_name(self._job.source.app_id, green), json.dumps(by_topic(blue.positions))
        with suppress(Py4JError):  # the JVM may end during the call, which `jvm_death` reports
            java_class(BATCH_TRIGGER).follow(name, ends, blue.watermark_ms or 0)

    def read_store(self, read: StoreRead) -> StoredRows | None:
        running = self._running
        try:
            return None if running is None else running.read_store(read)
        except (PySparkException, Py4JError, OSError):
            if self._running is running and self._jvm.is_alive():
                raise
            return None  # it was stopped during the call, or the JVM has ended, which `jvm_death` reports

    def read_saved(
        self, kafka: KafkaConnection, plan: Plan, checkpoints: StateFolder, read: StoreRead
    ) -> StoredRows | None:
        session, wanted = self.session, (plan, str(checkpoints))
        with self._saved_lock:
            if self._saved is None or self._saved[0] != wanted:
                self._close_saved()
                self._saved = wanted, saved_reads(session, plan, checkpoints, range_reader(session, kafka, {}))
            reads = self._saved[1]
        return reads.read_saved(read)

    def _close_saved(self) -> None:
        if self._saved is not None:
            self._saved[1].close()
            self._saved = None

    def save_soon(self, store: str) -> None:
        job = self._job
        if job is None or self._running is None:
            return
        for query in job.plan.queries:
            if any(each.name == store for each in query_stores(query)):
                with suppress(Py4JError):  # the JVM may end during the call
                    java_class(BATCH_TRIGGER).endOpen(qualified_name(job.source.app_id, query.name))

    def stop(self, *, drain: Set[str] = frozenset()) -> None:
        """Let running batches end, then stop the plan. The session stays open."""
        running, self._running = self._running, None
        if running is None:
            return
        try:
            running.stop(drain=drain)
        finally:
            del running
            # The JVM keeps each object that Python refers to. A py4j object refers to itself, so that only this
            # releases it: up to 8 MiB for two windowed counts. Python collects its oldest objects rarely.
            gc.collect()

    def close(self) -> None:
        """End plan, session and JVM, and delete the temporary files."""
        if not self._opened.done():
            self._jvm.kill()  # the session is not open yet
            self._opener.join(_OPENER_ENDS_S)
        else:
            if self._opened.exception() is None:
                self._stop_session()
            self._jvm.close()
        forget_jvm()

    def _stop_session(self) -> None:
        try:
            run_all([self.stop, self.session.stop])
        except Exception as error:
            if self._jvm.is_alive():  # calls of a JVM that has ended fail in many ways
                LOG.warning("the session did not end cleanly", extra={"reason": self.reason_of(error)})


def _begin(owner: Owner | None) -> None:
    """Let the JVM end before it writes to the checkpoints of another owner."""
    match owner:
        case OwnerFile(file, text):
            java_class(OWNER).begin(str(file), text)
        case OwnerNumber(folder, number):
            java_class(OWNER).beginAt(str(folder), number)


def _drops_groups(node: PlanNode) -> TypeGuard[Aggregate]:
    """Whether Spark drops late groups of this node. Our operator for sessions counts late records itself."""
    return isinstance(node, Aggregate) and node.window is not None and not node.is_session


def _late_windows(node: Aggregate, source: Source, watermark_ms: int) -> int:
    """The number of pairs of a record and a window that had ended before the watermark."""
    plain = replace(node, grace_ms=0)
    rows, _ = aggregate_input(plain, compile_node(plain.input, source))
    return rows.select(WINDOW_END).where(F.unix_millis(WINDOW_END) <= F.lit(watermark_ms)).count()
