"""Runs one case on an engine and compares the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from lsql_runner.cases.compare import ActualRecord, differences, error_differences
from lsql_runner.cases.model import Case
from lsql_runner.cases.prepare import NO_FUNCTIONS, PreparedCase, prepare_case
from lsql_runner.cases.values import Schemas
from lsql_runner.errors import LsqlError, render
from lsql_runner.formats.catalog import UserFunction


@dataclass(frozen=True, slots=True)
class CaseRun:
    """The output of a run: the records of each target in their order, or the error that ended the program."""

    records: tuple[ActualRecord, ...]
    error: LsqlError | None
    schemas: Schemas
    """The schemas of the records, by id."""
    cleanup_errors: tuple[LsqlError, ...] = ()
    """One error for each resource that the run created and could not delete."""


class CaseEngine(Protocol):
    """Runs cases, with the in-memory engine or on real brokers."""

    def run(self, case: Case, prepared: PreparedCase) -> CaseRun:
        """Run the program over the micro-batches of the case; each is processed before the next is written.

        Raises:
            LsqlError: the engine cannot be used, or cannot run this case.
        """


def run_case(case: Case, engine: CaseEngine, functions: Mapping[str, UserFunction] = NO_FUNCTIONS) -> list[str]:
    """Run a case. Returns the differences as lines; empty if it passed.

    Args:
        case: the case.
        engine: runs it.
        functions: the user-defined functions, by name.

    Raises:
        LsqlError: the case file is invalid, or the engine cannot run the case.
    """
    try:
        prepared = prepare_case(case, functions)
    except LsqlError as error:
        if error.kind.is_of_case:
            raise
        return error_differences(case.error, error, case.sql)
    run = engine.run(case, prepared)
    cleanup_lines = [line for error in run.cleanup_errors for line in render(error).splitlines()]
    if run.error is not None or case.error is not None:
        return [*error_differences(case.error, run.error, case.sql), *cleanup_lines]
    return [*differences(case, prepared.plan, run.records, run.schemas), *cleanup_lines]
