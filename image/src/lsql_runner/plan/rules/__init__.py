"""The optimizer rules of the planner, in order. Each rule is a function in a file of the same name."""

from __future__ import annotations

from collections.abc import Callable

from lsql_runner.plan.queries import Plan
from lsql_runner.plan.rules.drop_constant_filters import drop_constant_filters
from lsql_runner.plan.rules.filter_before_unnest import filter_before_unnest
from lsql_runner.plan.rules.keep_numbers import keep_numbers

Rule = Callable[[Plan], Plan]

RULES: tuple[Rule, ...] = (
    drop_constant_filters,
    filter_before_unnest,
    keep_numbers,
)
"""Constants first: a filter that is always true would prevent other filters from moving down. Numbers last: the types
of columns depend on the nodes that read them."""
