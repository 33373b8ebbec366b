"""A small JVM with Kafka's Java client, for commands that run no other JVM: com.lsqlrunner.kafka.BrokerRequests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lsql_runner.errors import LsqlError
from lsql_runner.jvm.java import LOCALE, java, spark_home
from lsql_runner.jvm.java_entries import BROKER_REQUESTS
from lsql_runner.kafka.java_process import JavaProcess

_HEAP_MIB = 64
"""While a batch of records is read it is in memory twice, and topics may allow batches of many MiB."""

_SPARK_JARS = (
    *("jackson-annotations", "jackson-core", "jackson-databind", "slf4j-api"),
    *("lz4-java", "snappy-java", "zstd-jni"),
)
"""Jars of Spark that Kafka's client and BrokerRequests use: JSON, compression, and the logging API without a logger."""
_OWN_JARS = ("kafka-clients", "lsql-jvm")
_SPARK_ONLY_PREFIXES = ("commons-pool2-", "woodstox-core-", "stax2-api-")
"""Jars of the jar folder that only Spark uses. Other jars may hold login modules that a user has added."""


@dataclass(frozen=True, slots=True)
class BrokerJvm:
    """Options of the JVM. `jars` is the folder with the jars of the Kafka client and of our Java module."""

    jars: Path
    java_options: tuple[str, ...] = ()
    """Options of the processor's JVM. Only its system properties (`-D...`) are used; this JVM sizes its own heap."""

    def start(self) -> JavaProcess:
        """Start a JVM.

        Raises:
            LsqlError: JAVA_MISSING, JARS_MISSING.
        """
        return JavaProcess(self._command)

    def _command(self, scratch: Path) -> list[str]:
        return [
            java(),
            "-XX:+IgnoreUnrecognizedVMOptions",
            f"-Xmx{_HEAP_MIB}m",
            "-Xss512k",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:+PerfDisableSharedMem",
            "--enable-native-access=ALL-UNNAMED",
            # Kafka reads the errors of Kerberos by reflection.
            "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
            "-Dslf4j.internal.verbosity=ERROR",  # else it warns that there is no logger
            f"-Djava.io.tmpdir={scratch}",
            *(option for option in self.java_options if option.startswith("-D")),
            *LOCALE,
            "-cp",
            ":".join(class_path(self.jars)),
            BROKER_REQUESTS,
        ]


def class_path(jars: Path) -> list[str]:
    """The jars of the small JVM: a few jars of Spark, and the jars in `jars` that are not for Spark only.

    Raises:
        LsqlError: JARS_MISSING.
    """
    sparks = spark_home() / "jars"
    paths = [path for path in sorted(jars.glob("*.jar")) if not path.name.startswith(_SPARK_ONLY_PREFIXES)]
    for folder, name in [*((jars, name) for name in _OWN_JARS), *((sparks, name) for name in _SPARK_JARS)]:
        named = sorted(folder.glob(f"{name}-[0-9]*.jar"))
        if not named:
            raise LsqlError("JARS_MISSING", path=str(folder))
        paths += [path for path in named if path not in paths]
    return [str(path) for path in paths]
