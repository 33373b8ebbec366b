"""The file functions.yaml: what it declares, and how it is refused."""

from pathlib import Path

import pytest

from lsql_runner.errors import Detail, LsqlError
from lsql_runner.formats.catalog import UserFunction
from lsql_runner.types import DOUBLE, INT, LONG, STRING, Array, Decimal, Field, Map, Struct
from lsql_runner.user_functions.declared import parse_functions

PATH = Path("/udf/functions.yaml")

VALID = """
risk_score:
  class: com.example.RiskScore
  arguments:
    country: string not null
    amount: decimal(18,2)
  result: double not null
  doc: The risk of a payment,
    from 0 to 1.
"""


def refusal(text: str) -> LsqlError:
    with pytest.raises(LsqlError) as refused:
        parse_functions(text, PATH)
    assert refused.value.params["path"] == str(PATH)
    return refused.value


def detail(error: LsqlError, parameter: str) -> Detail:
    value = error.params[parameter]
    assert isinstance(value, Detail)
    return value


def with_line(old: str, new: str) -> str:
    assert old in VALID
    return VALID.replace(old, new)


def test_a_function_has_its_name_in_upper_case_and_the_types_of_the_file() -> None:
    assert parse_functions(VALID, PATH) == {
        "RISK_SCORE": UserFunction(
            name="RISK_SCORE",
            class_name="com.example.RiskScore",
            arguments=(Field("country", STRING, nullable=False), Field("amount", Decimal(18, 2))),
            result=Field("", DOUBLE, nullable=False),
            doc="The risk of a payment, from 0 to 1.",
        )
    }


def test_types_are_those_of_lsql_topics() -> None:
    text = """
f:
  class: F
  arguments:
    lines: array<struct<sku: string, qty: int not null>>
    place: {name: string, marks: "map<string, long not null>"}
  result: {total: double not null}
"""
    function = parse_functions(
        text.replace(
            "lines: array<struct<sku: string, qty: int not null>>",
            'lines: "array<struct<sku: string, qty: int not null>>"',
        ),
        PATH,
    )["F"]

    lines = Array(Struct((Field("sku", STRING), Field("qty", INT))))
    assert function.arguments == (
        Field("lines", lines),
        Field("place", Struct((Field("name", STRING), Field("marks", Map(LONG))))),
    )
    assert function.result == Field("", Struct((Field("total", DOUBLE, nullable=False),)))


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("- risk_score", "FILE", None),
        ("7: {}", "FILE", None),
        ("f: com.example.F", "FUNCTION", "function f"),
        (with_line("class:", "klass:"), "KEY_UNKNOWN", "function risk_score"),
        (with_line("  class: com.example.RiskScore\n", ""), "KEY_MISSING", "function risk_score"),
        (with_line("  doc:", "  deterministic: true\n  doc:"), "DETERMINISTIC", "function risk_score"),
        (with_line("com.example.RiskScore", "com/example/RiskScore"), "CLASS", "function risk_score, class"),
        (with_line("com.example.RiskScore", "7"), "CLASS", "function risk_score, class"),
        (with_line("decimal(18,2)", "money"), "TYPE_UNKNOWN", "function risk_score, argument amount"),
        (with_line("amount:", "the-amount:"), "ARGUMENT_NAME", "function risk_score, arguments"),
        (with_line("double not null", "double not"), "TEXT_ENDS", "function risk_score, result"),
        (with_line("double not null", "7"), "TYPE", "function risk_score, result"),
        ("f: {class: F, arguments: {}, result: int}", "ARGUMENT_COUNT", "function f, arguments"),
        (
            "f: {class: F, arguments: {a: int, b: int, c: int, d: int, e: int, f: int}, result: int}",
            "ARGUMENT_COUNT",
            "function f, arguments",
        ),
        ("f: {class: F, arguments: [int], result: int}", "ARGUMENTS", "function f, arguments"),
        ("f: {class: F, arguments: {a: int}, result: int, doc: 7}", "DOC", "function f, doc"),
        ("f: {", "INVALID_LINE", None),
        ("f: {}\nf: {}", "KEY_DUPLICATE", None),
    ],
)
def test_an_invalid_declaration_is_refused_with_its_place(text: str, code: str, place: str | None) -> None:
    error = refusal(text)

    reason = detail(error, "reason")
    assert (error.code, reason.code) == ("FUNCTION_FILE_INVALID", code)
    assert reason.params.get("place") == place


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Coalesce", "BUILT_IN"),
        ("count", "BUILT_IN"),
        ("cast", "BUILT_IN"),
        ("when", "RESERVED"),
        ("Tumble", "RESERVED"),
        ("risk-score", "NOT_A_NAME"),
        ("2nd", "NOT_A_NAME"),
        ("größe", "NOT_A_NAME"),
    ],
)
def test_a_name_that_no_program_could_call_is_refused(name: str, code: str) -> None:
    error = refusal(with_line("risk_score:", f"{name}:"))

    assert (error.code, error.params["name"], detail(error, "reason").code) == ("FUNCTION_NAME_INVALID", name, code)


def test_two_names_that_differ_in_case_are_refused() -> None:
    error = refusal(VALID + VALID.replace("risk_score", "Risk_Score"))

    assert (error.code, error.params["name"]) == ("FUNCTION_NAME_INVALID", "Risk_Score")
    assert detail(error, "reason").params == {"other": "risk_score"}


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("class: com.example.RiskScore", "python: risk.score", "python"),
        ("class: com.example.RiskScore", "class: risk.py", "class: risk.py"),
        ("class: com.example.RiskScore", "class: risk.py:score", "class: risk.py:score"),
        ("class:", "language: Python\n  class:", "language: Python"),
    ],
)
def test_a_python_function_is_refused_by_name_with_the_reason(old: str, new: str, found: str) -> None:
    error = refusal(with_line(old, new))

    assert (error.code, error.params["function"], error.params["found"]) == ("FUNCTION_IN_PYTHON", "risk_score", found)
    assert "23,000 records/s" in str(error)
