"""Typed expressions as readable text, for `explain` and the topology."""

from __future__ import annotations

import json
from functools import singledispatch

from lsql_runner.bind.bound import Fields, Part, UnnamedValue
from lsql_runner.bind.expr import (
    AggregateCall,
    CaseWhen,
    ColumnRef,
    Const,
    Convert,
    Expr,
    FunctionCall,
    HeaderValue,
    OperatorCall,
    StructValue,
)
from lsql_runner.types import describe

_PREFIX = {"NOT": "NOT ", "NEG": "-"}
_SUFFIX = {"IS NULL": " IS NULL", "IS NOT NULL": " IS NOT NULL"}


@singledispatch
def show(expr: Expr) -> str:
    """An expression on one line. The text is not meant to be parsed."""
    raise TypeError(f"no such expression: {expr!r}")


@show.register
def _(expr: ColumnRef) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in expr.path)
    return path[1:] if expr.name == "value" and path else f"{expr.name}{path}"


@show.register
def _(expr: Const) -> str:
    return json.dumps(expr.value, ensure_ascii=False)


@show.register
def _(expr: OperatorCall) -> str:
    shown = [show(arg) for arg in expr.args]
    if expr.op in _PREFIX:
        return f"{_PREFIX[expr.op]}{shown[0]}"
    if expr.op in _SUFFIX:
        return f"{shown[0]}{_SUFFIX[expr.op]}"
    if expr.op == "IN":
        return f"({shown[0]} IN ({', '.join(shown[1:])}))"
    return f"({f' {expr.op} '.join(shown)})"


@show.register
def _(expr: FunctionCall) -> str:
    return f"{expr.function}({', '.join(show(arg) for arg in expr.written_args)})"


@show.register
def _(expr: Convert) -> str:
    return f"CAST({show(expr.operand)} AS {describe(expr.type)})"


@show.register
def _(expr: CaseWhen) -> str:
    branches = " ".join(f"WHEN {show(when)} THEN {show(then)}" for when, then in expr.branches)
    return f"CASE {branches} ELSE {show(expr.otherwise)} END"


@show.register
def _(expr: StructValue) -> str:
    return _show_fields(expr, extends=False)


def _show_fields(value: StructValue, *, extends: bool) -> str:
    """A struct that is computed, or, with `extends`, that has the other fields of a struct of the source."""
    items = [
        f"{name}: {_show_fields(expr, extends=extends) if isinstance(expr, StructValue) else show(expr)}"
        for name, expr in value.fields
    ]
    return "{" + ", ".join(["*", *items] if extends else items) + "}"


@show.register
def _(expr: HeaderValue) -> str:
    return f"header {json.dumps(expr.name)}"


@show.register
def _(expr: AggregateCall) -> str:
    limit = "" if expr.limit is None else f", {expr.limit}"
    return f"{expr.function}({'*' if expr.arg is None else show(expr.arg)}{limit})"


def show_part(part: Part) -> str:
    """The key or value of an output record on one line."""
    match part:
        case UnnamedValue(expr):
            return show(expr)
        case Fields(fields, extends):
            return _show_fields(StructValue(fields), extends=extends)
    return "unchanged"


def show_duration(milliseconds: int) -> str:
    """`90000` as `90s`, in the largest unit that divides it."""
    for unit, length in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)):
        if milliseconds and milliseconds % length == 0:
            return f"{milliseconds // length}{unit}"
    return f"{milliseconds}ms"
