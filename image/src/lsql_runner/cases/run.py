"""`lsql test`: runs case files one after the other, all on one engine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from lsql_runner.cases.case_run import CaseEngine, run_case
from lsql_runner.cases.load import load_case
from lsql_runner.cases.prepare import NO_FUNCTIONS
from lsql_runner.cases.report import CaseResult, as_junit, as_text
from lsql_runner.config.log_levels import internal_error, is_debugging
from lsql_runner.errors import LsqlError, render
from lsql_runner.formats.catalog import UserFunction
from lsql_runner.jvm.spark_jvm import SparkJvm
from lsql_runner.user_functions.load import load_functions

Echo = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ServerAddresses:
    """The addresses of the brokers and the schema registry. Credentials and other settings are in the environment."""

    servers: str
    """As in SQL_BOOTSTRAP_SERVERS."""
    registry: str | None
    """As in SQL_SCHEMA_REGISTRY_URL; None uses that variable."""


def run_cases(
    paths: Sequence[Path],
    junit: Path | None,
    echo: Echo,
    runs_on: SparkJvm | ServerAddresses,
    warn: Echo,
    udf_dir: Path | None = None,
) -> int:
    """Run cases. Returns the exit code: 1 if a case failed, else 0.

    Args:
        paths: case files, and folders with case files.
        junit: the file for a JUnit report; None for no report.
        echo: receives the lines of output.
        runs_on: the brokers; or the JVM of the in-memory engine, which is ended after the cases.
        warn: receives problems that are not results of cases.
        udf_dir: the directory with user-defined functions, whose jars the JVM has on its class path.

    Raises:
        LsqlError: there are no cases, or the functions, the brokers or the engine cannot be used.
    """
    results: list[CaseResult] = []
    files = find_cases(paths)
    with _in_memory(runs_on) if isinstance(runs_on, SparkJvm) else _on_brokers(runs_on, os.environ, warn) as engine:
        functions = NO_FUNCTIONS if udf_dir is None else load_functions(udf_dir)
        for path in files:
            result = run_file(path, engine, functions)
            echo(as_text(result))
            results.append(result)
    if junit is not None:
        junit.write_bytes(as_junit(results))
    failed = sum(not result.passed for result in results)
    echo(f"{len(results) - failed} passed, {failed} failed" if failed else f"{len(results)} passed")
    return 1 if failed else 0


@contextmanager
def _in_memory(jvm: SparkJvm) -> Iterator[CaseEngine]:
    from lsql_runner.cases.on_memory import MemoryCases
    from lsql_runner.engine.in_memory.engine import MemoryEngine

    with MemoryEngine(jvm, small_batches=True) as engine:
        yield MemoryCases(engine)


def _on_brokers(
    addresses: ServerAddresses, environment: Mapping[str, str], warn: Echo
) -> AbstractContextManager[CaseEngine]:
    from lsql_runner.cases.on_kafka import kafka_cases

    return kafka_cases(environment, addresses.servers, addresses.registry, warn)


def find_cases(paths: Iterable[Path]) -> list[Path]:
    """The case files: the given files, and each `case.yaml` and `*.case.yaml` in the given folders, ordered by path.

    Raises:
        LsqlError: CASES_MISSING for a folder without case files.
    """
    files: dict[Path, None] = {}
    for path in paths:
        if not path.is_dir():
            files[path] = None
            continue
        below = sorted([*path.rglob("case.yaml"), *path.rglob("*.case.yaml")])
        if not below:
            raise LsqlError("CASES_MISSING", path=str(path))
        files |= dict.fromkeys(below)
    return list(files)


def run_file(path: Path, engine: CaseEngine, functions: Mapping[str, UserFunction] = NO_FUNCTIONS) -> CaseResult:
    """The result of the case in a file. A fault of the runner is a failure of this case only.

    Raises:
        LsqlError: what prevents all cases from running; at the log level DEBUG, the exception of a fault.
    """
    start = time.monotonic()
    name = str(path)
    try:
        case = load_case(path)
        name = case.name
        lines = run_case(case, engine, functions)
    except LsqlError as error:
        if error.kind.is_shared:
            raise
        lines = render(error).splitlines()
    except Exception as error:
        if is_debugging(os.environ):
            raise
        lines = render(internal_error(error)).splitlines()
    return CaseResult(path, name, tuple(lines), time.monotonic() - start)
