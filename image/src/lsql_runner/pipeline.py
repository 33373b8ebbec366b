"""The pure stages: parse -> bind -> plan. The engine and the runtime contain the next two: compile -> run."""

from __future__ import annotations

from dataclasses import dataclass

from lsql_runner.bind.bound import BoundProgram
from lsql_runner.bind.program import bind_program
from lsql_runner.bind.settings import ProgramSettings, bind_settings
from lsql_runner.formats.catalog import Catalog
from lsql_runner.plan.planner import plan_program
from lsql_runner.plan.queries import Plan
from lsql_runner.sql.ast import Program
from lsql_runner.sql.parser import parse


@dataclass(frozen=True, slots=True)
class PlannedProgram:
    """The results of the stages for one program."""

    program: Program
    bound: BoundProgram
    plan: Plan


def plan_parsed(
    program: Program, settings: ProgramSettings, catalog: Catalog, *, only_batches: bool = False
) -> PlannedProgram:
    """Bind and plan a parsed program. The caller has read the topics from it to look up their schemas.

    Args:
        program: the parsed program.
        settings: the values of its SET statements.
        catalog: its topics.
        only_batches: see `plan_program`.

    Raises:
        LsqlError: the first error, with its position.
    """
    bound = bind_program(program, settings, catalog)
    return PlannedProgram(program, bound, plan_program(bound, only_batches=only_batches))


def plan_text(text: str, catalog: Catalog) -> PlannedProgram:
    """Parse, bind and plan a program.

    Raises:
        LsqlError: the first error, with its position.
    """
    program = parse(text)
    return plan_parsed(program, bind_settings(program.settings), catalog)
