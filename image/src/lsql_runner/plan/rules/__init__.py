"""The planner's rules in their order: the order is the architecture. One rule, one file, one function of that name."""

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
"""Constants first: a condition that is always true should not keep another from moving."""
