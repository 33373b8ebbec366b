"""The small language in which a function says how it is computed.

A lowering is data: a tree of the engine's built-in functions over the arguments of the call. The table
of functions can so be read, tested and documented without Spark; `engine.expressions` turns the tree
into a column. Nothing here runs per record outside the JVM.
"""

from __future__ import annotations

from dataclasses import dataclass

from lsql_runner.types import DataType


@dataclass(frozen=True, slots=True)
class Arg:
    """The argument of the call at `index`, counted from zero."""

    index: int


@dataclass(frozen=True, slots=True)
class Rest:
    """All arguments from `start` on, in place (only as an argument of `Native`)."""

    start: int = 0


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant."""

    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class CastTo:
    """Conversion to a type; text that is no such value stops the processor as a bad record does."""

    operand: Lowering
    target: DataType


@dataclass(frozen=True, slots=True)
class Native:
    """One of the engine's built-in functions, by its SQL name (`lpad`, `regexp_replace`, `if`)."""

    name: str
    args: tuple[Lowering | Rest, ...]


@dataclass(frozen=True, slots=True)
class Param:
    """The parameter `name` of the enclosing Lambda."""

    name: str


@dataclass(frozen=True, slots=True)
class Lambda:
    """A function of one or two parameters for higher-order built-ins (`transform`, `filter`, `aggregate`)."""

    params: tuple[str, ...]
    body: Lowering


Lowering = Arg | Constant | CastTo | Native | Param | Lambda


def native(name: str, *args: Lowering | Rest | str | int | float | bool | None) -> Native:
    """Short for a Native whose plain Python arguments are constants."""
    nodes = (Arg, Rest, Constant, CastTo, Native, Param, Lambda)
    return Native(name, tuple(a if isinstance(a, nodes) else Constant(a) for a in args))
