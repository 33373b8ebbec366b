"""`lsql test`: case files on the memory engine, one JVM for all of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from xml.etree import ElementTree

from lsql_runner.cases.compare import ActualRecord, differences, error_differences
from lsql_runner.cases.model import Case, load_case
from lsql_runner.cases.prepare import EncodedRecord, PreparedCase, prepare_case
from lsql_runner.engine.memory import MemoryEngine, MemoryRecord, MemoryRun
from lsql_runner.errors import LsqlError, render
from lsql_runner.plan.nodes import Plan
from lsql_runner.settings import Settings

Echo = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a case ended. `lines` say what is wrong; empty for a case that passed."""

    path: Path
    name: str
    lines: tuple[str, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        return not self.lines


def run_cases(paths: Sequence[Path], junit: Path | None, echo: Echo) -> int:
    """Run every case under some files and folders; exit code 1 if one failed, else 0.

    Raises:
        LsqlError: there is no case at all, or the JVM cannot be started.
    """
    outcomes: list[Outcome] = []
    files = find_cases(paths)
    with MemoryEngine(_path("jars_dir"), _path("class_archive")) as engine:
        for path in files:
            outcome = _run_file(path, engine)
            echo(_summary(outcome))
            outcomes.append(outcome)
    if junit is not None:
        junit.write_bytes(as_junit(outcomes))
    failed = sum(not outcome.passed for outcome in outcomes)
    echo(f"{len(outcomes) - failed} passed, {failed} failed" if failed else f"{len(outcomes)} passed")
    return 1 if failed else 0


def _path(name: str) -> Path:
    """A path of the settings, which as a whole ask for a program."""
    field = Settings.model_fields[name]
    return Path(os.environ.get(str(field.alias), field.default))


def find_cases(paths: Iterable[Path]) -> list[Path]:
    """The files as named; of a folder every `case.yaml` and `*.case.yaml` below it, in order of their paths.

    Raises:
        LsqlError: CASE_INVALID for a folder without any.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if not path.is_dir():
            found[path] = None
            continue
        below = sorted([*path.rglob("case.yaml"), *path.rglob("*.case.yaml")])
        if not below:
            raise LsqlError("CASE_INVALID", path=str(path), place="the folder", why="it holds no case.yaml")
        found |= dict.fromkeys(below)
    return list(found)


def _run_file(path: Path, engine: MemoryEngine) -> Outcome:
    start = time.monotonic()
    name = str(path)
    try:
        case = load_case(path)
        name = case.name
        lines = run_case(case, engine)
    except LsqlError as error:
        if error.code in ("JVM_GONE", "JAVA_MISSING", "JARS_MISSING"):
            raise
        lines = render(error).splitlines()
    return Outcome(path, name, tuple(lines), time.monotonic() - start)


class CaseEngine(Protocol):
    """What runs a case: `engine.memory` for users, and a broker in our tests."""

    def run(self, plan: Plan, batches: Sequence[Sequence[MemoryRecord]]) -> MemoryRun:
        """Run a plan over micro-batches, each read as a whole before the next."""


def run_case(case: Case, engine: CaseEngine) -> list[str]:
    """Run a case; what is wrong, as lines.

    Raises:
        LsqlError: CASE_INVALID; JVM_GONE.
    """
    try:
        prepared = prepare_case(case)
    except LsqlError as error:
        if error.code == "CASE_INVALID":
            raise
        return error_differences(case.error, error, case.sql)
    run = engine.run(prepared.planned.plan, memory_batches(prepared))
    if run.error is not None or case.error is not None:
        return error_differences(case.error, run.error, case.sql)
    written = (ActualRecord(r.topic, r.key, r.value, r.timestamp_ms, r.headers) for r in run.records)
    return differences(case, prepared.planned.plan, written)


def memory_batches(prepared: PreparedCase) -> list[list[MemoryRecord]]:
    """The input of a case for the memory engine."""
    return [[_memory_record(record) for record in batch] for batch in prepared.batches]


def _memory_record(record: EncodedRecord) -> MemoryRecord:
    return MemoryRecord(
        record.topic,
        record.key,
        record.value,
        record.timestamp_ms,
        record.partition,
        record.offset,
        record.headers,
    )


def _summary(outcome: Outcome) -> str:
    if outcome.passed:
        return f"ok      {outcome.name} ({outcome.seconds:.1f} s)"
    return "\n".join([f"FAILED  {outcome.name} ({outcome.path})", *(f"    {line}" for line in outcome.lines)])


def as_junit(outcomes: Sequence[Outcome]) -> bytes:
    """The outcomes as a JUnit XML report."""
    failed = sum(not outcome.passed for outcome in outcomes)
    seconds = sum(outcome.seconds for outcome in outcomes)
    suite = ElementTree.Element(
        "testsuite", name="lsql", tests=str(len(outcomes)), failures=str(failed), time=f"{seconds:.3f}"
    )
    for outcome in outcomes:
        attributes = {"classname": str(outcome.path), "name": outcome.name, "time": f"{outcome.seconds:.3f}"}
        case = ElementTree.SubElement(suite, "testcase", attributes)
        if not outcome.passed:
            failure = ElementTree.SubElement(case, "failure", message=_xml_text(outcome.lines[0]))
            failure.text = _xml_text("\n".join(outcome.lines))
    text: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    return text


def _xml_text(text: str) -> str:
    """Text without the control characters that XML cannot hold."""
    return "".join(char if char >= " " or char in "\n\t" else "\ufffd" for char in text)
