"""The java program, Spark's jars, and options of all JVMs: those of Spark, and the small JVM with Kafka's client."""

from __future__ import annotations

import os
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from lsql_runner.errors import Detail, DetailTable, LsqlError

OUT_OF_HEAP = 3
"""The exit code of a JVM that ran out of heap, with -XX:+ExitOnOutOfMemoryError."""
SPARK_OUT_OF_HEAP = 52
"""The exit code of Spark after an OutOfMemoryError of a task that Java code has thrown and not the JVM, for example for
an array that is too long (SparkExitCode.OOM)."""

REPLACED = 86
"""The exit code of a JVM that found another owner of its checkpoints (com.lsqlrunner.fs.Owner)."""

DEATHS = DetailTable({"RUNNING": "it is still running", "REPLACED": "another process has taken over its state"})


def was_replaced(death: str) -> bool:
    """Whether a JVM has ended because it found another owner, for a result of `SparkJvm.death`."""
    return isinstance(death, Detail) and death.code == "REPLACED"


LOCALE = ("-Duser.language=en", "-Duser.country=US", "-Duser.variant=")
"""Results must not depend on the machine's locale: in Turkish, for example, the upper case of i is İ."""


JARS_DIR = Path(sys.prefix, "share", "lsql-runner", "jars")
CLASS_ARCHIVE = Path(sys.prefix, "share", "lsql-runner", "classes.jsa")
"""The files that set-up creates."""


def java() -> str:
    """The path of the java program: in JAVA_HOME if it is set, else in PATH.

    Raises:
        LsqlError: JAVA_MISSING, JAVA_HOME_INVALID.
    """
    home = os.environ.get("JAVA_HOME")
    if home:
        program = Path(home, "bin", "java")
        if program.exists():
            return str(program)
        raise LsqlError("JAVA_HOME_INVALID", path=home)
    on_path = shutil.which("java")
    if on_path is None:
        raise LsqlError("JAVA_MISSING")
    return on_path


def java_version() -> int | None:
    """The version of Java that starts a JVM, as 17; None if its file `release` does not say it.

    Raises:
        LsqlError: as `java`.
    """
    release = Path(java()).resolve().parents[1] / "release"
    try:
        match = re.search(r'^JAVA_VERSION="(\d+)', release.read_text(encoding="utf-8"), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        return None
    return int(match.group(1)) if match else None


def spark_home() -> Path:
    """The folder of pyspark, with Spark's jars in `jars`.

    Raises:
        LsqlError: JARS_MISSING.
    """
    spec = find_spec("pyspark")  # importing pyspark would delay the start of the JVM
    if spec is None or spec.origin is None:
        raise LsqlError("JARS_MISSING", path="pyspark")
    return Path(spec.origin).parent
