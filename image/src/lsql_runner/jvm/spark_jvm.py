"""Starts the Spark driver's JVM directly, not through Spark's shell scripts.

There are two reasons. The class path is explicit and sorted: the JVM refuses an ahead-of-time cache that was created
with another order. And the JVM is a child of this process, which sees its end. The JVM ends when its standard input
closes: it does not outlive this process for long.
"""

from __future__ import annotations

import os
import struct
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lsql_runner.container.out_of_memory import ExitReasons, heap_too_small, raise_oom_score
from lsql_runner.errors import Detail, LsqlError
from lsql_runner.jvm.collector import SMALL_HEAP_MIB, collector_options
from lsql_runner.jvm.java import DEATHS, LOCALE, OUT_OF_HEAP, REPLACED, SPARK_OUT_OF_HEAP, java, spark_home
from lsql_runner.jvm.java_entries import INCLUDE_VALUES
from lsql_runner.jvm.jvm_log import log_configuration
from lsql_runner.jvm.scratch import ScratchFolder, check_executable

_START_DEADLINE_S = 60.0

GATEWAY_PORT, GATEWAY_SECRET = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"
"""The variables by which pyspark connects to a JVM that runs."""

# The options of org.apache.spark.launcher.JavaModuleOptions in Spark 4.3, without the incubating vector module: only
# MLlib uses it, and the JVM would print a warning at each start.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class JvmOptions:
    """How the JVM is started."""

    jars: Path
    """The folder with the jars of Kafka's client and of the runner."""
    heap_mib: int
    java_options: tuple[str, ...] = ()
    udf_dir: Path | None = None
    """The directory with the jars of user-defined functions."""
    state_jars: Path | None = None
    """The directory with the jars of Hadoop's connector for the store with the state."""
    class_archive: Path | None = None
    """Parsed, verified and linked classes (image/recipe/train.py); without the file the JVM starts slower."""
    code_cache_mib: int = 240
    """The most memory for compiled code; 240 is the JVM's default with both compilers. A JVM whose code cache is full
    compiles nothing more: 48 MiB are full after a hundred programs."""
    state_stores_mib: int | None = None
    """The memory of caches and write buffers of all state stores together, wherever tasks run; None for no limit."""
    exit_s: float = 10.0
    """The deadline of an orderly end."""
    log_level: str = "OFF"
    """The log level of Spark and Kafka in the JVM. Python reports errors that end a processor."""
    includes_values: bool = False
    """Whether error texts include values of records."""
    is_continuous: bool = False
    """Whether it only runs continuous queries, as far as the program shows before it is planned."""


def short_lived(
    jars: Path, class_archive: Path | None = None, heap_mib: int = 0, udf_dir: Path | None = None
) -> JvmOptions:
    """Options for short runs, where a fast start matters more than optimized code.

    They are tests of programs, whose records are in the case files: error texts include values.
    """
    return JvmOptions(
        jars=jars,
        heap_mib=heap_mib or _SHORT_LIVED_HEAP_MIB,
        java_options=_QUICK,
        udf_dir=udf_dir,
        class_archive=class_archive,
        includes_values=True,
    )


_SHORT_LIVED_HEAP_MIB = 768
_QUICK = (
    "-XX:TieredStopAtLevel=1",
    # Planning creates many short-lived objects: half of the heap is for new objects, and loading classes triggers no
    # collection. With the options of a processor, garbage collections take a tenth of the time.
    "-XX:NewRatio=1",
    "-XX:MetaspaceSize=256m",
)


class SparkJvm:
    """A running JVM. The constructor starts it; `connect` waits until pyspark can connect to it.

    `scratch` is the directory for temporary files of the JVM and of Spark. It is deleted when the JVM ends, or if this
    process was killed, when the next one starts. The JVM inherits the file descriptors `inherits`: if this process is
    killed, they stay open until the JVM ends.
    """

    def __init__(self, options: JvmOptions, inherits: tuple[int, ...] = ()) -> None:
        self.state_stores_mib = options.state_stores_mib
        self.shrinks_heap = options.heap_mib <= SMALL_HEAP_MIB
        self._exit_s = options.exit_s
        self.heap_mib = options.heap_mib
        self._exit_reasons = ExitReasons()
        self._folder = ScratchFolder()
        self.scratch = self._folder.path
        self._info = self.scratch / "gateway"
        self.process = subprocess.Popen(
            [java(), *jvm_arguments(options, self.scratch), _GATEWAY],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=None,
            env=os.environ
            | {"_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._info), "SPARK_HOME": str(spark_home())}
            | _FIXED_ENV,
            pass_fds=(*inherits, self._folder.lock_file),
            start_new_session=True,  # Ctrl-C must reach only this process, which stops the JVM
        )
        raise_oom_score(self.process.pid)

    @property
    def pid(self) -> int:
        return self.process.pid

    def is_alive(self, within_s: float = 0.0) -> bool:
        """Whether the JVM runs. Waits up to `within_s` seconds for its end."""
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
        os.environ[GATEWAY_PORT] = str(port)
        os.environ[GATEWAY_SECRET] = data[8 : 8 + length].decode()

    def death(self) -> Detail:
        """How the JVM ended, as a clause for people."""
        code = self.process.poll()
        if code is None:
            return DEATHS("RUNNING")
        if code in (OUT_OF_HEAP, SPARK_OUT_OF_HEAP):
            return heap_too_small(self.heap_mib)
        return DEATHS("REPLACED") if code == REPLACED else self._exit_reasons.describe(code)

    def close(self) -> None:
        """Close the JVM's input and wait for its end; kill it after `exit_s`."""
        self._close_input()
        if self.is_alive(self._exit_s):
            self.process.kill()
        self._tidy_up()

    def kill(self) -> None:
        """Kill the JVM."""
        self.process.kill()
        self._close_input()
        self._tidy_up()

    def _close_input(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()

    def _tidy_up(self) -> None:
        self.process.wait()
        self._folder.close()
        for name in (GATEWAY_PORT, GATEWAY_SECRET):
            os.environ.pop(name, None)


_FIXED_ENV = {"SPARK_SCALA_VERSION": "2.13", "SPARK_CONNECT_MODE": "0", "SPARK_LOCAL_IP": "127.0.0.1"}


def class_path(jars: Path) -> list[str]:
    """The jars of Spark, except _EXCLUDED, and the jars of `jars`, sorted by name, without symbolic links.

    A class archive fits only the paths of its training. Checkouts share one archive, and link their jars to one folder.

    Raises:
        LsqlError: JARS_MISSING if Kafka's client is not among them.
    """
    all_jars = [path for folder in (spark_home() / "jars", jars) for path in folder.resolve().glob("*.jar")]
    included = sorted((path for path in all_jars if not path.name.startswith(_EXCLUDED)), key=lambda path: path.name)
    if not any(path.name.startswith("kafka-clients") for path in included):
        raise LsqlError("JARS_MISSING", path=str(jars))
    return [str(path) for path in included]


def user_jars(directory: Path | None) -> list[Path]:
    """The jars in a directory of the user, sorted by name; none without a directory."""
    return [] if directory is None else sorted(directory.absolute().glob("*.jar"), key=lambda path: path.name)


_EXCLUDED = "spark-mllib_"
"""MLlib registers functions in each session by Scala's reflection: 0.8 s of a start. The image has no such jar."""


def jvm_arguments(options: JvmOptions, scratch: Path) -> list[str]:
    """The options of a JVM that runs tasks of Spark, with the class path at the end. Writes a file to `scratch`.

    Raises:
        LsqlError: JARS_MISSING, TEMPORARY_FOLDER_NOEXEC.
    """
    check_executable(_temporary_folder(options, scratch))
    log_config = scratch / "log4j2.properties"
    log_config.write_text(log_configuration(options.log_level, options.includes_values), encoding="utf-8")
    return [
        *_MODULE_OPTIONS,
        f"-Xmx{options.heap_mib}m",
        "-XX:+ExitOnOutOfMemoryError",  # the JVM may be in any state after a failed allocation
        *collector_options(options.heap_mib, options.is_continuous),
        "-XX:MetaspaceSize=96m",  # the classes of a start would cause a full collection of 0.2 s
        f"-XX:ReservedCodeCacheSize={options.code_cache_mib}m",
        f"-Dlog4j2.configurationFile={log_config}",
        f"{_TEMPORARY_FOLDER}{scratch}",
        "-XX:+PerfDisableSharedMem",  # no file for jps, which would be in /tmp and not in `scratch`
        *_LATE_OPTIMIZING,
        _RETURN_FREED_MEMORY,
        *_archive_options(options.class_archive),
        *options.java_options,
        f"-D{INCLUDE_VALUES}={str(options.includes_values).lower()}",
        *LOCALE,
        "-cp",
        # The last jars: a class archive fits only if the class path begins as in its training.
        ":".join([*class_path(options.jars), *map(str, (*user_jars(options.udf_dir), *user_jars(options.state_jars)))]),
    ]


def _temporary_folder(options: JvmOptions, scratch: Path) -> Path:
    given = [option for option in options.java_options if option.startswith(_TEMPORARY_FOLDER)]
    return Path(given[-1].removeprefix(_TEMPORARY_FOLDER)) if given else scratch


_TEMPORARY_FOLDER = "-Djava.io.tmpdir="

_GATEWAY = "org.apache.spark.api.python.PythonGatewayServer"
"""The class that SparkSubmit would start. SparkSubmit only adds settings for clusters."""


_LATE_OPTIMIZING = (
    "-XX:Tier4InvocationThreshold=200000",
    "-XX:Tier4MinInvocationThreshold=24000",
    "-XX:Tier4CompileThreshold=600000",
    "-XX:Tier4BackEdgeThreshold=1600000",
)
"""The optimizing compiler (C2) compiles methods after forty times as many calls as by default. On one core, half of a
start was the work of C2, and on two cores a third, most of it on code that runs once. Code that runs for each record
reaches the threshold within a second; processing three million records took a fifth less time."""


_RETURN_FREED_MEMORY = "-XX:TrimNativeHeapInterval=60000"
"""Every minute malloc returns its free pages to the kernel. It keeps them otherwise, for example up to 28 MiB of
compilations that have ended (decision 0024). It takes some milliseconds."""


_NO_PROFILES = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-AOTReplayTraining")
"""With the profiles of the training, the JVM would immediately compile everything that was hot in it."""


_NO_RELOCATION = "-XX:ArchiveRelocationMode=0"
"""The cache is mapped at the address for which it was created. At a random address all its pointers are changed: 85 MiB
would become private memory of the container instead of pages of a file, which the kernel can drop."""


def _archive_options(archive: Path | None) -> list[str]:
    if archive is None or not archive.exists():
        return []
    if archive.suffix == ".aot":
        return [f"-XX:AOTCache={archive}", "-Xlog:aot=off", "-Xlog:cds=off", *_NO_PROFILES, _NO_RELOCATION]
    return [f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"]
