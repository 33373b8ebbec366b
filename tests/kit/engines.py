"""Engines on what set-up has built."""

from lsql_runner.engine.jvm import SparkJvm, short_lived
from lsql_runner.engine.memory import MemoryEngine
from lsql_runner.java import CLASS_ARCHIVE
from tests.kit.jars import jar_folder


def memory_engine() -> MemoryEngine:
    """Returns one in a JVM that starts now; it is to be closed."""
    return MemoryEngine(SparkJvm(short_lived(jar_folder("jars"), CLASS_ARCHIVE)))
