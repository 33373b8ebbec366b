"""Spark as the runtime sees it: start a plan, watch it, stop it, say what it died of."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from threading import Thread
from typing import TypeGuard

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lsql_runner.engine.codecs.avro import REGISTRY, register_registry
from lsql_runner.engine.compile import Source, compile_node, source_of
from lsql_runner.engine.culprit import record_error
from lsql_runner.engine.failures import classify, classify_errors
from lsql_runner.engine.groups import aggregate_input, window_of
from lsql_runner.engine.offset_log import newest_batch, planned_batch
from lsql_runner.engine.port import Job
from lsql_runner.engine.query import Launch, RunningPlan
from lsql_runner.engine.session import SessionOptions, activate, forget_jvm, open_session
from lsql_runner.engine.sink import outlet_of
from lsql_runner.engine.source import range_reader, stream_reader
from lsql_runner.engine.state_options import tune_state
from lsql_runner.engine.ticks import advance
from lsql_runner.engine.ticks import reset as reset_ticks
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import BatchEnded, Partition
from lsql_runner.jvm.spark_jvm import JvmOptions, SparkJvm
from lsql_runner.plan.nodes import Aggregate, Join, PlanNode
from lsql_runner.plan.tree import keeps_state, nodes, watermark_delay_ms

LOG = logging.getLogger("lsql_runner.engine")

_OPENER_ENDS_S = 10.0
"""How long the opening of a session takes to fail once its JVM was killed."""


class SparkEngine:
    """One JVM, one session, at most one running plan. Both start with the object, while the program is planned."""

    def __init__(self, app_id: str, jvm: JvmOptions, threads: int = 0) -> None:
        self._jvm = SparkJvm(jvm)
        self._options = SessionOptions(app_id, self._jvm.scratch, threads or None)
        self._opened: Future[SparkSession] = Future()
        self._opener = Thread(target=self._open, name="session", daemon=True)
        self._opener.start()
        self._running: RunningPlan | None = None
        self._job: Job | None = None

    @property
    def session(self) -> SparkSession:
        """The session, as soon as it is open.

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

    def jvm_death(self, within_s: float = 0.0) -> str | None:
        """How the JVM ended; None while it lives. `within_s` waits for the process to end after its sockets closed."""
        return None if self._jvm.is_alive(within_s) else self._jvm.death()

    def reason_of(self, error: BaseException) -> str:
        """One line for people about an exception of Spark or of Python."""
        return classify(error).reason

    def start(self, job: Job) -> None:
        """Run a plan.

        Raises:
            LsqlError: JVM_GONE, QUERY_FAILED; SINK_UNREACHABLE, SINK_REFUSED, SINK_TABLE_MISMATCH.
        """
        session = self.session
        activate(session)
        if job.registry is not None:
            register_registry(REGISTRY, job.registry.java())
        tune_state(session, job.rocksdb)
        reader = stream_reader(session, job.source)
        reset_ticks(session)

        self._job = job
        launch = Launch(job.plan, reader, job.sink, job.checkpoints, job.on_batch, job.row_sinks)
        self._running = RunningPlan(session, launch)

    def death(self, positions: Mapping[Partition, int], ends: Mapping[Partition, int]) -> LsqlError | None:
        """What the plan died of; None while it runs.

        Args:
            positions: next offset to read, for each source partition.
            ends: the end of each.
        """
        cause = None if self._running is None else self._running.death()
        if cause is None or isinstance(cause, LsqlError):
            return cause
        failure = classify_errors(cause)
        if failure.kind == "data-loss":
            return LsqlError("OFFSETS_OUT_OF_RANGE", reason=failure.reason)
        if failure.kind == "too-large":
            return LsqlError("GROUP_TOO_LARGE", reason=failure.reason)
        if failure.kind == "passing":
            return LsqlError("QUERY_FAILED", reason=failure.reason)
        assert self._job is not None
        kafka, limit = self._job.source.kafka, self._job.source.max_records_per_batch
        spans = {p: (at, min(ends[p], at + limit)) for p, at in positions.items() if p in ends}
        outlet = outlet_of(self._job.sink)
        error = record_error(self._job.plan, spans, lambda ranges: range_reader(self.session, kafka, ranges), outlet)
        return error or LsqlError("QUERY_FAILED", reason=failure.reason)

    def count_late(self, event: BatchEnded) -> int:
        """Records of a batch that came after the grace of a window, one for each such window, or of a join of streams.

        Of windows over records Spark's own count is of groups, after records of one group were added up; this reads the
        batch again to be exact, which happens only for batches that have late records. What Spark drops is late by the
        watermark of the batch before (its own only ends windows), and the offset log knows that one also for the first
        batch of a process. Of a join, and of what is over one, Spark's count is taken.
        """
        assert self._job is not None
        dropped = {store.name: store.late_rows_dropped for store in event.stores}
        before = planned_batch(self._job.checkpoints / event.query, event.batch_id - 1)
        ranges = {p: (0 if before is None else before.ends.get(p, 0), end) for p, end in event.positions.items()}
        total = 0
        for sink in next(q for q in self._job.plan.queries if q.name == event.query).sinks:
            for node in nodes(sink.input):
                if isinstance(node, Join) or (_drops_groups(node) and keeps_state(node.input)):
                    total += dropped.get(node.store, 0)
                elif _drops_groups(node) and before is not None:
                    source = source_of(sink, range_reader(self.session, self._job.source.kafka, ranges))
                    total += _late(node, source, before.watermark_ms)
        return total

    def newest_ms(self) -> dict[str, int]:
        """By query with final results the newest event time that its checkpoint knows: milliseconds since 1970 UTC."""
        assert self._job is not None
        found: dict[str, int] = {}
        for query in self._job.plan.queries:
            delays = [watermark_delay_ms(node) for node in query.final_groups]
            batch = newest_batch(self._job.checkpoints / query.name) if delays else None
            if batch is not None and batch.watermark_ms > 0:
                found[query.name] = batch.watermark_ms + delays[0]
        return found

    def advance(self, clock: str, time_ms: int) -> None:
        """Let the time of a store's topic go on without records, to milliseconds since 1970 UTC."""
        advance(self.session, clock, time_ms)

    def stop(self) -> None:
        """Let the batches under way end and stop the plan; the session stays."""
        if self._running is not None:
            self._running.stop()
        self._running = None

    def close(self) -> None:
        """End everything: plan, session, JVM, temporary files."""
        if not self._opened.done():
            self._jvm.kill()  # it is still starting; there is nothing in it to end in order
            self._opener.join(_OPENER_ENDS_S)
        else:
            with suppress(Exception):  # a JVM that dies meanwhile has nothing left to end
                self.stop()
                self.session.stop()
            self._jvm.close()
        forget_jvm()


def _drops_groups(node: PlanNode) -> TypeGuard[Aggregate]:
    """Whether late records are Spark's matter: sessions count their own."""
    return isinstance(node, Aggregate) and node.window is not None and not node.window.is_session


def _late(node: Aggregate, source: Source, watermark_ms: int) -> int:
    """The windows of a source's records that were over, as often as there are such records."""
    plain = replace(node, grace_ms=0)
    rows = aggregate_input(plain, compile_node(plain.input, source))[0].select(window_of(node))
    return rows.where(F.unix_millis(F.col("window.end")) <= F.lit(watermark_ms)).count()
