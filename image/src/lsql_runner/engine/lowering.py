"""A lowering, which is data, becomes a column: the last step from a function's row to what the engine
runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.bind.functions.lowering import Arg, Const, Lambda, Lowering, Native, Param, Rest, To
from lsql_runner.types import DataType, Decimal, Scalar

HIGHER_ORDER: dict[str, Callable[..., Column]] = {
    "aggregate": F.aggregate,
    "exists": F.exists,
    "filter": F.filter,
    "transform": F.transform,
    "zip_with": F.zip_with,
}
"""Built-ins that take a function: `call_function` has no place for one."""

_SPARK_NAMES = {"bytes": "binary", "long": "bigint", "null": "void"}

_Names = Mapping[str, Column]


def to_column(lowering: Lowering, args: Sequence[Column]) -> Column:
    """The column of a call with these arguments, which already have the types of the matched signature."""
    return _column(lowering, args, {})


def _column(node: Lowering, args: Sequence[Column], names: _Names) -> Column:
    match node:
        case Arg(index):
            return args[index]
        case Const(value):
            return F.lit(value)
        case Param(name):
            return names[name]
        case To(operand, target):
            return _column(operand, args, names).cast(_spark_name(target))
        case Native(name, parts):
            return _native(name, parts, args, names)
        case Lambda():
            raise TypeError("a Lambda stands only among the arguments of a higher-order function")


def _native(name: str, parts: tuple[Lowering | Rest, ...], args: Sequence[Column], names: _Names) -> Column:
    nodes: list[Lowering] = []
    for part in parts:
        if isinstance(part, Rest):
            nodes.extend(Arg(index) for index in range(part.start, len(args)))
        else:
            nodes.append(part)
    if name in HIGHER_ORDER:
        operands = [
            _function(n, args, names) if isinstance(n, Lambda) else _column(n, args, names) for n in nodes
        ]
        return HIGHER_ORDER[name](*operands)
    # An operator is a function too, but its name is read as SQL: without back-ticks `<` is a syntax error.
    return F.call_function(
        name if name.isidentifier() else f"`{name}`", *(_column(n, args, names) for n in nodes)
    )


def _function(node: Lambda, args: Sequence[Column], names: _Names) -> Callable[..., Column]:
    """A Python function of as many parameters as the Lambda has: the engine counts them."""

    def one(first: Column) -> Column:
        return _column(node.body, args, {**names, node.params[0]: first})

    def two(first: Column, second: Column) -> Column:
        return _column(node.body, args, {**names, node.params[0]: first, node.params[1]: second})

    return one if len(node.params) == 1 else two


def _spark_name(t: DataType) -> str:
    match t:
        case Scalar(name):
            return _SPARK_NAMES.get(name, name)
        case Decimal(precision, scale):
            return f"decimal({precision},{scale})"
    raise TypeError(f"a lowering converts to scalars only, not to {t}")
