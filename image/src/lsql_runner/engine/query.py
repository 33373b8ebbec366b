"""A running plan: its queries, and an orderly stop."""

from __future__ import annotations

import time
from collections.abc import Set
from contextlib import suppress
from functools import partial

from pyspark.sql import SparkSession

from lsql_runner.engine.continuous import ContinuousQuery
from lsql_runner.engine.micro_batches import BatchReports, MicroBatchQuery, start_for_sink, start_for_topics
from lsql_runner.engine.port import Job, StoredRows, StoreRead
from lsql_runner.engine.run_all import run_all
from lsql_runner.engine.running_query import RunningQuery
from lsql_runner.engine.sink_writer import renew_if_sink_is_ahead, sink_writer
from lsql_runner.engine.store_reads import reads_of
from lsql_runner.engine.topic_output import commit_abandoned
from lsql_runner.errors import LsqlError
from lsql_runner.jvm.java_error import JavaErrors
from lsql_runner.state.offset_log import open_checkpoint

_STOP_DEADLINE_S = 30.0

_RESTORED = (
    "The sink has later batches of the query {query} than its checkpoint: the volume was restored from a snapshot. "
    "The rows since the snapshot are written again."
)

_TRANSACTION_LIMIT = (
    "The brokers allow a transaction to stay open for {seconds} s only (transaction.max.timeout.ms), not for 15 "
    "minutes. After a kill, the processor must start again within this time: else consumers of uncommitted records "
    "may see its last results twice."
)


class RunningPlan:
    """The queries of a plan. They are started and stopped together.

    Raises:
        LsqlError: as `sink_writer`; then no query runs.
    """

    def __init__(self, spark: SparkSession, job: Job) -> None:
        # All targets are checked before the first batch is written to any of them.
        sink_writers = {
            query.name: sink_writer(spark, job.output.app_id, query.name, query.sink_write, job.sinks)
            for query in job.plan.queries
            if query.sink_write is not None
        }
        for query in job.plan.queries:
            open_checkpoint(job.checkpoints / query.name)
        commit_abandoned(job)
        self.warnings = tuple(
            _RESTORED.format(query=query.name)
            for query in job.plan.queries
            if query.sink_write is not None
            and renew_if_sink_is_ahead(
                sink_writers[query.name], job.checkpoints / query.name, query.sink_write, job.sinks
            )
        )
        """Warnings of the start for a person."""
        self._reports = BatchReports(spark, job)
        self._plan = job.plan
        self._queries: list[RunningQuery] = []
        try:
            for query in job.plan.queries:
                if query.continuous:
                    self._queries.append(ContinuousQuery(spark, query, job))
                elif query.sink_write is None:
                    self._queries.append(start_for_topics(spark, query, job, self._reports))
                else:
                    writer = sink_writers[query.name]
                    self._queries.append(start_for_sink(spark, query, query.sink_write, writer, job, self._reports))
        except BaseException:
            with suppress(Exception):  # the cause is reported, not what follows from it
                self._stop_at_once()
            raise
        self._reads = reads_of(
            spark,
            job,
            {
                query.name: running.streaming
                for query, running in zip(job.plan.queries, self._queries, strict=True)
                if isinstance(running, MicroBatchQuery)
            },
        )
        limit_ms = max(query.transaction_limit_ms() for query in self._queries)
        if limit_ms:
            self.warnings += (_TRANSACTION_LIMIT.format(seconds=limit_ms // 1000),)

    def read_store(self, read: StoreRead) -> StoredRows | None:
        """See `port.Engine.read_store`."""
        return self._reads.read(read, self._reports.ended)

    def death(self) -> JavaErrors | LsqlError | None:
        """Why a query ended without a stop; None if all queries run."""
        return next((death for query in self._queries if (death := query.death()) is not None), None)

    def dead_queries(self) -> frozenset[str]:
        """See `port.Engine.dead_queries`."""
        return frozenset(name for name, query in self._by_name.items() if query.death() is not None)

    @property
    def _by_name(self) -> dict[str, RunningQuery]:
        return {query.name: running for query, running in zip(self._plan.queries, self._queries, strict=True)}

    def is_replaced(self) -> bool:
        """After a producer was fenced: whether another process writes in place of this one."""
        return any(query.is_replaced() for query in self._queries)

    def stop(self, *, drain: Set[str]) -> None:
        """Let the queries write the records that they have read, so that these are committed, then stop.

        An error does not keep the other queries from being stopped; the first one is raised at the end.
        """
        deadline = time.monotonic() + _STOP_DEADLINE_S
        run_all(
            [
                *(partial(query.request_stop, drain=name in drain) for name, query in self._by_name.items()),
                *(partial(query.wait_for_stop, deadline) for query in self._queries),
                self._stop_at_once,
            ]
        )

    def _stop_at_once(self) -> None:
        run_all([*(query.stop for query in self._queries), self._reports.close])
