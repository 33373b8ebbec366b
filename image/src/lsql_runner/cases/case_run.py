"""One case, from its file's content to what is wrong with it, on whichever engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from lsql_runner.cases.compare import ActualRecord, differences, error_differences
from lsql_runner.cases.model import Case
from lsql_runner.cases.prepare import PreparedCase, prepare_case
from lsql_runner.cases.values import Schemas
from lsql_runner.errors import LsqlError, render


@dataclass(frozen=True, slots=True)
class CaseRun:
    """What a program made of a case: the records of each target in their order, or the error that it ended with."""

    records: tuple[ActualRecord, ...]
    error: LsqlError | None
    schemas: Schemas
    """What the ids in records of AVRO stand for."""
    left: tuple[LsqlError, ...] = ()
    """What the run made and could not take away again."""


class CaseEngine(Protocol):
    """What runs a case: records in memory, or real brokers."""

    def run(self, case: Case, prepared: PreparedCase) -> CaseRun:
        """Run the program over the case's micro-batches, each read as a whole before the next.

        Raises:
            LsqlError: the engine cannot be used, or the case not be run on it.
        """


def run_case(case: Case, engine: CaseEngine) -> list[str]:
    """Run a case; what is wrong, as lines.

    Raises:
        LsqlError: CASE_INVALID; what the engine cannot do.
    """
    try:
        prepared = prepare_case(case)
    except LsqlError as error:
        if error.kind.is_of_case:
            raise
        return error_differences(case.error, error, case.sql)
    run = engine.run(case, prepared)
    left = [line for error in run.left for line in render(error).splitlines()]
    if run.error is not None or case.error is not None:
        return [*error_differences(case.error, run.error, case.sql), *left]
    return [*differences(case, prepared.plan, run.records, run.schemas), *left]
