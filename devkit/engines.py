"""Engines that use the jars of set-up."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from pyspark.sql import SparkSession

from devkit.jars import jar_folder
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.jvm.java import CLASS_ARCHIVE
from lsql_runner.jvm.java_entries import INCLUDE_VALUES
from lsql_runner.jvm.spark_jvm import JvmOptions, SparkJvm, short_lived


def memory_engine(java_options: tuple[str, ...] = (), on_executed: Callable[[str], None] | None = None) -> MemoryEngine:
    """An engine in a new JVM. The caller closes it.

    Args:
        java_options: of the JVM, in addition to the usual ones.
        on_executed: as for `MemoryEngine`.
    """
    return MemoryEngine(SparkJvm(quick_jvm(java_options)), on_executed)


def quick_jvm(java_options: tuple[str, ...] = ()) -> JvmOptions:
    """How the JVM of a test starts: with the jars of set-up, tuned for short runs."""
    usual = short_lived(jar_folder("jars"), CLASS_ARCHIVE)
    return replace(usual, java_options=(*usual.java_options, *java_options))


@contextmanager
def hidden_values(session: SparkSession) -> Iterator[None]:
    """Within the block, error texts of the session's JVM have no values of records, as by default in a processor."""
    jvm = session.sparkContext._jvm
    assert jvm is not None
    system = jvm.java.lang.System
    before = system.setProperty(INCLUDE_VALUES, "false")
    try:
        yield
    finally:
        system.setProperty(INCLUDE_VALUES, before)
