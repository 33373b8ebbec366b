"""Runs of several case files on an engine with a fault."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lsql_runner.cases import run
from lsql_runner.cases.case_run import CaseRun
from lsql_runner.cases.model import Case
from lsql_runner.cases.prepare import PreparedCase
from lsql_runner.cases.run import ServerAddresses, run_cases, run_file

CASE = """
sql: SET autocreate=true; INSERT INTO o SELECT STREAM a AS b FROM t
topics:
  t: {key: {format: STRING}, value: {format: JSON, schema: {a: long}}}
expect: []
"""


class Broken:
    """An engine with a fault that only the case `broken` meets."""

    def run(self, case: Case, prepared: PreparedCase) -> CaseRun:
        if case.name == "broken":
            raise ZeroDivisionError("division by zero")
        return CaseRun((), None, {})


def test_a_fault_of_the_runner_is_a_failure_of_the_case_that_shows_it(tmp_path: Path) -> None:
    file = tmp_path / "x.case.yaml"
    file.write_text(f"{CASE}name: broken")

    result = run_file(file, Broken())

    assert (result.name, result.passed) == ("broken", False)
    assert result.lines[0] == "INTERNAL: Internal error: ZeroDivisionError: division by zero."


def test_a_fault_of_the_runner_does_not_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def engine(*_: object) -> Iterator[Broken]:
        yield Broken()

    monkeypatch.setattr(run, "_on_brokers", engine)
    for name in ("1", "broken", "last"):
        (tmp_path / f"{name}.case.yaml").write_text(f"{CASE}name: {name!r}")
    lines: list[str] = []

    exit_code = run_cases([tmp_path], None, lines.append, ServerAddresses("127.0.0.1:1", None), lines.append)

    assert exit_code == 1
    assert [line.split()[:2] for line in lines] == [
        ["ok", "1"],
        ["FAILED", "broken"],
        ["ok", "last"],
        ["2", "passed,"],
    ]
