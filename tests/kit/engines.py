"""Engines on what set-up has built."""

from lsql_runner.engine.jvm import SparkJvm, short_lived
from lsql_runner.engine.memory import MemoryEngine
from tests.kit.jars import class_archive, jar_folder


def memory_engine() -> MemoryEngine:
    """Returns one in a JVM that starts now; it is to be closed."""
    return MemoryEngine(SparkJvm(short_lived(jar_folder("jars"), class_archive())))
