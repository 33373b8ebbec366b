"""The Spark driver's JVM, started directly instead of through Spark's shell scripts.

Two reasons: the class path is explicit and sorted (a JVM's ahead-of-time cache is refused for any other
order than it was made with), and the JVM is this process's own child, whose death can be seen.
It ends by itself when its standard input closes, so it never outlives this process.
"""

from __future__ import annotations

import os
import struct
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lsql_runner.container.limits import cores
from lsql_runner.container.out_of_memory import ExitReasons, raise_oom_score
from lsql_runner.errors import Detail, DetailTable, LsqlError
from lsql_runner.jvm.java import LOCALE, OUT_OF_HEAP, java, spark_home

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
    """Classes already parsed, verified and linked (image/recipe/train.py); without it the JVM starts slower."""
    exit_s: float = 10.0
    """The deadline of an orderly end."""
    log_level: str = "OFF"
    """Of Spark and Kafka in the JVM. Errors that end a processor are reported from Python, once and readably."""


def short_lived(jars: Path, class_archive: Path | None = None, heap_mib: int = 0) -> JvmOptions:
    """Options for short runs: starting and compiling quickly is worth more than running fast in the long run."""
    return JvmOptions(jars, heap_mib or _SHORT_LIVED_HEAP_MIB, _QUICK, class_archive)


_SHORT_LIVED_HEAP_MIB = 768
_QUICK = (
    "-XX:TieredStopAtLevel=1",
    # With this one compiler the JVM reserves 48 MiB for compiled code. A hundred programs fill that, and from there on
    # it compiles nothing. 240 MiB is its default for both compilers; what is not used takes no memory.
    "-XX:ReservedCodeCacheSize=240m",
    # Planning makes much garbage and keeps little: half of the heap for what is new, and no collection because classes
    # are loaded. With the values of a processor, collections take a tenth of the time.
    "-XX:NewRatio=1",
    "-XX:MetaspaceSize=256m",
)


class SparkJvm:
    """The running JVM. Making one starts it; `connect` waits until Python can talk to it.

    `scratch` is the one directory for temporary files of the JVM and of Spark; it goes with the JVM.
    """

    def __init__(self, options: JvmOptions) -> None:
        self._exit_s = options.exit_s
        self._heap_mib = options.heap_mib
        self._exit_reasons = ExitReasons()
        self._folder = tempfile.TemporaryDirectory(prefix="lsql-")
        self.scratch = Path(self._folder.name)
        self._info = self.scratch / "gateway"
        self.process = subprocess.Popen(
            _command(options, self.scratch),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=None,
            env=os.environ
            | {"_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._info), "SPARK_HOME": str(spark_home())}
            | _FIXED_ENV,
            start_new_session=True,  # Ctrl-C must only reach this process, which stops the JVM in order
        )
        raise_oom_score(self.process.pid)

    @property
    def pid(self) -> int:
        return self.process.pid

    def is_alive(self, within_s: float = 0.0) -> bool:
        """Whether it still runs after `within_s` seconds at the most."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(within_s)
        return self.process.poll() is None

    def connect(self) -> None:
        """Wait until the JVM listens, and set the variables by which pyspark connects to it.

        Raises:
            LsqlError: JVM_GONE, JVM_START_TIMEOUT.
        """
        deadline = time.monotonic() + _START_DEADLINE_S
        while not self._info.exists():
            if not self.is_alive():
                raise LsqlError("JVM_GONE", reason=self.death())
            if time.monotonic() > deadline:
                self.kill()
                raise LsqlError("JVM_START_TIMEOUT", seconds=round(_START_DEADLINE_S))
            time.sleep(0.01)
        data = self._info.read_bytes()
        port, length = struct.unpack(">ii", data[:8])
        os.environ["PYSPARK_GATEWAY_PORT"] = str(port)
        os.environ["PYSPARK_GATEWAY_SECRET"] = data[8 : 8 + length].decode()

    def death(self) -> Detail:
        """How it ended, as a sentence."""
        code = self.process.poll()
        if code is None:
            return _DEATHS("RUNNING")
        if code == OUT_OF_HEAP:
            return _DEATHS("HEAP_TOO_SMALL", heap_mib=self._heap_mib)
        return self._exit_reasons.describe(code)

    def close(self) -> None:
        """End it in order: close its input and wait; kill it after `exit_s`."""
        self._close_input()
        if self.is_alive(self._exit_s):
            self.process.kill()
        self._tidy_up()

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self._close_input()
        self._tidy_up()

    def _close_input(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()

    def _tidy_up(self) -> None:
        self.process.wait()
        self._folder.cleanup()
        for name in ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"):
            os.environ.pop(name, None)


_DEATHS = DetailTable(
    {"RUNNING": "it is still running", "HEAP_TOO_SMALL": "its heap of {heap_mib} MiB is too small for this program"}
)

_FIXED_ENV = {"SPARK_SCALA_VERSION": "2.13", "SPARK_CONNECT_MODE": "0", "SPARK_LOCAL_IP": "127.0.0.1"}


def class_path(jars: Path) -> list[str]:
    """All jars of Spark but one, and those of `jars`, sorted by name.

    Raises:
        LsqlError: JARS_MISSING when the Kafka connector is not among them.
    """
    of_both = [*spark_home().joinpath("jars").glob("*.jar"), *jars.glob("*.jar")]
    found = sorted((path for path in of_both if not path.name.startswith(_LEFT_OUT)), key=lambda path: path.name)
    if not any(path.name.startswith("spark-sql-kafka") for path in found):
        raise LsqlError("JARS_MISSING", path=str(jars))
    return [str(path) for path in found]


_LEFT_OUT = "spark-mllib_"
"""It gives each session functions, by way of Scala's reflection: 0.8 s of a start. The image has no such jar."""


def _command(options: JvmOptions, scratch: Path) -> list[str]:
    log_config = scratch / "log4j2.properties"
    log_config.write_text(_LOG4J.format(level=options.log_level.lower()), encoding="utf-8")
    return [
        java(),
        *_MODULE_OPTIONS,
        f"-Xmx{options.heap_mib}m",
        "-XX:+ExitOnOutOfMemoryError",  # a JVM that has failed to allocate may be in any state
        _collector(),
        _YOUNG,
        f"-Dlog4j2.configurationFile={log_config}",
        f"-Djava.io.tmpdir={scratch}",
        "-XX:+PerfDisableSharedMem",  # else a file in /tmp for jps, wherever the temporary files are
        *_archive_options(options.class_archive),
        *options.java_options,
        *LOCALE,
        "-cp",
        ":".join(class_path(options.jars)),
        _GATEWAY,
    ]


_GATEWAY = "org.apache.spark.api.python.PythonGatewayServer"
"""The class that SparkSubmit would start, after settings for clusters that are not used here."""


def _collector() -> str:
    """The parallel collector; on one core the serial one, since threads would only compete."""
    return "-XX:+UseParallelGC" if cores() > 1 else "-XX:+UseSerialGC"


_YOUNG = "-XX:NewRatio=4"
"""A fifth of the heap for what is new, not a third: a stateless processor holds 50 MiB less after a million records,
and takes no longer. What a batch reads is gone when the batch is; more room would only be filled."""


_LATE_OPTIMIZING = (
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-AOTReplayTraining",
    "-XX:Tier4InvocationThreshold=200000",
    "-XX:Tier4MinInvocationThreshold=24000",
    "-XX:Tier4CompileThreshold=600000",
    "-XX:Tier4BackEdgeThreshold=1600000",
)
"""The optimizing compiler takes up what was called forty times as often as by itself. Half of a start on one
core was its work, most of it on code that runs once; what runs for each record gets there within a second,
and three million records took a fifth less time."""


_IN_PLACE = "-XX:ArchiveRelocationMode=0"
"""The cache stays at the address that it was made for. At a random one all of its pointers must be changed, and 85 MiB
of it would be memory of the container's own, and not pages of a file that the kernel can drop."""


def _archive_options(archive: Path | None) -> list[str]:
    if archive is None or not archive.exists():
        return []
    if archive.suffix == ".aot":
        return [f"-XX:AOTCache={archive}", "-Xlog:aot=off", "-Xlog:cds=off", *_LATE_OPTIMIZING, _IN_PLACE]
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
