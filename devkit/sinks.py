"""Sinks for the contract tests: they get the rows of a batch and return their content. Two are real, one is a fake."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from devkit import postgres, redis
from devkit.jars import jar_folder
from devkit.postgres import Postgres
from devkit.redis import Redis
from lsql_runner.compile.sink_rows import row_records, sink_rows
from lsql_runner.config.sink_connection import SinkConnection
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.engine.port import Sinks
from lsql_runner.engine.rows import TopicRecord
from lsql_runner.engine.sink_failures import sink_error
from lsql_runner.engine.sink_writer import renew_if_sink_is_ahead, sink_writer
from lsql_runner.formats.catalog import Catalog
from lsql_runner.formats.declared import declared_topics
from lsql_runner.jvm.java_errors import errors_of
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.queries import WriteSink
from lsql_runner.state.folder import StateFolder

Row = dict[str, Any]
TOPICS: Mapping[str, Any] = {
    "people": {
        "key": {"format": "LONG"},
        "value": {"format": "JSON", "schema": {"name": "string", "score": "double", "tags": "array<string>"}},
    },
    "numbers": {
        "key": {"format": "STRING"},
        "value": {"format": "JSON", "schema": {"n": "numeric", "half": "numeric"}},
        "origin": "sampled",
    },
}


def planned(sql: str, kind: str) -> WriteSink:
    """The INSERT of a program over TOPICS into the sink `db`."""
    plan = plan_text(sql, Catalog(declared_topics(TOPICS), sinks={"db": kind})).plan
    [write] = plan.sink_writes
    return write


def person(offset: int, key: int | None, value: Row | None, partition: int = 0) -> TopicRecord:
    """A record of the topic `people`."""
    raw = None if key is None else key.to_bytes(8, "big", signed=True)
    body = None if value is None else json.dumps(value).encode()
    return TopicRecord(topic="people", key=raw, value=body, timestamp_ms=0, partition=partition, offset=offset)


class EmptySink(Protocol):
    """An empty sink of one kind."""

    kind: str

    def write(self, sql: str, batch: int, records: Sequence[TopicRecord], run: str = "run") -> None:
        """Write a micro-batch as a query does; `run` is the id of the query.

        Raises:
            LsqlError: the error that a processor reports for the failure.
        """

    def rows(self, table: str) -> list[Row]:
        """The content of `db.<table>`, sorted by the first key column."""


class RealSink:
    """The writer of the JVM, with a real server."""

    def __init__(self, engine: MemoryEngine, connection: SinkConnection) -> None:
        self.kind = connection.kind
        self._engine = engine
        self._sinks = Sinks({"db": connection}, jar_folder("jars") / "sinks")

    def write(self, sql: str, batch: int, records: Sequence[TopicRecord], run: str = "run") -> None:
        session, write = self._engine.session, planned(sql, self.kind)
        writer = sink_writer(session, "tests", "sink-0", write, self._sinks)
        session.sparkContext.setLocalProperty("sql.streaming.queryId", run)
        frame = sink_rows(write, self._engine.reader(records))
        try:
            writer.call(frame._jdf, batch)
        except Exception as error:
            raise sink_error(errors_of(error), write, self._sinks.connections) or error from None

    def is_ahead(self, sql: str, checkpoint: StateFolder) -> bool:
        """Whether the last batch in the server is later than the planned batches of a checkpoint."""
        write = planned(sql, self.kind)
        writer = sink_writer(self._engine.session, "tests", "sink-0", write, self._sinks)
        return renew_if_sink_is_ahead(writer, checkpoint, write, self._sinks)


class PostgresSink(RealSink):
    def __init__(self, engine: MemoryEngine, server: Postgres) -> None:
        super().__init__(
            engine,
            SinkConnection(
                name="db", kind="postgresql", url=server.url, user=postgres.USER, password=postgres.PASSWORD
            ),
        )
        self._server = server
        server.sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")

    def rows(self, table: str) -> list[Row]:
        return sorted(self._server.rows(table), key=_first)


class RedisSink(RealSink):
    def __init__(self, engine: MemoryEngine, server: Redis) -> None:
        super().__init__(
            engine, SinkConnection(name="db", kind="redis", url=server.url, user="", password=redis.PASSWORD)
        )
        self._server = server
        server.command("FLUSHALL")

    def rows(self, table: str) -> list[Row]:
        keys = [key for key in self._server.all_keys() if key.startswith(f"{table}:")]
        return sorted((json.loads(self._server.command("GET", key)) for key in keys), key=_first)


class MemorySink:
    """A sink in a dictionary, with the rows that `lsql test` compares."""

    kind = "postgresql"

    def __init__(self, engine: MemoryEngine) -> None:
        self._engine = engine
        self._tables: dict[str, dict[Any, Row]] = {}
        self._written: dict[str, tuple[str, int]] = {}

    def write(self, sql: str, batch: int, records: Sequence[TopicRecord], run: str = "run") -> None:
        write = planned(sql, self.kind)
        target = write.target
        table = self._tables.setdefault(target.table, {})
        if target.mode == "insert":
            known_run, known_batch = self._written.get(target.table, ("", -1))
            if known_run == run and known_batch >= batch:
                return
            self._written[target.table] = run, batch
        for row in row_records(write, self._engine.reader(records)).collect():
            value = None if row["value"] is None else json.loads(row["value"])
            key = row["key"].decode() if target.mode == "upsert" else len(table)
            table.pop(key, None)
            if value is not None:
                table[key] = value

    def rows(self, table: str) -> list[Row]:
        return sorted(self._tables.get(table, {}).values(), key=_first)


def _first(row: Row) -> str:
    return str(next(iter(row.values())))
