"""The JVM of a worker, which starts another JVM for the executor.

Spark composes the command of the executor from settings of the driver. The options of a JVM depend on the machine that
it runs on: memory, jars, folders. So the worker gives Spark a program `java` of its own, which replaces these options.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from lsql_runner.container.out_of_memory import raise_oom_score
from lsql_runner.jvm.java import java, spark_home
from lsql_runner.jvm.java_entries import WORKER_PROGRAM
from lsql_runner.jvm.scratch import ScratchFolder, check_executable
from lsql_runner.jvm.spark_jvm import JvmOptions, jvm_arguments
from lsql_runner.jvm.workers import EXECUTOR_MIB, Workers, connection_settings

HEAP_MIB = 64
"""The heap of the worker, which starts processes and answers messages. 40 MiB of it are in use after a collection, 21
of them for the directories of all of Spark's jars; the image has fewer jars."""

_SMALL = ("-XX:TieredStopAtLevel=1", "-Xss512k")
_CODE_CACHE_MIB = 24


class WorkerJvm:
    """A running worker. The constructor starts it.

    Args:
        workers: the processor.
        executor: how the JVM of its executor starts.
        own_host: the address by which the processor and other workers reach this one.
        cores: the tasks that its executor runs at the same time.

    Raises:
        LsqlError: JAVA_MISSING, JARS_MISSING, TEMPORARY_FOLDER_NOEXEC.
    """

    def __init__(self, workers: Workers, executor: JvmOptions, own_host: str, cores: int) -> None:
        self._folder = ScratchFolder()
        scratch = self._folder.path
        check_executable(scratch)  # of the program java
        own = replace(
            executor,
            heap_mib=HEAP_MIB,
            code_cache_mib=_CODE_CACHE_MIB,
            java_options=(*_SMALL, *(f"-D{name}={value}" for name, value in _settings(workers, scratch).items())),
            udf_dir=None,
            state_jars=None,
        )
        executor_folder = scratch / "executor"
        executor_folder.mkdir()
        home = _java_home(scratch / "java", jvm_arguments(executor, executor_folder))
        program = [workers.host, workers.port, own_host, cores, EXECUTOR_MIB, version("lsql-runner"), scratch / "work"]
        self.process = subprocess.Popen(
            [java(), *jvm_arguments(own, scratch), WORKER_PROGRAM, *map(str, program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=_environment() | {"JAVA_HOME": str(home), "_SPARK_AUTH_SECRET": workers.secret},
            pass_fds=(self._folder.lock_file,),
            start_new_session=True,  # Ctrl-C must reach only this process, which stops the JVM
        )
        raise_oom_score(self.process.pid)

    def lines(self) -> Iterator[str]:
        """The reports of the worker, until it ends; see WorkerProgram in the JVM."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            yield line.rstrip("\n")

    def decommission(self) -> None:
        """Make the worker end when its tasks have ended and their results have moved to other workers."""
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGPWR)

    def close(self) -> int:
        """End the worker and its executor, and delete the temporary files. The exit code."""
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_END_S)
        self.process.kill()
        code = self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self._folder.close()
        return code


_END_S = 10.0


def _settings(workers: Workers, scratch: Path) -> dict[str, str]:
    return connection_settings(workers) | {
        "spark.local.dir": str(scratch),
        "spark.ui.enabled": "false",
        "spark.worker.cleanup.enabled": "false",  # the folder is deleted with the worker
        "spark.worker.ui.retainedExecutors": "20",
    }


def _environment() -> dict[str, str]:
    """The variables of this process, except the runner's, which it has read: some are secrets."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LSQL_", "SQL", "JAVA_OPTS"))}
    return kept | {"SPARK_HOME": str(spark_home()), "SPARK_SCALA_VERSION": "2.13", "SPARK_LOCAL_IP": "127.0.0.1"}


_JAVA = """\
#!/bin/sh
# Starts an executor: Spark's command, with the options of this worker.
value_follows=no
for word; do
  shift
  if [ $value_follows = yes ]; then
    value_follows=no
    continue
  fi
  case "$word" in
    -cp) value_follows=yes ;;
    -Xmx* | -XX:* | --add-* | --enable-*) ;;
    *) set -- "$@" "$word" ;;
  esac
done
# Its log goes to the worker's log; Spark would write it to a file that nobody reads.
errors=/proc/$PPID/fd/2
if (: >>"$errors") 2>/dev/null; then exec 2>>"$errors"; fi
exec {java} @{options} "$@"
"""


def _java_home(folder: Path, arguments: list[str]) -> Path:
    """A folder with the program `bin/java`, which starts Java with these options instead of Spark's."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    options = folder / "options"
    options.write_text("".join(f"{_quote(word)}\n" for word in arguments), encoding="utf-8")
    program.write_text(_JAVA.format(java=shlex.quote(java()), options=shlex.quote(str(options))), encoding="utf-8")
    program.chmod(0o700)
    return folder


def _quote(word: str) -> str:
    """An argument in a file of arguments of the program java."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
