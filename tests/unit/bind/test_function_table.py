"""The function table: completeness, rules for its rows, constraints of literals, and matching of signatures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from lsql_runner.bind.casts import instead_of
from lsql_runner.bind.functions import headers
from lsql_runner.bind.functions.lowering import Arg, AsResult, CastTo, Lambda, Lowering, Native, Rest
from lsql_runner.bind.functions.match import Mismatch, choose, match
from lsql_runner.bind.functions.spec import AggregateFunction, Function, Match, SpecialForm, signature
from lsql_runner.bind.functions.table import AGGREGATES, FUNCTIONS, ROWS, SPECIAL_FORMS, near_names
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
    TIME,
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
    MINUTE SECOND TIMESTAMP TO_DATE TO_DATETIME TO_TIMESTAMP ELEMENT_OF FLATTEN IN_ARRAY LENGTH REPEAT
    ZIP ZIP_ALL EXTRACT_DATE EXTRACT_TIME FORMAT_DATE FORMAT_TIME FORMAT_TIMESTAMP PARSE_DATE
    PARSE_TIME_MILLIS PARSE_TIME_MICROS PARSE_TIMESTAMP_MILLIS PARSE_TIMESTAMP_MICROS TIME_MILLIS TIME_MICROS
    TIMESTAMP_MILLIS TIMESTAMP_MICROS
    HEADERASSTRING HEADERASINT HEADERASLONG HEADERASFLOAT HEADERASDOUBLE HEADERKEYS
    """.split()
"""The scalar functions of the language. CAST is a special form."""

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
        case CastTo(operand, _) | AsResult(operand):
            yield from argument_indexes(operand)
        case Native(_, args):
            for arg in args:
                yield from argument_indexes(arg)
        case Lambda(_, body):
            yield from argument_indexes(body)


# --- the rows ---


@pytest.mark.parametrize("name", SCALARS)
def test_every_scalar_function_has_a_row(name: str) -> None:
    assert name in FUNCTIONS


def test_every_row_is_in_the_list_of_functions() -> None:
    assert set(FUNCTIONS) == set(SCALARS)


def test_names_and_aliases_are_unique() -> None:
    names = [name for row in ROWS for name in (row.name, *row.aliases)]
    assert len(names) == len(set(names))


def test_only_max_and_min_are_scalar_functions_and_aggregates() -> None:
    both = set(FUNCTIONS) & set(AGGREGATES)
    assert both == {"MAX", "MIN"}
    assert all(FUNCTIONS[name].signature.min_arguments == 2 for name in both)


def test_every_aggregate_has_a_row() -> None:
    assert set(AGGREGATES) == set(AGGREGATE_NAMES)


@each_row
def test_a_signature_equals_its_parsed_text(row: Function) -> None:
    assert signature(row.signature.text) == row.signature


@each_row
def test_the_result_of_a_signature_has_a_known_type(row: Function) -> None:
    types: list[DataType] = [NULL] * row.signature.min_arguments
    assert isinstance(match(row.signature, types), Match)


@each_row
def test_optional_and_repeated_parameters_are_last(row: Function) -> None:
    parameters = row.signature.parameters
    assert [p.optional for p in parameters] == sorted(p.optional for p in parameters)
    assert [p.repeated for p in parameters] == sorted(p.repeated for p in parameters)


@each_row
def test_a_lowering_uses_exactly_the_parameters_of_the_signature(row: Function) -> None:
    used = set(argument_indexes(row.lowering))
    if any(p.repeated for p in row.signature.parameters):
        assert used == {0}
    else:
        assert used == set(range(len(row.signature.parameters) + row.random_bits + row.takes_headers))


@each_row
def test_a_doc_is_one_line_that_starts_upper_case_and_ends_with_a_full_stop(row: Function) -> None:
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


@pytest.mark.parametrize("form", SPECIAL_FORMS.values(), ids=SPECIAL_FORMS)
def test_the_example_of_a_special_form_is_read_by_the_parser_and_has_a_result(form: SpecialForm) -> None:
    assert form.syntax.startswith(f"{form.name}(")
    assert not isinstance(read_expression(Cursor(form.example)), ast.Call)
    json.loads(form.result)
    assert form.doc.endswith(".")


def test_a_name_belongs_to_one_table() -> None:
    assert set(SPECIAL_FORMS) & {*FUNCTIONS, *AGGREGATES} == set()


def test_the_headers_of_the_examples_are_those_that_the_examples_name() -> None:
    calls = [read_expression(Cursor(row.example)) for row in headers.FUNCTIONS]
    named = [
        arg.value
        for call in calls
        if isinstance(call, ast.Call)
        for arg in call.args
        if isinstance(arg, ast.StringLiteral)
    ]

    assert named == [name for name, _ in headers.EXAMPLE_HEADERS]


@each_row
def test_a_result_is_json_or_for_random_functions_a_regular_expression(row: Function) -> None:
    if row.deterministic:
        json.loads(row.result)
    else:
        re.compile(row.result)


@each_row
def test_a_variant_has_the_name_and_group_of_its_row(row: Function) -> None:
    assert {(v.name, v.group, v.variants) for v in row.variants} <= {(row.name, row.group, ())}


@each_row
def test_constraints_concern_string_parameters_of_the_signature(row: Function) -> None:
    assert {c.parameter for c in row.constraints} <= {p.name for p in row.signature.parameters if p.kind == "string"}


@each_aggregate
def test_an_aggregate_has_a_value_and_an_optional_limit_as_parameters(row: AggregateFunction) -> None:
    assert [p.name for p in row.signature.parameters] in (["value"], ["value", "limit"])
    assert [p.constant for p in row.signature.parameters[1:]] == [True] * len(row.constraints)


@each_aggregate
def test_the_doc_of_an_aggregate_ends_with_a_full_stop(row: AggregateFunction) -> None:
    assert row.doc.endswith(".")


@each_aggregate
def test_an_aggregate_with_a_limit_returns_an_array_and_never_null(row: AggregateFunction) -> None:
    limited = len(row.signature.parameters) == 2
    assert row.signature.result.startswith("array<") == limited
    assert row.never_null or not limited


@each_aggregate
def test_the_example_of_an_aggregate_is_a_call_with_x(row: AggregateFunction) -> None:
    expr = read_expression(Cursor(row.example))
    assert isinstance(expr, ast.Call)
    assert (expr.name, expr.args[0]) == (row.name, ast.NamePath(ast.Ident("x")))
    json.loads(row.result)


@pytest.mark.parametrize(
    ("limit", "is_valid"),
    [("1", True), ("10000", True), ("0", False), ("-1", False), ("10001", False), ("NULL", False)],
)
def test_a_limit_is_from_one_to_ten_thousand(limit: str, is_valid: bool) -> None:
    assert AGGREGATES["COLLECT"].constraints[0].allows(limit) == is_valid


def test_a_misspelt_name_has_similar_names() -> None:
    assert near_names("substring")[0] == "SUBSTR"
    assert "COUNT" in near_names("conut")
    assert near_names("qqqqqq") == []


def test_the_name_of_a_function_in_another_language_leads_to_it() -> None:
    assert near_names("char_length")[0] == "LEN"
    assert near_names("IFNULL")[0] == "COALESCE"
    assert near_names("ARRAY_AGG")[0] == "COLLECT"
    assert near_names("try_cast")[0] == "CAST"
    assert near_names("if")[0] == "CASE"


def test_a_synonym_belongs_to_one_function_and_cannot_be_called() -> None:
    rows: list[Function | AggregateFunction | SpecialForm] = [*ROWS, *AGGREGATES.values(), *SPECIAL_FORMS.values()]
    synonyms = [synonym for row in rows for synonym in row.synonyms]
    assert len(set(synonyms)) == len(synonyms)
    assert set(synonyms) & {*FUNCTIONS, *AGGREGATES, *SPECIAL_FORMS} == set()


# --- literals ---


@pytest.mark.parametrize("path", ["$", "$.a.b", "$['a b'][0]", "$.a[*].b", "$[*]", "$.*", "$.a.*", "$.naïve key.x"])
def test_a_supported_json_path_is_valid(path: str) -> None:
    assert FUNCTIONS["JSON_EXTRACT_ALL"].constraints[0].allows(path)


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
def test_an_unsupported_json_path_is_invalid(path: str) -> None:
    assert not FUNCTIONS["JSON_EXTRACT_ALL"].constraints[0].allows(path)


@pytest.mark.parametrize("pattern", ["yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "dd MMM yyyy", "HH:mm[:ss]", "d. MMMM ''yy"])
def test_a_supported_date_pattern_is_valid(pattern: str) -> None:
    assert FUNCTIONS["TO_DATE"].constraints[0].allows(pattern)


@pytest.mark.parametrize("pattern", ["YYYY-MM-dd", "yyyy-ww", "", "yyyy'T", "yyyy-MM-ddTHH:mm"])
def test_an_unsupported_date_pattern_is_invalid(pattern: str) -> None:
    assert not FUNCTIONS["TO_DATE"].constraints[0].allows(pattern)


# --- matching ---


def matched(text: str, *types: DataType) -> Match:
    outcome = match(signature(text), types)
    assert isinstance(outcome, Match), outcome
    return outcome


def mismatch(text: str, *types: DataType) -> Mismatch:
    outcome = match(signature(text), types)
    assert isinstance(outcome, Mismatch), outcome
    return outcome


@pytest.mark.parametrize(
    ("kind", "argument", "converted"),
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
def test_an_argument_is_converted_to_the_type_of_its_parameter(
    kind: str, argument: DataType, converted: DataType
) -> None:
    assert matched(f"F(x: {kind}) -> int", argument).arguments == (converted,)


@pytest.mark.parametrize(
    ("kind", "argument"),
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
        ("instant", TIME),
        ("time", TIMESTAMP),
        ("N", STRING),
        ("O", Array(INT)),
        ("E", Map(INT)),
        ("E", Struct((Field("a", Array(Map(INT))),))),
    ],
)
def test_a_mismatch_has_the_position_of_the_argument(kind: str, argument: DataType) -> None:
    assert mismatch(f"F(a: any, x: {kind}) -> int", INT, argument).position == 1


def test_numbers_of_one_type_variable_are_converted_to_the_widest_type() -> None:
    outcome = matched("F(a: N, b: N...) -> N", INT, LONG, DOUBLE)
    assert outcome == Match((DOUBLE, DOUBLE, DOUBLE), DOUBLE)


def test_null_has_the_type_of_the_other_arguments_of_its_type_variable() -> None:
    assert matched("F(a: A...) -> A", NULL, STRING, NULL) == Match((STRING, STRING, STRING), STRING)


def test_without_other_arguments_null_has_the_type_null_or_int_for_numbers() -> None:
    assert matched("F(a: A...) -> A", NULL, NULL).result == NULL
    assert matched("F(a: N) -> N", NULL).result == INT


def test_a_result_can_be_an_array_of_a_type_variable() -> None:
    assert matched("F(a: E, n: integer) -> array<E>", Struct((Field("a", INT),)), INT).result == Array(
        Struct((Field("a", INT),))
    )


def test_arguments_of_one_type_variable_must_have_a_common_type() -> None:
    outcome = mismatch("F(a: A...) -> A", STRING, INT)
    assert outcome == Mismatch(1, "string", (STRING,))


def test_an_int_must_be_cast_to_a_long_to_be_an_instant() -> None:
    targets = mismatch("F(x: instant) -> int", INT).targets
    assert instead_of(INT, targets).params == {"cast": "CAST(... AS long)"}
    assert instead_of(STRING, targets).params == {"cast": "CAST(... AS timestamp)"}


@pytest.mark.parametrize("count", [0, 4])
def test_a_mismatch_of_the_number_of_arguments_has_no_position(count: int) -> None:
    text = "F(a: int, b: int, c: int = 0) -> int"
    assert mismatch(text, *[INT] * count).position is None


PAIRS = "F(a: array, b: string literal, c: array..., d: string literal...) -> array<struct>"


@pytest.mark.parametrize("count", [2, 3, 5])
def test_parameters_that_repeat_together_are_given_together(count: int) -> None:
    types: list[DataType] = [Array(INT), STRING] * 3
    assert mismatch(PAIRS, *types[:count]) == Mismatch(None)
    assert mismatch(PAIRS, *types[:4], STRING, STRING).position == 4


def test_the_fields_of_a_struct_have_the_names_after_their_arrays() -> None:
    outcome = match(signature(PAIRS), [Array(INT), STRING, Array(DATE), STRING], [None, "x", None, "y"])
    assert isinstance(outcome, Match)
    assert outcome.result == Array(Struct((Field("x", INT), Field("y", DATE))))


@pytest.mark.parametrize("count", [2, 3])
def test_an_optional_argument_can_be_absent(count: int) -> None:
    outcome = matched("F(a: int, b: int, c: int = 0) -> int", *[INT] * count)
    assert outcome.arguments == (INT,) * count


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
def test_sums_and_means_have_more_digits(value: DataType, total: DataType, mean: DataType) -> None:
    assert match(AGGREGATES["SUM"].signature, [value]) == Match((value,), total)
    assert match(AGGREGATES["AVG"].signature, [value]) == Match((value,), mean)


@pytest.mark.parametrize("kind", [INT, Decimal(10, 2), STRING, BOOLEAN, DATE, TIME, TIMESTAMP])
def test_max_and_min_have_the_type_of_their_argument(kind: DataType) -> None:
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


def test_without_a_fitting_variant_one_with_the_same_number_of_arguments_is_chosen() -> None:
    assert choose(FUNCTIONS["DATE"], [STRING]).signature.text == "DATE(days: integer) -> date"
    assert choose(FUNCTIONS["TO_TIMESTAMP"], [BOOLEAN]).signature.min_arguments == 1


def test_without_a_variant_with_that_number_of_arguments_the_function_is_chosen() -> None:
    row = FUNCTIONS["TO_TIMESTAMP"]
    assert choose(row, [INT, INT, INT]) is row
