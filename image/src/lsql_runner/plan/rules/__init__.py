"""The rules of the planner in their order. Each rule is one function in a file of its name."""

from __future__ import annotations

from collections.abc import Callable

from lsql_runner.plan.queries import Plan
from lsql_runner.plan.rules.drop_constant_filters import drop_constant_filters
from lsql_runner.plan.rules.filter_before_unnest import filter_before_unnest

Rule = Callable[[Plan], Plan]

RULES: tuple[Rule, ...] = (
    drop_constant_filters,
    filter_before_unnest,
)
"""Constants first: a filter that is always true would stop other filters from moving down."""
