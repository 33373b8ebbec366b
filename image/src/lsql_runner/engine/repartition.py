"""Divides the state of stopped queries into another number of partitions: Spark's offline repartitioning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lsql_runner.config.state_store import UriStore
from lsql_runner.engine.session import SessionOptions, forget_jvm, open_session
from lsql_runner.errors import LsqlError
from lsql_runner.jvm.failures import classify
from lsql_runner.jvm.spark_jvm import SparkJvm
from lsql_runner.state.folder import StateFolder


@contextmanager
def offline_session(jvm: SparkJvm, partitions: int, store: UriStore | None = None) -> Iterator[SparkSession]:
    """A session for the state of a stopped processor, which is in `store`, if it is not None. Its end ends the JVM.

    Raises:
        LsqlError: JVM_GONE, JAVA_MISSING, JARS_MISSING.
    """
    try:
        jvm.connect()
        options = SessionOptions(app_id="offline", scratch=jvm.scratch, partitions=partitions, store=store)
        session = open_session(options)
        yield session
        with suppress(PySparkException, Py4JError):
            session.stop()
    finally:
        jvm.close()
        forget_jvm()


def repartition(session: SparkSession, checkpoints: Sequence[StateFolder], partitions: int) -> None:
    """Divide the state in each checkpoint. Adds a batch without records to its logs.

    A failure leaves checkpoints that no query can continue: call it for copies.

    Raises:
        LsqlError: REPARTITION_FAILED.
    """
    java: Any = session._jsparkSession
    java.streams()  # creates the coordinator of state stores, without which the operation fails
    for checkpoint in checkpoints:
        try:
            java.streamingCheckpointManager().repartition(str(checkpoint), partitions, True)
        except (PySparkException, Py4JError) as error:
            raise LsqlError("REPARTITION_FAILED", query=checkpoint.name, reason=classify(error).reason) from None
