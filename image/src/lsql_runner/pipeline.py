"""The line, in its order: parse -> bind -> plan. What follows (compile -> run) is the engine's and the runtime's."""

from __future__ import annotations

from dataclasses import dataclass

from lsql_runner.bind.bound import BoundProgram
from lsql_runner.bind.program import bind_program
from lsql_runner.formats.catalog import Catalog
from lsql_runner.plan.planner import plan_program
from lsql_runner.plan.queries import Plan
from lsql_runner.sql.ast import Program
from lsql_runner.sql.parser import parse


@dataclass(frozen=True, slots=True)
class PlannedProgram:
    """A program at each stage."""

    program: Program
    bound: BoundProgram
    plan: Plan


def plan_parsed(program: Program, catalog: Catalog) -> PlannedProgram:
    """Bind and plan a program that is already parsed (its topics had to be known to ask for their schemas)."""
    bound = bind_program(program, catalog)
    return PlannedProgram(program, bound, plan_program(bound))


def plan_text(text: str, catalog: Catalog) -> PlannedProgram:
    """The whole line for a text.

    Raises:
        LsqlError: the first thing that is wrong, with its place.
    """
    return plan_parsed(parse(text), catalog)
