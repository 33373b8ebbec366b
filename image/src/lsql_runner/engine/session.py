"""The one Spark session of a process."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark import SparkContext
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession
from pyspark.sql.types import BinaryType

from lsql_runner.container.limits import cores
from lsql_runner.engine.aggregates import EXACT_SUM, KEEP_VALUES, RETRACT_VALUES
from lsql_runner.engine.attempts import ATTEMPT, FIT, NOT_NULL, ONCE
from lsql_runner.engine.avro import DECODE_AVRO, ENCODE_AVRO
from lsql_runner.engine.java_names import remember_java_names
from lsql_runner.engine.packed import PACK_ROW, UNPACK_ROW
from lsql_runner.engine.protobuf import DECODE_PROTOBUF, ENCODE_PROTOBUF
from lsql_runner.engine.serde import DECODE_CSV, DECODE_JSON, DECODE_XML, ENCODE_JSON, EXTEND_JSON

_FIXED = {
    # The language: names are case-sensitive, nothing wraps or turns into null unasked, time is UTC.
    "spark.sql.caseSensitive": "true",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # The JVM's own tables for upper and lower case: the others take a tenth of the time to the first record to load.
    "spark.sql.icu.caseMappings.enabled": "false",
    # State: these cannot be switched on later for a checkpoint that was made without them.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "true",
    # Joins of streams find the records of a key by time; the format before reads all that the key has.
    "spark.sql.streaming.join.stateFormatVersion": "4",
    "spark.sql.streaming.join.stateFormatV4.enabled": "true",
    # Chains of stateful operators in update mode: the planner refuses what Spark's own check would have to.
    "spark.sql.streaming.unsupportedOperationCheck": "false",
    # Checkpoints without a child process for each file, and on the disk before anything counts on them.
    "spark.hadoop.fs.file.impl": "com.lsqlrunner.fs.DurableFileSystem",
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "com.lsqlrunner.fs.DurableFs",
    # A processor has one kind of work; the pages and listeners of a shared cluster only cost memory.
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.streaming.numRecentProgressUpdates": "5",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.adaptive.enabled": "false",  # micro-batches are too small to plan them twice
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",  # but see engine.emission
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.streaming.stopTimeout": "30s",
    "spark.python.sql.dataFrameDebugging.enabled": "false",  # call sites of columns: a trip to the JVM for each
    "spark.cleaner.periodicGC.interval": "10min",
    # What Spark takes for itself in the heap before it shares the rest: 300 MiB by default, of which it uses a third.
    "spark.testing.reservedMemory": str(200 << 20),
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


POLLING_MS = 100
"""Measured on 4 partitions: asking every 20 ms costs 15 % of a core here and 11 % at the broker, every 100 ms 6 % and
5.5 %."""


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """What differs between processors. `scratch` is a directory for Spark's temporary files."""

    app_id: str
    scratch: Path
    threads: int | None = None
    """Task slots; None takes the cores that the process, or its container, may use."""
    partitions: int = 0
    """Partitions of state, fixed with the first checkpoint; 0 takes the number of threads."""
    polling_ms: int = POLLING_MS
    """How often an idle query asks for new records."""


def open_session(options: SessionOptions) -> SparkSession:
    """Start Spark in the JVM that this process is connected to (or, in tests, in one that pyspark starts)."""
    remember_java_names()
    threads = options.threads or cores()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # It prints a stack trace for each failed record; what failed is reported from here, once and readably.
    PySparkLogger.getLogger("DataFrameQueryContextLogger").disabled = True
    builder = SparkSession.builder.master(f"local[{threads}]").appName(options.app_id)
    settings = _FIXED | {
        "spark.sql.shuffle.partitions": str(options.partitions or threads),
        "spark.sql.streaming.pollingDelay": f"{options.polling_ms}ms",
        "spark.local.dir": str(options.scratch),
        "spark.sql.warehouse.dir": str(options.scratch / "warehouse"),
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    jvm: Any = session._jvm
    jvm.com.lsqlrunner.json.DecodeJson.register(session._jsparkSession, DECODE_JSON)
    jvm.com.lsqlrunner.expression.PackRow.register(session._jsparkSession, PACK_ROW)
    jvm.com.lsqlrunner.expression.UnpackRow.register(session._jsparkSession, UNPACK_ROW)
    jvm.com.lsqlrunner.avro.DecodeAvro.register(session._jsparkSession, DECODE_AVRO)
    jvm.com.lsqlrunner.avro.EncodeAvro.register(session._jsparkSession, ENCODE_AVRO)
    jvm.com.lsqlrunner.protobuf.DecodeProtobuf.register(session._jsparkSession, DECODE_PROTOBUF)
    jvm.com.lsqlrunner.protobuf.EncodeProtobuf.register(session._jsparkSession, ENCODE_PROTOBUF)
    jvm.com.lsqlrunner.json.EncodeJson.register(session._jsparkSession, ENCODE_JSON)
    jvm.com.lsqlrunner.errors.Attempt.register(session._jsparkSession, ATTEMPT)
    jvm.com.lsqlrunner.errors.Once.register(session._jsparkSession, ONCE)
    jvm.com.lsqlrunner.errors.Fit.register(session._jsparkSession, FIT)
    jvm.com.lsqlrunner.errors.NotNull.register(session._jsparkSession, NOT_NULL)
    jvm.com.lsqlrunner.aggregate.KeepValues.register(session._jsparkSession, KEEP_VALUES, RETRACT_VALUES)
    jvm.com.lsqlrunner.aggregate.ExactSum.register(session._jsparkSession, EXACT_SUM)
    jvm.com.lsqlrunner.text.DecodeCsv.register(session._jsparkSession, DECODE_CSV)
    jvm.com.lsqlrunner.text.DecodeXml.register(session._jsparkSession, DECODE_XML)
    session.udf.registerJavaFunction(EXTEND_JSON, "com.lsqlrunner.json.ExtendJson", BinaryType())
    return session


def activate(session: SparkSession) -> None:
    """Make it the session of this thread in the JVM, as it is of the thread that opened it: settings depend on it."""
    jvm: Any = session._jvm
    SparkSession._get_j_spark_session_class(jvm).setActiveSession(session._jsparkSession)


def forget_jvm() -> None:
    """Let pyspark connect to another JVM: it would go on with the one that has ended."""
    SparkContext._gateway = SparkContext._jvm = None
