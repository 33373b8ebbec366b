"""A plan that runs: its streaming queries, their batches, and a stop that lets the batch end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event as Flag
from threading import Lock
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)
from pyspark.sql.streaming.query import StreamingQuery

from lsql_runner.batches import BatchEnded
from lsql_runner.engine.compile import Reader, compile_query
from lsql_runner.engine.progress import OUTPUT_METRIC, batch_ended
from lsql_runner.plan.nodes import Plan, Query

Write = Callable[[DataFrame, str, int], None]
"""Writes one batch: the records, the query's name, the batch id."""

_STOP_DEADLINE_S = 30.0


class _StopAsked(Exception):
    """Raised into a batch that begins after a stop was asked for; nothing of it is written."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What a plan needs to run. Each query keeps its checkpoint in `checkpoints / <name>`."""

    plan: Plan
    read: Reader
    write: Write
    checkpoints: Path | str
    on_batch: Callable[[BatchEnded], None]


class RunningPlan:
    """All queries of a plan. They live and die together: a program has one lifecycle."""

    def __init__(self, spark: SparkSession, launch: Launch) -> None:
        self._spark = spark
        self._stopping = Flag()
        self._writing = {query.name: Lock() for query in launch.plan.queries}
        self._listener = _Progress(
            {q.name: tuple(s.store for s in q.stores) for q in launch.plan.queries}, launch.on_batch
        )
        spark.streams.addListener(self._listener)
        self._queries: list[StreamingQuery] = []
        try:
            for query in launch.plan.queries:
                self._queries.append(self._start(query, launch))
        except BaseException:
            self.abandon()
            raise

    def _start(self, query: Query, launch: Launch) -> StreamingQuery:
        frame = compile_query(query, launch.read).observe(OUTPUT_METRIC, F.count(F.lit(1)).alias("records"))

        def write(batch: DataFrame, batch_id: int) -> None:
            if self._stopping.is_set():
                raise _StopAsked
            with self._writing[query.name]:
                launch.write(batch, query.name, batch_id)

        return (
            frame.writeStream.queryName(query.name)
            .outputMode("update")
            .option("checkpointLocation", f"{launch.checkpoints}/{query.name}")
            .foreachBatch(write)
            .start()
        )

    def death(self) -> StreamingQueryException | None:
        """Why a query ended by itself; None while all run."""
        for query in self._queries:
            if not query.isActive:
                return query.exception() or StreamingQueryException("the query ended without a reason")
        return None

    def stop(self) -> None:
        """Let the batches under way end, then stop. Nothing that was written is left uncommitted."""
        self._stopping.set()
        deadline = time.monotonic() + _STOP_DEADLINE_S
        for query in self._queries:
            while query.isActive and time.monotonic() < deadline:
                if not self._writing[query.name].locked() and not query.status["isTriggerActive"]:
                    break
                time.sleep(0.01)
        self.abandon()

    def abandon(self) -> None:
        """Stop at once."""
        self._stopping.set()
        for query in self._queries:
            query.stop()
            for progress in query.recentProgress:  # reports travel on a bus of their own and may come too late
                self._listener.take(json.loads(progress.json))
        self._spark.streams.removeListener(self._listener)


class _Progress(StreamingQueryListener):
    """Turns Spark's reports of this plan's queries into events."""

    def __init__(self, stores: dict[str, tuple[str, ...]], on_batch: Callable[[BatchEnded], None]) -> None:
        self._stores = stores
        self._on_batch = on_batch
        self._seen: dict[str, int] = {}
        self._lock = Lock()

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        pass

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        self.take(json.loads(event.progress.json))

    def take(self, progress: dict[str, Any]) -> None:
        """Tell of a batch, once."""
        ended = batch_ended(progress, self._stores.get(progress["name"], ()))
        if ended is None:
            return
        with self._lock:
            new = ended.batch_id > self._seen.get(ended.query, -1)
            self._seen[ended.query] = max(ended.batch_id, self._seen.get(ended.query, -1))
        if new:
            self._on_batch(ended)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        pass

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        pass
