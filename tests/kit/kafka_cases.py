"""Case files on a real broker: the other side of the contract whose memory side is `engine.memory`."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path

from lsql_runner.batches import BatchEnded, Partition
from lsql_runner.engine.memory import MemoryRecord, MemoryRun, OutputRecord
from lsql_runner.engine.processor import Job, SparkEngine
from lsql_runner.engine.sink import SinkOptions
from lsql_runner.engine.source import SourceOptions
from lsql_runner.errors import LsqlError
from lsql_runner.kafka.client import KafkaConnection
from lsql_runner.plan.nodes import Plan
from tests.kit.broker import Broker
from tests.kit.records import Record

DEADLINE_S = 60
POLL_S = 0.02


class KafkaCases:
    """Runs plans over micro-batches of records (see `cases.run.CaseEngine`).

    Each micro-batch is written to the topics while nothing reads, then read to its end by queries started anew on
    their checkpoints: so the batches are those of the case, and every one of them is also a restart.
    """

    def __init__(self, broker: Broker, engine: SparkEngine, folder: Path) -> None:
        self._broker = broker
        self._engine = engine
        self._folder = folder
        self._made: dict[str, int] = {}

    def run(self, plan: Plan, batches: Sequence[Sequence[MemoryRecord]]) -> MemoryRun:
        sources = {source.topic: source.partitions or 1 for source in plan.sources}
        targets = sorted({sink.topic for sink in plan.topic_sinks} - sources.keys())
        topics = sources | dict.fromkeys(targets, 1)
        if any(self._made.get(name, count) != count for name, count in topics.items()):
            self._broker.close_clients()  # they remember how many partitions the last topic of that name had
        self._made |= topics
        for name, partitions in topics.items():
            self._broker.create_topic(name, partitions)
        try:
            run = _Run(plan, sources, self._broker, self._engine, self._folder / uuid.uuid4().hex)
            for batch in batches:
                error = run.feed(batch)
                if error is not None:
                    return MemoryRun((), error)
            return MemoryRun(tuple(self._written(targets)))
        finally:
            for name in topics:
                self._broker.delete_topic(name)

    def _written(self, targets: Iterable[str]) -> Iterable[OutputRecord]:
        for topic in targets:
            for record in self._broker.consume_all(topic):
                yield OutputRecord(topic, record.key, record.value, record.timestamp_ms or 0, record.headers, 0)


class _Run:
    """One plan, over all its batches."""

    def __init__(
        self, plan: Plan, sources: dict[str, int], broker: Broker, engine: SparkEngine, checkpoints: Path
    ) -> None:
        connection = KafkaConnection(broker.bootstrap)
        app_id = checkpoints.name
        self._broker = broker
        self._engine = engine
        self._job = Job(
            plan,
            SourceOptions(connection, app_id, partitions=sources),
            SinkOptions(connection, app_id),
            checkpoints,
            self._batch_ended,
        )
        self._positions: dict[str, dict[Partition, int]] = {query.name: {} for query in plan.queries}
        self._ends: dict[Partition, int] = {}

    def feed(self, batch: Sequence[MemoryRecord]) -> LsqlError | None:
        """Writes and reads a batch; what the plan died of, if it did."""
        for record in batch:
            place = Partition(record.topic, record.partition)
            self._ends[place] = self._ends.get(place, 0) + 1
            self._broker.produce(record.topic, [_kit_record(record)])
        self._engine.start(self._job)
        try:
            return self._read()
        finally:
            self._engine.stop()

    def _read(self) -> LsqlError | None:
        deadline = time.monotonic() + DEADLINE_S
        while not all(self._has_read(query.name) for query in self._job.plan.queries):
            if time.monotonic() > deadline:
                raise AssertionError(f"not read within {DEADLINE_S} s: {self._positions} of {self._ends}")
            error = self._engine.death(self._least(), self._ends)
            if error is not None:
                return error
            time.sleep(POLL_S)
        return None

    def _has_read(self, name: str) -> bool:
        query = next(q for q in self._job.plan.queries if q.name == name)
        topics = {source.topic for source in query.sources}
        ends = {place: end for place, end in self._ends.items() if place.topic in topics}
        return all(self._positions[name].get(place, 0) >= end for place, end in ends.items())

    def _least(self) -> dict[Partition, int]:
        found = self._positions.values()
        return {place: min((p[place] for p in found if place in p), default=0) for place in self._ends}

    def _batch_ended(self, event: BatchEnded) -> None:
        self._positions[event.query] = event.positions


def _kit_record(record: MemoryRecord) -> Record:
    # The client library takes a time of 0 for the present.
    time_ms = max(record.timestamp_ms, 1)
    return Record(record.key, record.value, record.headers, time_ms, record.partition)
