"""Making a class archive: `python -m lsql_runner.engine.training <file>`.

A JVM that starts with the archive need not read, check and link some twenty thousand classes again:
that is half of the time to the first record. The archive is made by a JVM that runs what every
processor runs, with no broker near: a filter, a windowed count, and Kafka's clients against a closed port.
It fits the JVM and the jars that it was made with; with any others the JVM starts as if it were not there.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from threading import Event as Flag

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lsql_runner.batches import BatchEnded, Partition
from lsql_runner.bind.catalog import Catalog, TopicSchema
from lsql_runner.declared import declared_topics
from lsql_runner.engine.jvm import JvmOptions, SparkJvm
from lsql_runner.engine.query import Launch, RunningPlan
from lsql_runner.engine.session import SessionOptions, open_session
from lsql_runner.engine.sink import SinkOptions, write_batch
from lsql_runner.engine.source import range_reader
from lsql_runner.kafka.client import KafkaConnection
from lsql_runner.pipeline import plan_text
from lsql_runner.settings import Settings

_EXIT_S = 180.0
"""The archive is written while the JVM ends."""
_BATCHES_S = 90.0

_TOPICS = {
    "readings": {
        "key": {"format": "STRING"},
        "value": {"format": "JSON", "schema": {"id": "long", "name": "string", "speed": "double", "at": "long"}},
    }
}
_PROGRAM = """
INSERT INTO fast SELECT STREAM id, UPPER(name) AS name, speed * 2 AS speed, at FROM readings
  WHERE speed > 1 AND name LIKE 'n%';
INSERT INTO all_of_it SELECT STREAM *, speed AS again FROM readings;
INSERT INTO counts SELECT STREAM name, COUNT(*) AS n, AVG(speed) AS mean FROM readings
  WINDOW BY TUMBLE 1m GROUP BY name;
"""
_READING = "struct(value AS id, concat('n', value % 7) AS name, value / 2 AS speed, value AS at)"
_CLOSED = KafkaConnection("127.0.0.1:1")
_QUICK = tuple((key, "1000") for key in ("max.block.ms", "request.timeout.ms", "default.api.timeout.ms"))


def train(archive: Path, jars: Path) -> None:
    """Write the class archive.

    Raises:
        LsqlError: JAVA_MISSING, JARS_MISSING, JVM_GONE.
    """
    jvm = SparkJvm(
        JvmOptions(jars, 512, (f"-XX:ArchiveClassesAtExit={archive}", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"))
    )
    jvm.connect()
    session = open_session(SessionOptions("training", jvm.scratch))
    _run_program(session, jvm.scratch)
    _touch_kafka(session)
    session.stop()
    jvm.close(_EXIT_S)


def _run_program(session: SparkSession, scratch: Path) -> None:
    plan = plan_text(_PROGRAM, Catalog(declared_topics(_TOPICS))).plan
    done = {query.name: Flag() for query in plan.queries}

    def read(_: TopicSchema) -> DataFrame:
        return (
            session.readStream.format("rate")
            .option("rowsPerSecond", 1000)
            .load()
            .selectExpr(
                "encode(string(value % 10), 'UTF-8') AS key",
                f"encode(to_json({_READING}), 'UTF-8') AS value",
                "'readings' AS topic",
                "0 AS partition",
                "value AS offset",
                "timestamp",
                "array(struct('h' AS key, encode('x', 'UTF-8') AS value)) AS headers",
            )
        )

    def write(batch: DataFrame, query: str, _: int) -> None:
        batch.write.format("noop").mode("overwrite").save()
        done[query].set()

    def on_batch(_: BatchEnded) -> None:
        """Nobody listens; the listener itself is part of what is trained."""

    running = RunningPlan(session, Launch(plan, read, write, scratch / "checkpoints", on_batch))
    for flag in done.values():
        flag.wait(_BATCHES_S)
    running.stop()


def _touch_kafka(session: SparkSession) -> None:
    """Load the clients' classes: a write and a read that nobody answers."""
    rows = session.createDataFrame(
        [("t", b"k", b"v", 0)], "topic string, key binary, value binary, ts long"
    ).selectExpr("*", "cast(null AS array<struct<key: string, value: binary>>) AS headers")
    with suppress(PySparkException, Py4JJavaError):
        write_batch(rows, "training", 0, SinkOptions(_CLOSED, "training", (*_QUICK, ("delivery.timeout.ms", "1200"))))
    schema = declared_topics(_TOPICS)["readings"]
    with suppress(PySparkException, Py4JJavaError):
        reader = range_reader(session, _CLOSED, {Partition("readings", 0): (0, 1)}, _QUICK)
        reader(schema).write.format("noop").mode("overwrite").save()


if __name__ == "__main__":
    train(Path(sys.argv[1]), Path(Settings.model_fields["jars_dir"].default))
