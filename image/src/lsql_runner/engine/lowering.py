"""A lowering, which is data, becomes a column: the last step from a function's row to what the engine
runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.bind.functions.lowering import Arg, CastTo, Constant, Lambda, Lowering, Native, Param, Rest
from lsql_runner.engine.call import call
from lsql_runner.engine.codecs.wire import be_double, be_int, be_long
from lsql_runner.engine.schema import spark_type

HIGHER_ORDER: dict[str, Callable[..., Column]] = {
    "aggregate": F.aggregate,
    "exists": F.exists,
    "filter": F.filter,
    "transform": F.transform,
    "zip_with": F.zip_with,
}
"""Built-ins that take a function: `call` has no place for one."""

OWN: dict[str, Callable[[Column], Column]] = {"be_int": be_int, "be_long": be_long, "be_double": be_double}
"""Names of our own expressions, which Spark does not know."""

_Names = Mapping[str, Column]


def to_column(lowering: Lowering, args: Sequence[Column]) -> Column:
    """The column of a call with these arguments, which already have the types of the matched signature."""
    return _Call(args).column(lowering, {})


class _Call:
    """One call on its way. What a row names once and uses often is made once: each costs trips to the JVM."""

    def __init__(self, args: Sequence[Column]) -> None:
        self._args = args
        self._made: dict[int, Column] = {}

    def column(self, node: Lowering, names: _Names) -> Column:
        """The column of a part of the tree, inside a Lambda whose parameters are `names`."""
        if names or not isinstance(node, Native):
            return self._make(node, names)
        if id(node) not in self._made:
            self._made[id(node)] = self._make(node, names)
        return self._made[id(node)]

    def _make(self, node: Lowering, names: _Names) -> Column:
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
                return self._native(name, self._in_place(parts), names)
            case Lambda():
                raise TypeError("a Lambda stands only among the arguments of a higher-order function")

    def _in_place(self, parts: tuple[Lowering | Rest, ...]) -> Iterator[Lowering]:
        """The parts with every Rest replaced by the arguments it stands for."""
        for part in parts:
            if isinstance(part, Rest):
                yield from (Arg(index) for index in range(part.start, len(self._args)))
            else:
                yield part

    def _native(self, name: str, parts: Iterator[Lowering], names: _Names) -> Column:
        if name in HIGHER_ORDER:
            operands = [self._function(p, names) if isinstance(p, Lambda) else self.column(p, names) for p in parts]
            return HIGHER_ORDER[name](*operands)
        if name in OWN:
            return OWN[name](*(self.column(part, names) for part in parts))
        return call(name, *(self.column(part, names) for part in parts))

    def _operand(self, part: Lowering, names: _Names) -> Column | Callable[..., Column]:
        return self._function(part, names) if isinstance(part, Lambda) else self.column(part, names)

    def _function(self, node: Lambda, names: _Names) -> Callable[..., Column]:
        """A Python function of as many parameters as the Lambda has: the engine counts them."""

        def one(first: Column) -> Column:
            return self.column(node.body, {**names, node.params[0]: first})

        def two(first: Column, second: Column) -> Column:
            return self.column(node.body, {**names, node.params[0]: first, node.params[1]: second})

        return one if len(node.params) == 1 else two
