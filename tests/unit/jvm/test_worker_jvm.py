"""The command lines of a worker and of its executor, with a program that prints them in place of Java."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lsql_runner.jvm.java_entries import WORKER_PROGRAM
from lsql_runner.jvm.spark_jvm import JvmOptions
from lsql_runner.jvm.worker_jvm import WorkerJvm
from lsql_runner.jvm.workers import Workers

SECRET = "0123456789abcdef"
PRINTS_ITSELF = """#!/bin/sh
env > {folder}/environment
printf '%s\\n' "$@"
"""


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerJvm]:
    """A worker with one core and an executor with a heap of 300 MiB."""
    (tmp_path / "kafka-clients-3.9.2.jar").touch()
    java = tmp_path / "bin/java"
    java.parent.mkdir()
    java.write_text(PRINTS_ITSELF.format(folder=tmp_path))
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("LSQL_WORKERS_SECRET", SECRET)
    workers = Workers(host="processor", port=7077, secret=SECRET)
    options = JvmOptions(jars=tmp_path, heap_mib=300, java_options=("-Dname=a \\ value",))
    jvm = WorkerJvm(workers, options, "10.0.0.7", 1)
    yield jvm
    jvm.close()


def environment(folder: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in (folder / "environment").read_text().splitlines() if "=" in line)


def executor_command(home: str, *of_spark: str) -> list[str]:
    """The arguments with which the program `java` of the worker starts Java."""
    process = subprocess.run([f"{home}/bin/java", *of_spark], capture_output=True, text=True, check=True)
    return process.stdout.splitlines()


def test_the_worker_gets_the_processor_its_own_address_and_its_cores(started: WorkerJvm) -> None:
    arguments = list(started.lines())

    place = arguments.index(WORKER_PROGRAM)
    assert arguments[place + 1 : place + 6] == ["processor", "7077", "10.0.0.7", "1", "160"]
    assert "-Xmx64m" in arguments


def test_the_secret_is_on_no_command_line_and_in_one_variable(started: WorkerJvm, tmp_path: Path) -> None:
    assert SECRET not in "\n".join(started.lines())
    assert [name for name, value in environment(tmp_path).items() if value == SECRET] == ["_SPARK_AUTH_SECRET"]


def test_an_executor_has_the_options_of_its_worker_instead_of_those_of_spark(
    started: WorkerJvm, tmp_path: Path
) -> None:
    list(started.lines())
    home = environment(tmp_path)["JAVA_HOME"]

    command = executor_command(
        home,
        *("-cp", "of/spark.jar", "-Xmx160M", "-XX:+IgnoreUnrecognizedVMOptions", "--add-modules=jdk.incubator.vector"),
        *("-Dspark.driver.port=7078", "org.apache.spark.Executor", "--driver-url", "spark://a b", "--cores", "1"),
    )

    options, *rest = command
    assert rest == [
        *("-Dspark.driver.port=7078", "org.apache.spark.Executor", "--driver-url", "spark://a b", "--cores", "1")
    ]
    lines = Path(options.removeprefix("@")).read_text().splitlines()
    assert '"-Xmx300m"' in lines
    assert '"-Dname=a \\\\ value"' in lines
    assert "kafka-clients-3.9.2.jar" in lines[lines.index('"-cp"') + 1]


def test_the_log_of_an_executor_is_that_of_its_parent(started: WorkerJvm, tmp_path: Path) -> None:
    """Spark reads the standard error of an executor, and writes it to a file."""
    list(started.lines())
    home = environment(tmp_path)["JAVA_HOME"]
    (tmp_path / "bin/java").write_text("#!/bin/sh\necho problem >&2\n")
    spark = f"import subprocess; subprocess.run(['{home}/bin/java', 'Executor'], stderr=subprocess.DEVNULL)"

    log = tmp_path / "log"
    with log.open("w") as errors:
        subprocess.run([sys.executable, "-c", spark], stderr=errors, check=True)

    assert log.read_text() == "problem\n"


def test_files_are_deleted_when_it_ends(started: WorkerJvm, tmp_path: Path) -> None:
    list(started.lines())
    home = environment(tmp_path)["JAVA_HOME"]
    assert os.access(f"{home}/bin/java", os.X_OK)

    started.close()

    assert not Path(home).exists()
