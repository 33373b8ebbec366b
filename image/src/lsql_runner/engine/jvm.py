"""The Spark driver's JVM, started directly instead of through Spark's shell scripts.

Two reasons: the class path is explicit and sorted (a JVM's ahead-of-time cache is refused for any other
order than it was made with), and the JVM is this process's own child, whose death can be seen.
It ends by itself when its standard input closes, so it never outlives this process.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from lsql_runner.errors import LsqlError

_START_DEADLINE_S = 60.0

# What org.apache.spark.launcher.JavaModuleOptions of Spark 4.2 lists, without the incubating vector module:
# only MLlib uses it, and the JVM warns of it at each start.
_MODULE_OPTIONS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    *(
        f"--add-opens=java.base/{package}=ALL-UNNAMED"
        for package in (
            "java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util java.util.concurrent"
            " java.util.concurrent.atomic jdk.internal.ref sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar"
        ).split()
    ),
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "-Djdk.reflect.useDirectMethodHandle=false",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "--enable-native-access=ALL-UNNAMED",
)


@dataclass(frozen=True, slots=True)
class JvmOptions:
    """How the JVM is started. `jars` holds the Kafka connector's jars and our own."""

    jars: Path
    heap_mib: int
    java_options: tuple[str, ...] = ()
    class_archive: Path | None = None
    """From `engine.training`; without one the JVM starts slower."""
    log_level: str = "OFF"
    """Of Spark and Kafka in the JVM. What a processor dies of is reported from here, once and readably."""


class SparkJvm:
    """The running JVM. Making one starts it; `connect` waits until Python can talk to it.

    `scratch` is the one directory for temporary files of the JVM and of Spark; it goes with the JVM.
    """

    def __init__(self, options: JvmOptions) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="lsql-")
        self.scratch = Path(self._folder.name)
        self._info = self.scratch / "gateway"
        self.process = subprocess.Popen(
            _command(options, self.scratch),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=None,
            env=os.environ
            | {"_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._info), "SPARK_HOME": str(_spark_home())}
            | _FIXED_ENV,
            start_new_session=True,  # Ctrl-C is for us; the JVM is stopped in order, not by the terminal
        )

    @property
    def pid(self) -> int:
        return self.process.pid

    def is_alive(self, within_s: float = 0.0) -> bool:
        """Whether it still runs after `within_s` seconds at the most."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(within_s)
        return self.process.poll() is None

    def connect(self) -> None:
        """Wait until the JVM listens and tell pyspark where.

        Raises:
            LsqlError: JVM_GONE when it ended instead, or does not answer within a minute.
        """
        deadline = time.monotonic() + _START_DEADLINE_S
        while not self._info.exists():
            if not self.is_alive():
                raise LsqlError("JVM_GONE", reason=self.death())
            if time.monotonic() > deadline:
                self.kill()
                raise LsqlError("JVM_GONE", reason=f"it did not start within {_START_DEADLINE_S:.0f} s")
            time.sleep(0.01)
        data = self._info.read_bytes()
        port, length = struct.unpack(">ii", data[:8])
        os.environ["PYSPARK_GATEWAY_PORT"] = str(port)
        os.environ["PYSPARK_GATEWAY_SECRET"] = data[8 : 8 + length].decode()

    def death(self) -> str:
        """How it ended, in words."""
        code = self.process.poll()
        if code is None:
            return "it still runs"
        return f"killed by signal {-code}" if code < 0 else f"it exited with code {code}"

    def close(self, deadline_s: float = 10.0) -> None:
        """End it in order: close its input and wait; kill it after the deadline."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            self.process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            self.kill()
        self._folder.cleanup()
        for name in ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"):
            os.environ.pop(name, None)

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()
        self._folder.cleanup()


_FIXED_ENV = {"SPARK_SCALA_VERSION": "2.13", "SPARK_CONNECT_MODE": "0", "SPARK_LOCAL_IP": "127.0.0.1"}


def _spark_home() -> Path:
    spec = find_spec("pyspark")  # without importing it: that takes longer than the JVM's first steps
    if spec is None or spec.origin is None:
        raise LsqlError("JARS_MISSING", path="pyspark")
    return Path(spec.origin).parent


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home, "bin", "java")
        if java.exists():
            return str(java)
        raise LsqlError("JAVA_MISSING", why=f"JAVA_HOME is {home}, which has no bin/java")
    found = shutil.which("java")
    if found is None:
        raise LsqlError("JAVA_MISSING", why="there is no java on the PATH and JAVA_HOME is not set")
    return found


def class_path(jars: Path) -> list[str]:
    """Every jar of Spark and of `jars`, sorted by name.

    Raises:
        LsqlError: JARS_MISSING when the Kafka connector is not among them.
    """
    found = sorted([*_spark_home().joinpath("jars").glob("*.jar"), *jars.glob("*.jar")], key=lambda path: path.name)
    if not any(path.name.startswith("spark-sql-kafka") for path in found):
        raise LsqlError("JARS_MISSING", path=str(jars))
    return [str(path) for path in found]


def _command(options: JvmOptions, scratch: Path) -> list[str]:
    log_config = scratch / "log4j2.properties"
    log_config.write_text(_LOG4J.format(level=options.log_level.lower()), encoding="utf-8")
    return [
        _java(),
        *_MODULE_OPTIONS,
        f"-Xmx{options.heap_mib}m",
        _collector(),
        f"-Dlog4j2.configurationFile={log_config}",
        f"-Djava.io.tmpdir={scratch}",
        "-XX:+PerfDisableSharedMem",  # else a file in /tmp for jps, wherever the temporary files are
        *_archive_options(options.class_archive),
        *options.java_options,
        "-cp",
        ":".join(class_path(options.jars)),
        "org.apache.spark.deploy.SparkSubmit",
        "pyspark-shell",
    ]


def _collector() -> str:
    """The garbage collector for throughput; on one core its threads would only be in the way."""
    return "-XX:+UseParallelGC" if len(os.sched_getaffinity(0)) > 1 else "-XX:+UseSerialGC"


def _archive_options(archive: Path | None) -> list[str]:
    if archive is None or not archive.exists():
        return []
    return [f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"]


_LOG4J = """\
rootLogger.level = {level}
rootLogger.appenderRef.stderr.ref = stderr
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = {level}
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = {{"timestamp":"%d{{yyyy-MM-dd'T'HH:mm:ss.SSS'Z'}}{{UTC}}","level":"%p",\\
"logger":"%c","message":"%enc{{%m}}{{JSON}}","exception":"%enc{{%throwable{{short.message}}}}{{JSON}}"}}%n
appender.stderr.layout.disableAnsi = true
"""
