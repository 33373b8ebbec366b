"""What the grammar reads but this version does not run: a table, refused by name, with the place and a way out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lsql_runner.errors import LsqlError
from lsql_runner.sql import ast


@dataclass(frozen=True, slots=True)
class Refusal:
    feature: str
    instead: str
    clause: str
    """The clause whose place is shown."""
    applies: Callable[[ast.Select], bool]


def _window(kind: str) -> Callable[[ast.Select], bool]:
    return lambda select: select.window is not None and select.window.kind == kind


REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        "SLIDING windows of an aggregate",
        "use HOP with a small advance",
        "",
        lambda s: _window("SLIDING")(s) and not s.joins,
    ),
)


def refuse_unsupported(select: ast.Select) -> None:
    """Check a SELECT against the table.

    Raises:
        LsqlError: FEATURE_UNSUPPORTED at the clause.
    """
    for refusal in REFUSALS:
        if refusal.applies(select):
            at_window = not refusal.clause and select.window is not None
            place = select.window.span if at_window and select.window else select.place_of(refusal.clause)
            raise LsqlError("FEATURE_UNSUPPORTED", place, feature=refusal.feature, instead=refusal.instead)
