"""`lsql test`: case files, one after the other, on one engine for all of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from lsql_runner.cases.case_run import CaseEngine, run_case
from lsql_runner.cases.load import load_case
from lsql_runner.cases.report import Outcome, as_junit, as_text
from lsql_runner.errors import LsqlError, render
from lsql_runner.jvm.spark_jvm import SparkJvm

Echo = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class OnBrokers:
    """Where cases run that do not run in memory. All else that the brokers ask for is in the environment."""

    servers: str
    """As in SQL_BOOTSTRAP_SERVERS."""
    registry: str | None
    """As in SQL_SCHEMA_REGISTRY_URL; None leaves it to that."""


def run_cases(paths: Sequence[Path], junit: Path | None, echo: Echo, place: SparkJvm | OnBrokers, warn: Echo) -> int:
    """Run every case under some files and folders; exit code 1 if one failed, else 0.

    Args:
        paths: files and folders.
        junit: where to write a report; None for none.
        echo: takes what is to be shown, line by line.
        place: where to run them: on brokers, or on records in memory, in a JVM that ends with the cases.
        warn: takes what went wrong beside the cases.

    Raises:
        LsqlError: there is no case at all, or what they are to run on cannot be used.
    """
    outcomes: list[Outcome] = []
    files = find_cases(paths)
    with _in_memory(place) if isinstance(place, SparkJvm) else _on_brokers(place, os.environ, warn) as engine:
        for path in files:
            outcome = _run_file(path, engine)
            echo(as_text(outcome))
            outcomes.append(outcome)
    if junit is not None:
        junit.write_bytes(as_junit(outcomes))
    failed = sum(not outcome.passed for outcome in outcomes)
    echo(f"{len(outcomes) - failed} passed, {failed} failed" if failed else f"{len(outcomes)} passed")
    return 1 if failed else 0


@contextmanager
def _in_memory(jvm: SparkJvm) -> Iterator[CaseEngine]:
    from lsql_runner.cases.on_memory import MemoryCases
    from lsql_runner.engine.memory import MemoryEngine

    with MemoryEngine(jvm) as engine:
        yield MemoryCases(engine)


def _on_brokers(brokers: OnBrokers, environment: Mapping[str, str], warn: Echo) -> AbstractContextManager[CaseEngine]:
    from lsql_runner.cases.on_kafka import kafka_cases

    return kafka_cases(environment, brokers.servers, brokers.registry, warn)


def find_cases(paths: Iterable[Path]) -> list[Path]:
    """The files as named; of a folder every `case.yaml` and `*.case.yaml` below it, in order of their paths.

    Raises:
        LsqlError: CASES_MISSING for a folder without any.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if not path.is_dir():
            found[path] = None
            continue
        below = sorted([*path.rglob("case.yaml"), *path.rglob("*.case.yaml")])
        if not below:
            raise LsqlError("CASES_MISSING", path=str(path))
        found |= dict.fromkeys(below)
    return list(found)


def _run_file(path: Path, engine: CaseEngine) -> Outcome:
    start = time.monotonic()
    name = str(path)
    try:
        case = load_case(path)
        name = case.name
        lines = run_case(case, engine)
    except LsqlError as error:
        if error.kind.is_shared:
            raise
        lines = render(error).splitlines()
    return Outcome(path, name, tuple(lines), time.monotonic() - start)
