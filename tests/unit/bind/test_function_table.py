"""The function table is complete, well written, and matched as its signatures say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from lsql_runner.bind.functions.lowering import Arg, CastTo, Lambda, Lowering, Native, Rest
from lsql_runner.bind.functions.match import Mismatch, choose, match
from lsql_runner.bind.functions.spec import AggregateFunction, Function, Match, signature
from lsql_runner.bind.functions.table import AGGREGATES, FUNCTIONS, ROWS, near_names
from lsql_runner.sql import ast
from lsql_runner.sql.cursor import Cursor
from lsql_runner.sql.expressions import children, read_expression
from lsql_runner.types import (
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    NULL,
    STRING,
    TIMESTAMP,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
)

SCALARS = """
    ABBREVIATE BASE64 CAPITALIZE CENTER CHOP CONCAT CONTAINS DECODE64 DELETEWHITESPACE DIGITS DROPLEFT
    DROPRIGHT ENDSWITH INDEXOF LEN LOWER LPAD MKSTRING REGEXP REGEX_MATCHES REPLACE REVERSE RPAD STARTSWITH
    STRIPACCENTS SUBSTR SWAPCASE TAKELEFT TAKERIGHT TRIM TRUNCATE UNCAPITALIZE UPPER UUID AS_NON_NULLABLE
    AS_NULLABLE COALESCE DUMP EXISTS ISNULL ISNOTNULL SIZEOF JSON_EXTRACT_FIRST JSON_EXTRACT_ALL ANONYMIZE
    MASK EMAIL FIRST1 FIRST2 FIRST3 FIRST4 LAST1 LAST2 LAST3 LAST4 INITIALS ABS ACOS ASIN ATAN CBRT CEIL COS
    COSH DEGREES DISTANCE FLOOR MAX MIN MOD NEG POW RADIANS RANDINT ROUND SIGN SIN SINH SQRT TAN TANH
    CONVERT_DATETIME DATE DATETIME NOW YESTERDAY TODAY TOMORROW DATE_TO_STR YEAR MONTH MONTH_TEXT DAY HOUR
    MINUTE SECOND TIMESTAMP TO_DATE TO_DATETIME TO_TIMESTAMP
    """.split()
"""The scalar functions of the language; CAST and HEADER functions are no rows: they take more than values."""

AGGREGATE_NAMES = """
    COUNT SUM AVG MIN MAX FIRST LAST COLLECT COLLECT_UNIQUE MAXK MAXK_UNIQUE MINK MINK_UNIQUE TOPK BOTTOMK
    """.split()

ALL_ROWS = [variant for row in ROWS for variant in (row, *row.variants)]


def title(row: Function | AggregateFunction) -> str:
    return row.signature.text.partition(" ->")[0]


each_row = pytest.mark.parametrize("row", ALL_ROWS, ids=title)
each_aggregate = pytest.mark.parametrize("row", AGGREGATES.values(), ids=title)


def calls_in(expr: ast.Expression) -> Iterator[str]:
    if isinstance(expr, ast.Call):
        yield expr.name.upper()
    for child in children(expr):
        yield from calls_in(child)


def argument_indexes(node: Lowering | Rest) -> Iterator[int]:
    match node:
        case Arg(index):
            yield index
        case Rest(start):
            yield start
        case CastTo(operand, _):
            yield from argument_indexes(operand)
        case Native(_, args):
            for arg in args:
                yield from argument_indexes(arg)
        case Lambda(_, body):
            yield from argument_indexes(body)


# --- the rows ---


@pytest.mark.parametrize("name", SCALARS)
def test_every_scalar_of_the_language_has_a_row(name: str) -> None:
    assert name in FUNCTIONS


def test_no_row_is_missing_from_the_list_of_the_language() -> None:
    assert set(FUNCTIONS) - set(SCALARS) == {"FORMAT_DATE"}


def test_names_and_aliases_are_unique() -> None:
    names = [name for row in ROWS for name in (row.name, *row.aliases)]
    assert len(names) == len(set(names))


def test_only_max_and_min_are_both_scalar_and_aggregate_and_as_scalars_take_two_arguments() -> None:
    both = set(FUNCTIONS) & set(AGGREGATES)
    assert both == {"MAX", "MIN"}
    assert all(FUNCTIONS[name].signature.least == 2 for name in both)


def test_every_aggregate_of_the_language_has_a_row() -> None:
    assert set(AGGREGATES) == set(AGGREGATE_NAMES)


@each_row
def test_a_signature_is_spelled_as_it_is_read(row: Function) -> None:
    assert signature(row.signature.text) == row.signature


@each_row
def test_a_signature_has_a_result_of_a_known_type(row: Function) -> None:
    types: list[DataType] = [NULL] * row.signature.least
    assert isinstance(match(row.signature, types), Match)


@each_row
def test_optional_parameters_come_last_and_only_the_last_repeats(row: Function) -> None:
    parameters = row.signature.parameters
    assert [p.optional for p in parameters] == sorted(p.optional for p in parameters)
    assert not any(p.repeated for p in parameters[:-1])


@each_row
def test_a_lowering_uses_all_its_parameters_and_no_others(row: Function) -> None:
    used = set(argument_indexes(row.lowering))
    if any(p.repeated for p in row.signature.parameters):
        assert used == {0}
    else:
        assert used == set(range(len(row.signature.parameters)))


@each_row
def test_a_doc_line_is_one_sentence_or_two_that_end_with_a_full_stop(row: Function) -> None:
    assert row.doc[0].isupper()
    assert row.doc.endswith(".")
    assert "\n" not in row.doc
    assert "  " not in row.doc


@each_row
def test_an_example_calls_the_function_with_literals_only(row: Function) -> None:
    expr = read_expression(Cursor(row.example))
    assert row.name in set(calls_in(expr))
    assert not any(isinstance(node, ast.NamePath) for node in nodes_of(expr))


def nodes_of(expr: ast.Expression) -> Iterator[ast.Expression]:
    yield expr
    for child in children(expr):
        yield from nodes_of(child)


@each_row
def test_a_result_is_json_or_where_it_differs_a_regular_expression(row: Function) -> None:
    if row.deterministic:
        json.loads(row.result)
    else:
        re.compile(row.result)


@each_row
def test_a_variant_has_the_name_and_group_of_its_row(row: Function) -> None:
    assert {(v.name, v.group, v.variants) for v in row.variants} <= {(row.name, row.group, ())}


@each_row
def test_forms_are_of_parameters_that_the_row_has(row: Function) -> None:
    assert {f.parameter for f in row.forms} <= {p.name for p in row.signature.parameters if p.kind == "string"}


@each_aggregate
def test_an_aggregate_takes_a_value_and_at_most_a_limit_and_its_doc_ends_with_a_full_stop(
    row: AggregateFunction,
) -> None:
    assert [p.name for p in row.signature.parameters] in (["value"], ["value", "limit"])
    assert [p.constant for p in row.signature.parameters[1:]] == [True] * len(row.forms)
    assert row.doc.endswith(".")


@each_aggregate
def test_an_aggregate_with_a_limit_gives_an_array_and_never_null(row: AggregateFunction) -> None:
    limited = len(row.signature.parameters) == 2
    assert row.signature.result.startswith("array<") == limited
    assert row.never_null or not limited


@each_aggregate
def test_the_example_of_an_aggregate_is_a_call_of_it_over_x(row: AggregateFunction) -> None:
    expr = read_expression(Cursor(row.example))
    assert isinstance(expr, ast.Call)
    assert (expr.name, expr.args[0]) == (row.name, ast.NamePath(ast.Ident("x")))
    json.loads(row.result)


@pytest.mark.parametrize(
    ("limit", "fits"), [("1", True), ("10000", True), ("0", False), ("-1", False), ("10001", False), ("NULL", False)]
)
def test_a_limit_is_from_one_to_ten_thousand(limit: str, fits: bool) -> None:
    assert AGGREGATES["COLLECT"].forms[0].fits(limit) == fits


def test_a_misspelt_name_has_near_ones() -> None:
    assert near_names("substring")[0] == "SUBSTR"
    assert "COUNT" in near_names("conut")
    assert near_names("qqqqqq") == []


# --- literals ---


@pytest.mark.parametrize("path", ["$", "$.a.b", "$['a b'][0]", "$.a[*].b", "$[*]", "$.*", "$.a.*", "$.naïve key.x"])
def test_a_json_path_that_can_be_read_is_taken(path: str) -> None:
    assert FUNCTIONS["JSON_EXTRACT_ALL"].forms[0].fits(path)


@pytest.mark.parametrize(
    "path",
    [
        "a",
        "",
        "$.",
        "$..a",
        "$.a[?(@.b)]",
        "$.a[*].b[*]",
        "$.*.a",
        "$['*']",
        "$[1:2]",
        "$[-1]",
        "$.a[*",
        " $.a",
    ],
)
def test_a_json_path_that_would_give_null_or_a_part_is_refused(path: str) -> None:
    assert not FUNCTIONS["JSON_EXTRACT_ALL"].forms[0].fits(path)


@pytest.mark.parametrize("pattern", ["yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "dd MMM yyyy", "HH:mm[:ss]", "d. MMMM ''yy"])
def test_a_date_pattern_of_known_letters_is_taken(pattern: str) -> None:
    assert FUNCTIONS["TO_DATE"].forms[0].fits(pattern)


@pytest.mark.parametrize("pattern", ["YYYY-MM-dd", "yyyy-ww", "", "yyyy'T", "yyyy-MM-ddTHH:mm"])
def test_a_date_pattern_with_other_letters_is_refused(pattern: str) -> None:
    assert not FUNCTIONS["TO_DATE"].forms[0].fits(pattern)


# --- matching ---


def matched(text: str, *types: DataType) -> Match:
    found = match(signature(text), types)
    assert isinstance(found, Match), found
    return found


def mismatch(text: str, *types: DataType) -> Mismatch:
    found = match(signature(text), types)
    assert isinstance(found, Mismatch), found
    return found


@pytest.mark.parametrize(
    ("kind", "found", "brought_to"),
    [
        ("string", STRING, STRING),
        ("string", NULL, STRING),
        ("long", INT, LONG),
        ("double", LONG, DOUBLE),
        ("double", Decimal(10, 2), DOUBLE),
        ("double", FLOAT, DOUBLE),
        ("timestamp", DATE, TIMESTAMP),
        ("number", Decimal(10, 2), Decimal(10, 2)),
        ("integer", LONG, LONG),
        ("any", Array(INT), Array(INT)),
        ("array", Array(DATE), Array(DATE)),
        ("text", BOOLEAN, STRING),
        ("text", Decimal(10, 2), STRING),
        ("text", NULL, STRING),
        ("instant", LONG, TIMESTAMP),
        ("instant", DATE, TIMESTAMP),
        ("instant", NULL, TIMESTAMP),
    ],
)
def test_an_argument_that_fits_is_brought_to_what_the_parameter_asks_for(
    kind: str, found: DataType, brought_to: DataType
) -> None:
    assert matched(f"F(x: {kind}) -> int", found).arguments == (brought_to,)


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("string", INT),
        ("int", LONG),
        ("long", DOUBLE),
        ("date", TIMESTAMP),
        ("number", STRING),
        ("integer", DOUBLE),
        ("array", STRING),
        ("text", BYTES),
        ("text", Array(STRING)),
        ("text", Struct(())),
        ("instant", INT),
        ("instant", STRING),
        ("N", STRING),
        ("O", Array(INT)),
        ("E", Map(INT)),
        ("E", Struct((Field("a", Array(Map(INT))),))),
    ],
)
def test_an_argument_that_does_not_fit_is_named_by_its_position(kind: str, found: DataType) -> None:
    assert mismatch(f"F(a: any, x: {kind}) -> int", INT, found).position == 1


def test_numbers_of_one_variable_come_to_the_widest() -> None:
    found = matched("F(a: N, b: N...) -> N", INT, LONG, DOUBLE)
    assert found == Match((DOUBLE, DOUBLE, DOUBLE), DOUBLE)


def test_null_takes_the_type_of_the_others_of_its_variable() -> None:
    assert matched("F(a: A...) -> A", NULL, STRING, NULL) == Match((STRING, STRING, STRING), STRING)


def test_nothing_but_nulls_stays_null_and_as_numbers_are_ints() -> None:
    assert matched("F(a: A...) -> A", NULL, NULL).result == NULL
    assert matched("F(a: N) -> N", NULL).result == INT


def test_a_result_may_be_an_array_of_a_variable() -> None:
    assert matched("F(a: E, n: integer) -> array<E>", Struct((Field("a", INT),)), INT).result == Array(
        Struct((Field("a", INT),))
    )


def test_types_of_one_variable_that_share_none_do_not_fit() -> None:
    found = mismatch("F(a: A...) -> A", STRING, INT)
    assert found == Mismatch(1, "string", "string")


def test_an_int_is_no_instant_but_may_be_made_a_long() -> None:
    assert mismatch("F(x: instant) -> int", INT).example == "long"
    assert mismatch("F(x: instant) -> int", STRING).example == "timestamp"


@pytest.mark.parametrize("count", [0, 4])
def test_too_few_and_too_many_arguments_have_no_position(count: int) -> None:
    text = "F(a: int, b: int, c: int = 0) -> int"
    assert mismatch(text, *[INT] * count).position is None


@pytest.mark.parametrize("count", [2, 3])
def test_an_optional_argument_may_be_left_out(count: int) -> None:
    found = matched("F(a: int, b: int, c: int = 0) -> int", *[INT] * count)
    assert found.arguments == (INT,) * count


@pytest.mark.parametrize(
    ("value", "total", "mean"),
    [
        (INT, LONG, DOUBLE),
        (LONG, LONG, DOUBLE),
        (FLOAT, DOUBLE, DOUBLE),
        (DOUBLE, DOUBLE, DOUBLE),
        (Decimal(10, 2), Decimal(20, 2), Decimal(14, 6)),
        (Decimal(38, 18), Decimal(38, 18), Decimal(38, 22)),
    ],
)
def test_sums_and_means_have_room(value: DataType, total: DataType, mean: DataType) -> None:
    assert match(AGGREGATES["SUM"].signature, [value]) == Match((value,), total)
    assert match(AGGREGATES["AVG"].signature, [value]) == Match((value,), mean)


@pytest.mark.parametrize("kind", [INT, Decimal(10, 2), STRING, BOOLEAN, DATE, TIMESTAMP])
def test_the_largest_and_the_smallest_keep_their_type(kind: DataType) -> None:
    assert match(AGGREGATES["MAX"].signature, [kind]) == Match((kind,), kind)
    assert match(AGGREGATES["MIN"].signature, [kind]) == Match((kind,), kind)


@pytest.mark.parametrize(
    ("types", "text"),
    [
        ([STRING, STRING], "TO_TIMESTAMP(text: string, pattern: string) -> timestamp"),
        ([STRING], "TO_TIMESTAMP(text: string) -> timestamp"),
        ([LONG], "TO_TIMESTAMP(moment: instant) -> timestamp"),
        ([DATE], "TO_TIMESTAMP(moment: instant) -> timestamp"),
    ],
)
def test_the_variant_that_fits_is_chosen(types: list[DataType], text: str) -> None:
    assert choose(FUNCTIONS["TO_TIMESTAMP"], types).signature.text == text


def test_when_no_variant_fits_one_with_the_right_number_of_arguments_is_chosen() -> None:
    assert choose(FUNCTIONS["DATE"], [STRING]).signature.text == "DATE(days: integer) -> date"
    assert choose(FUNCTIONS["TO_TIMESTAMP"], [BOOLEAN]).signature.least == 1


def test_when_even_the_number_is_wrong_the_row_itself_is_chosen() -> None:
    row = FUNCTIONS["TO_TIMESTAMP"]
    assert choose(row, [INT, INT, INT]) is row
