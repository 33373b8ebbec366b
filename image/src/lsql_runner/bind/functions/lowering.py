"""How a function is computed: a tree of functions of Spark and of the Java module over the arguments of the call.

A lowering is data, so the function table can be tested and documented without Spark. `compile.lowering` makes a column
of Spark from it; records are processed only in the JVM.
"""

from __future__ import annotations

from dataclasses import dataclass

from lsql_runner.formats.catalog import UserFunction
from lsql_runner.types import DataType


@dataclass(frozen=True, slots=True)
class Arg:
    """The argument of the call at `index`, counted from 0."""

    index: int


@dataclass(frozen=True, slots=True)
class Rest:
    """The arguments of the call from `start` on, or every `step`-th of them, as separate arguments of a `Native`."""

    start: int = 0
    step: int = 1
    of: str | None = None
    """The SQL name of a function with one argument; then its results for the arguments."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant value."""

    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class CastTo:
    """A CAST. Text that is not a value of the type makes the record fail."""

    operand: Lowering
    target: DataType


@dataclass(frozen=True, slots=True)
class AsResult:
    """The operand in the type of the call's result: structs get its names of fields. Only at the root of a lowering."""

    operand: Lowering


@dataclass(frozen=True, slots=True)
class Native:
    """A call of a function of Spark or of the Java module, by its SQL name: `lpad`, `regexp_replace`, `if`."""

    name: str
    args: tuple[Lowering | Rest, ...]


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of the enclosing Lambda."""

    name: str


@dataclass(frozen=True, slots=True)
class Lambda:
    """An anonymous function with one or two parameters, as an argument of `transform`, `filter` or `aggregate`."""

    params: tuple[str, ...]
    body: Lowering


@dataclass(frozen=True, slots=True)
class CallClass:
    """A call of the Java class of a user-defined function, with all arguments. Only at the root of a lowering."""

    function: UserFunction


Lowering = Arg | Constant | CastTo | AsResult | Native | Param | Lambda | CallClass


def cast_to_result(lowering: Lowering, result: DataType) -> Lowering:
    """The lowering of a call with a result of this type."""
    return CastTo(lowering.operand, result) if isinstance(lowering, AsResult) else lowering


def native(name: str, *args: Lowering | Rest | str | int | float | bool | None) -> Native:
    """A Native. Arguments that are Python values become constants."""
    nodes = (Arg, Rest, Constant, CastTo, AsResult, Native, Param, Lambda, CallClass)
    return Native(name, tuple(a if isinstance(a, nodes) else Constant(a) for a in args))
