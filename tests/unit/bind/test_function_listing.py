"""The list of functions for `lsql functions` and the reference page."""

from itertools import pairwise

import pytest

from lsql_runner.bind.functions.listing import as_documents, as_text
from lsql_runner.bind.functions.table import AGGREGATES, ROWS, SPECIAL_FORMS
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import UserFunction
from lsql_runner.types import DOUBLE, STRING, Field


def test_every_function_is_listed_once() -> None:
    documents = as_documents()

    assert sorted(d["name"] for d in documents) == sorted([*AGGREGATES, *(row.name for row in ROWS), *SPECIAL_FORMS])
    assert all(d["signatures"] and d["doc"] and d["example"] for d in documents)


def test_text_shows_signature_doc_example_and_result() -> None:
    assert as_text("len") == (
        "LEN(text: string) -> int\n    Returns the number of characters, which are UTF-16 code units: 😀 is two.\n"
        "    Alias: LENGTH\n    LEN('café')  ->  4\n"
    )


def test_all_functions_are_under_the_heading_of_their_group() -> None:
    text = as_text()

    assert text.startswith("Aggregates\n----------\nAVG(value: N) -> mean of N\n")
    assert text.index("\nStrings\n") < text.index("\nLEN(") < text.index("\nSubstrings\n")


def test_the_docs_of_variants_follow_the_doc_of_the_function() -> None:
    (document,) = as_documents("date")

    assert document["signatures"] == ["DATE(days: integer) -> date", "DATE() -> date"]
    assert "1970-01-01. Without an argument," in document["doc"]


@pytest.mark.parametrize(("name", "accepts_null"), [("COALESCE", True), ("LEN", False), ("JSON_EXTRACT_FIRST", False)])
def test_the_doc_says_whether_a_function_accepts_null(name: str, accepts_null: bool) -> None:
    (document,) = as_documents(name)

    assert document["doc"].endswith(" Accepts null.") is accepts_null


def test_a_group_has_one_heading() -> None:
    lines = as_text().splitlines()

    headings = [line for line, below in pairwise(lines) if line and below == "-" * len(line)]
    assert len(set(headings)) == len(headings)


def test_cast_is_listed_with_its_syntax() -> None:
    assert as_text("cast").startswith("CAST(value AS type) -> type\n    Converts the value")


def test_a_header_function_is_listed_with_its_example() -> None:
    assert as_text("headerasint").endswith("    HEADERASINT('count')  ->  -2\n")


def test_an_alias_finds_its_function() -> None:
    assert [d["name"] for d in as_documents("mask")] == ["ANONYMIZE"]


def test_max_shows_the_aggregate_and_the_scalar_function() -> None:
    assert [d["aggregate"] for d in as_documents("MAX")] == [True, False]


def test_an_unknown_name_is_an_error_with_similar_names() -> None:
    with pytest.raises(LsqlError) as error:
        as_text("LPAT")

    assert error.value.code == "FUNCTION_UNKNOWN"
    assert str(error.value.params["near"]).startswith("LPAD")


def test_an_aggregate_shows_the_range_of_its_limit_and_its_result() -> None:
    (document,) = as_documents("topk")

    assert document["limits"] == ["limit: a whole number from 1 to 10000"]
    assert as_text("topk").endswith("    TOPK(x, 2)  ->  [3,1]\n")


RISK = UserFunction(
    name="RISK",
    class_name="com.example.Risk",
    arguments=(Field("country", STRING, nullable=False), Field("amount", DOUBLE)),
    result=Field("", DOUBLE, nullable=False),
    doc="The risk of a payment.",
)


def test_user_defined_functions_have_a_signature_and_no_example() -> None:
    own = {"RISK": RISK}

    assert as_text("risk", own) == (
        "RISK(country: string not null, amount: double) -> double not null\n    The risk of a payment. Accepts null.\n"
    )
    (document,) = as_documents("Risk", own)
    assert (document["group"], document["example"], document["result"]) == ("User-defined functions", None, None)
    assert as_documents(own=own)[-1] == document
    assert as_text(own=own).endswith("\n\nUser-defined functions\n----------------------\n" + as_text("risk", own))


def test_a_similar_name_can_be_that_of_a_user_defined_function() -> None:
    with pytest.raises(LsqlError) as unknown:
        as_documents("RISKS", {"RISK": RISK})
    assert unknown.value.params["near"] == "RISK"
