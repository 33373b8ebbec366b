"""Engines on what set-up has built."""

from devkit.jars import jar_folder
from lsql_runner.engine.memory import MemoryEngine
from lsql_runner.jvm.java import CLASS_ARCHIVE
from lsql_runner.jvm.spark_jvm import SparkJvm, short_lived


def memory_engine() -> MemoryEngine:
    """Returns one in a JVM that starts now; it is to be closed."""
    return MemoryEngine(SparkJvm(short_lived(jar_folder("jars"), CLASS_ARCHIVE)))
