"""The row of the function table for a user-defined function."""

from __future__ import annotations

from lsql_runner.bind.functions.lowering import CallClass
from lsql_runner.bind.functions.spec import Function, Nulls, Parameter, Signature
from lsql_runner.formats.catalog import UserFunction
from lsql_runner.types import describe, describe_field_type

GROUP = "User-defined functions"


def user_function(function: UserFunction) -> Function:
    """The row of a user-defined function. It has neither an example nor a result."""
    accepts_null = any(argument.nullable for argument in function.arguments)
    parameters = tuple(
        Parameter(
            name=argument.name,
            kind=describe(argument.type),
            type=argument.type,
            refuses_null=accepts_null and not argument.nullable,
        )
        for argument in function.arguments
    )
    arguments = ", ".join(f"{argument.name}: {describe_field_type(argument)}" for argument in function.arguments)
    text = f"{function.name}({arguments}) -> {describe_field_type(function.result)}"
    return Function(
        signature=Signature(text, function.name, parameters, describe(function.result.type)),
        lowering=CallClass(function),
        doc=function.doc,
        example="",
        result="",
        group=GROUP,
        nulls=_nulls(function),
    )


def _nulls(function: UserFunction) -> Nulls:
    refuses = [not argument.nullable for argument in function.arguments]
    if not any(refuses):
        return "always" if function.result.nullable else "never"
    if not all(refuses):
        return "always"
    return "sometimes" if function.result.nullable else "propagate"
