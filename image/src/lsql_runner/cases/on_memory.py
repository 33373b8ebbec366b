"""Runs cases with the in-memory engine: the same queries without brokers."""

from __future__ import annotations

from lsql_runner.cases.case_run import CaseRun
from lsql_runner.cases.compare import ActualRecord
from lsql_runner.cases.model import Case
from lsql_runner.cases.prepare import EncodedRecord, PreparedCase
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.engine.rows import TopicRecord
from lsql_runner.start.targets import compacted_targets


class MemoryCases:
    """A CaseEngine. The caller closes the MemoryEngine, which runs any number of cases in one JVM."""

    def __init__(self, engine: MemoryEngine) -> None:
        self._engine = engine

    def run(self, case: Case, prepared: PreparedCase) -> CaseRun:
        schemas = prepared.registry.texts()
        batches = [topic_records(batch) for batch in prepared.batches]
        compacted = compacted_targets(prepared.planned)
        run = self._engine.run(prepared.plan, batches, schemas, idle_ms=case.idle_ms, compacted=compacted)
        records = (
            ActualRecord(topic=r.topic, key=r.key, value=r.value, timestamp_ms=r.timestamp_ms, headers=r.headers)
            for r in run.records
        )
        return CaseRun(tuple(records), run.error, schemas)


def topic_records(batch: tuple[EncodedRecord, ...]) -> list[TopicRecord]:
    """Input records of a case as the engine takes them."""
    return [
        TopicRecord(
            topic=r.topic,
            key=r.key,
            value=r.value,
            timestamp_ms=r.timestamp_ms,
            partition=r.partition,
            offset=r.offset,
            headers=r.headers,
        )
        for r in batch
    ]
