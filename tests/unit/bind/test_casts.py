"""What errors advise for an expression of the wrong type: only casts that the language has."""

from itertools import product

import pytest

from lsql_runner.bind.casts import can_cast, instead_of
from lsql_runner.bind.operators import DURATION
from lsql_runner.bind.type_names import type_named
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import Catalog
from lsql_runner.formats.declared import declared_topics
from lsql_runner.pipeline import plan_text
from lsql_runner.sql import ast
from lsql_runner.sql.cursor import Cursor
from lsql_runner.sql.expressions import read_expression
from lsql_runner.types import SCALARS, STRING, Array, DataType, Decimal, Field, Map, Struct, describe

ALL_SCALARS: list[DataType] = [*SCALARS.values(), Decimal(10, 2)]
FIELDS = {
    **{f"a_{name}": f"{name} not null" for name in SCALARS},
    "a_decimal": "decimal(10,2) not null",
    "a_struct": "struct<name: string not null, height: int> not null",
    "a_map": "map<string, int> not null",
    "an_array": "array<int> not null",
}
CATALOG = Catalog(declared_topics({"t": {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": FIELDS}}}))


def refusal(expression: str) -> LsqlError:
    with pytest.raises(LsqlError) as refused:
        plan_text(f"INSERT INTO o SELECT STREAM {expression} AS x FROM t", CATALOG)
    return refused.value


@pytest.mark.parametrize(("source", "target"), list(product(ALL_SCALARS, ALL_SCALARS)), ids=describe)
def test_each_advised_cast_is_allowed(source: DataType, target: DataType) -> None:
    advised = instead_of(source, [target])
    if advised.code == "OTHER":
        assert source == target or not can_cast(source, target)
        return
    cast = read_expression(Cursor(str(advised.params["cast"]).replace("...", "x")))
    steps: list[DataType] = []
    while isinstance(cast, ast.Cast):
        steps.insert(0, type_named(cast.target, Decimal()))
        cast = cast.operand
    assert steps[-1] == target
    for step in steps:
        assert can_cast(source, step)
        source = step


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (Struct((Field("a", STRING), Field("b", STRING))), "FIELD"),
        (Map(STRING), "MAP_VALUE"),
        (Array(STRING), "ELEMENT"),
        (DURATION, "OTHER"),
    ],
)
def test_no_cast_of_a_type_that_cast_refuses_is_advised(source: DataType, code: str) -> None:
    assert instead_of(source, [STRING]).code == code


@pytest.mark.parametrize(
    ("expression", "code", "instead"),
    [
        ("UPPER(a_struct)", "ARGUMENT_TYPE", "FIELD"),
        ("UPPER(a_map)", "ARGUMENT_TYPE", "MAP_VALUE"),
        ("UPPER(an_array)", "ARGUMENT_TYPE", "ELEMENT"),
        ("UPPER(a_int)", "ARGUMENT_TYPE", "CAST"),
        ("SIZEOF(a_int)", "ARGUMENT_TYPE", "OTHER"),
        ("COALESCE(a_struct, a_int)", "ARGUMENT_TYPE", "OTHER"),
        ("CAST(a_struct AS int)", "CAST_IMPOSSIBLE", "FIELD"),
        ("CAST(a_date AS long)", "CAST_IMPOSSIBLE", "CAST"),
        ("-a_struct", "OPERAND_TYPE", "FIELD"),
        ("a_struct + 1", "OPERATOR_TYPES", "FIELD"),
        ("1 = a_struct", "OPERATOR_TYPES", "FIELD"),
        ("a_map = a_map", "OPERATOR_TYPES", "MAP_VALUE"),
        ("a_long = 1d", "OPERATOR_TYPES", "OTHER"),
        ("CASE WHEN a_boolean THEN a_struct ELSE a_int END", "OPERATOR_TYPES", "OTHER"),
    ],
)
def test_errors_advise_what_the_language_has(expression: str, code: str, instead: str) -> None:
    error = refusal(expression)
    assert (error.code, getattr(error.params["instead"], "code", None)) == (code, instead)


@pytest.mark.parametrize(
    ("expression", "cast"),
    [
        ("a_string + a_string", "CAST(... AS double)"),
        ("a_string + a_int", "CAST(... AS int)"),
        ("a_timestamp + 1", "CAST(... AS long)"),
        ("a_date * 2", "CAST(CAST(... AS timestamp) AS long)"),
        ("CAST(a_int AS date)", "CAST(CAST(CAST(... AS long) AS timestamp) AS date)"),
        ("ABS(a_boolean)", "CAST(... AS int)"),
        ("ABS(a_bytes)", "CAST(CAST(... AS string) AS double)"),
    ],
)
def test_the_advised_cast_is_the_shortest(expression: str, cast: str) -> None:
    assert refusal(expression).params["instead"] == cast
