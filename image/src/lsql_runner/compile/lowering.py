"""Lowerings to columns: how a function of the language is computed by functions of Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.bind.functions.lowering import (
    Arg,
    AsResult,
    CallClass,
    CastTo,
    Constant,
    Lambda,
    Lowering,
    Native,
    Param,
    Rest,
)
from lsql_runner.compile.schema import spark_type
from lsql_runner.compile.user_functions import call_class
from lsql_runner.jvm.call import call

HIGHER_ORDER: dict[str, Callable[..., Column]] = {
    "aggregate": F.aggregate,
    "exists": F.exists,
    "filter": F.filter,
    "transform": F.transform,
    "zip_with": F.zip_with,
}
"""Built-in functions that take a function as an argument, which `call` cannot pass."""


def _header_keys(headers: Column) -> Column:
    """The names of the headers in their order; an empty array for a record without any."""
    return F.coalesce(headers["key"], F.array().cast("array<string>"))


COMPOSED: dict[str, Callable[[Column], Column]] = {
    "header_keys": _header_keys,
}
"""Functions that are composed of Spark's functions here, and are not registered in Spark."""

_Names = Mapping[str, Column]


def to_column(lowering: Lowering, args: Sequence[Column]) -> Column:
    """The column of a call with these arguments, which already have the types of the matched signature."""
    return _Call(args).column(lowering, {})


class _Call:
    """One call of a function. A node that is used several times is built once: each column costs calls of the JVM."""

    def __init__(self, args: Sequence[Column]) -> None:
        self._args = args
        self._columns: dict[int, Column] = {}

    def column(self, node: Lowering, names: _Names) -> Column:
        """The column of a node of the lowering.

        Args:
            names: the parameters of the Lambdas around it.
        """
        if names or not isinstance(node, Native):
            return self._build(node, names)
        if id(node) not in self._columns:
            self._columns[id(node)] = self._build(node, names)
        return self._columns[id(node)]

    def _build(self, node: Lowering, names: _Names) -> Column:
        match node:
            case Arg(index):
                return self._args[index]
            case Constant(value):
                return F.lit(value)
            case Param(name):
                return names[name]
            case CastTo(operand, target):
                return self.column(operand, names).cast(spark_type(target))
            case Native(name, parts):
                return self._native(name, self._replace_rest(parts), names)
            case CallClass(function):
                return call_class(function, self._args)
            case Lambda() | AsResult():
                raise TypeError(f"{type(node).__name__} is not computed as an argument")

    def _replace_rest(self, parts: tuple[Lowering | Rest, ...]) -> Iterator[Lowering]:
        """The parts with every Rest replaced by the remaining arguments."""
        for part in parts:
            if isinstance(part, Rest):
                rest = [Arg(index) for index in range(part.start, len(self._args), part.step)]
                yield from rest if part.of is None else [Native(part.of, (arg,)) for arg in rest]
            else:
                yield part

    def _native(self, name: str, parts: Iterator[Lowering], names: _Names) -> Column:
        if name in HIGHER_ORDER:
            operands = [self._function(p, names) if isinstance(p, Lambda) else self.column(p, names) for p in parts]
            return HIGHER_ORDER[name](*operands)
        if name in COMPOSED:
            return COMPOSED[name](*(self.column(part, names) for part in parts))
        return call(name, *(self.column(part, names) for part in parts))

    def _function(self, node: Lambda, names: _Names) -> Callable[..., Column]:
        """A Python function with as many parameters as the Lambda: pyspark counts them."""

        def one(first: Column) -> Column:
            return self.column(node.body, {**names, node.params[0]: first})

        def two(first: Column, second: Column) -> Column:
            return self.column(node.body, {**names, node.params[0]: first, node.params[1]: second})

        return one if len(node.params) == 1 else two
