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

from lsql_runner.config.state_store import UriStore
from lsql_runner.container.limits import cores
from lsql_runner.engine.cluster import start_master
from lsql_runner.jvm.java_entries import ABSTRACT_FILE_SYSTEM, EXTENSIONS, FILE_SYSTEM, SHUFFLE_MANAGER
from lsql_runner.jvm.java_names import remember_java_names
from lsql_runner.jvm.workers import Workers, driver_settings
from lsql_runner.plan.queries import MAX_CONTINUOUS_READS

_FIXED = {
    "spark.sql.extensions": EXTENSIONS,  # registers our functions
    # The language: names are case-sensitive; overflows and invalid casts are errors; times are UTC.
    "spark.sql.caseSensitive": "true",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timeType.enabled": "true",
    # The JVM's own case mappings: loading ICU's takes a tenth of the time to the first record.
    "spark.sql.icu.caseMappings.enabled": "false",
    # It removes the topics of a condition that is never true: a continuous query would not read them.
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.PruneFilters",
    "spark.shuffle.manager": SHUFFLE_MANAGER,
    # State stores: these settings cannot be changed for an existing checkpoint.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "true",
    # A snapshot flushes the store and starts a child process. The default is one every ten batches, of which only the
    # last one of each minute is kept: a restart reads the changes of up to a minute in any case.
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "60",
    # A file and its checksum are written one after the other. With a pool of threads, each store would leave its own
    # pool behind when its query is stopped.
    "spark.sql.streaming.stateStore.fileChecksumThreadPoolSize": "0",
    # Joins of streams look up the records of a key by time; older formats read all records of the key.
    "spark.sql.streaming.join.stateFormatVersion": "4",
    "spark.sql.streaming.join.stateFormatV4.enabled": "true",
    # Spark's check refuses several stateful operators in update mode. Our planner refuses what Spark cannot run.
    "spark.sql.streaming.unsupportedOperationCheck": "false",
    # Checkpoint files without a child process for each file, and synced to disk before the batch continues.
    "spark.hadoop.fs.file.impl": FILE_SYSTEM,
    "spark.hadoop.fs.AbstractFileSystem.file.impl": ABSTRACT_FILE_SYSTEM,
    # Spark's pages and histories are for shared clusters; here they only cost memory.
    "spark.sql.ui.explainMode": "simple",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.streaming.numRecentProgressUpdates": "5",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.adaptive.enabled": "false",  # micro-batches are too small to plan them twice
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",  # see engine.emission
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.streaming.stopTimeout": "30s",
    "spark.python.sql.dataFrameDebugging.enabled": "false",  # a py4j call for the call site of each column
    # Each broadcast allocates a block of this size, 4 MiB by default, and a batch has about five of some kilobytes. The
    # tasks are in the same JVM, so that compression saves nothing.
    "spark.broadcast.blockSize": "128k",
    "spark.broadcast.compress": "false",
    # The heap that Spark reserves for itself: 300 MiB by default, of which it uses a third.
    "spark.testing.reservedMemory": str(100 << 20),
    # Other users of the machine, and other containers of the pod, can reach these ports too. With authentication Spark
    # makes a random secret, which stays in the JVM: its tasks are threads.
    "spark.authenticate": "true",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


CONTINUOUS_TASKS = 2 * MAX_CONTINUOUS_READS
"""Task slots of the continuous queries of a program, in addition to the slots of batches: their tasks never end."""

POLLING_MS = 10
"""A query looks for records again after this time; before it looks, the trigger of its batches waits for records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """Options of the session that differ between processors."""

    app_id: str
    scratch: Path
    """A directory for Spark's temporary files."""
    threads: int | None = None
    """Task slots; None for the cores that the process, or its container, may use."""
    partitions: int = 0
    """Partitions of state, which the first checkpoint fixes; 0 for the number of threads."""
    polling_ms: int = POLLING_MS
    """How often an idle query polls for new records."""
    small_batches: bool = False
    """Whether all batches have few records: small steps of a query are interpreted, as in the small batches of a
    processor (TopicStream in the JVM), and not compiled."""
    workers: Workers | None = None
    """Where workers register that run the tasks; None if the tasks run in this JVM."""
    store: UriStore | None = None
    """The store with the checkpoints; None if they are on a volume."""


def open_session(options: SessionOptions) -> SparkSession:
    """Start Spark in the JVM that this process is connected to (or, in tests, in one that pyspark starts)."""
    remember_java_names()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # It prints a stack trace for each failed record. We report the failure once, without a trace.
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
    if options.workers is not None:
        start_master(options.workers)
    builder = SparkSession.builder.appName(options.app_id)
    for key, value in session_settings(options).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def session_settings(options: SessionOptions) -> dict[str, str]:
    """The settings of a session, by Spark's names."""
    threads = options.threads or cores()
    evaluation = {"spark.sql.codegen.factoryMode": "NO_CODEGEN"} if options.small_batches else {}
    settings = (
        _FIXED
        | evaluation
        | {
            "spark.master": f"local[{threads + CONTINUOUS_TASKS}]",
            # Spark starts a thread for each task slot. With as many as there are cores it dispatches the same messages.
            "spark.rpc.netty.dispatcher.numThreads": str(max(2, threads)),
            "spark.default.parallelism": str(threads),
            "spark.sql.shuffle.partitions": str(options.partitions or threads),
            "spark.sql.streaming.pollingDelay": f"{options.polling_ms}ms",
            "spark.local.dir": str(options.scratch),
            "spark.sql.warehouse.dir": str(options.scratch / "warehouse"),
        }
    )
    if options.store is not None:
        from lsql_runner.state.uri_folder import store_settings  # only for processors that need it

        settings |= store_settings(options.store, options.scratch)
    if options.workers is None:
        return settings
    del settings["spark.default.parallelism"]  # it follows the number of workers
    return settings | driver_settings(options.workers)


def activate(session: SparkSession) -> None:
    """Make it the active session of this thread in the JVM, which determines settings. `open_session` does so for its
    own thread."""
    jvm: Any = session._jvm
    SparkSession._get_j_spark_session_class(jvm).setActiveSession(session._jsparkSession)


def forget_jvm() -> None:
    """Make pyspark forget a JVM that has ended, and its session, so that it connects to another one."""
    SparkSession._instantiatedSession = SparkSession._activeSession = None
    SparkContext._active_spark_context = None
    SparkContext._gateway = SparkContext._jvm = None
