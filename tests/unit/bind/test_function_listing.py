"""The function table for readers: complete, grouped, and a name that is none is answered with near ones."""

import pytest

from lsql_runner.bind.functions.listing import as_documents, as_text
from lsql_runner.bind.functions.table import AGGREGATES, ROWS
from lsql_runner.errors import LsqlError


def test_every_row_is_listed_once_under_its_group() -> None:
    documents = as_documents()

    assert [d["name"] for d in documents] == [*AGGREGATES, *(row.name for row in ROWS)]
    assert all(d["signatures"] and d["doc"] and d["example"] for d in documents)


def test_text_shows_signature_meaning_example_and_result() -> None:
    assert as_text("len") == (
        "LEN(text: string) -> int\n    How many characters the text has.\n    LEN('café')  ->  4\n"
    )


def test_an_alias_finds_its_function() -> None:
    assert [d["name"] for d in as_documents("mask")] == ["ANONYMIZE"]


def test_a_name_of_an_aggregate_and_a_function_shows_both() -> None:
    assert [d["aggregate"] for d in as_documents("MAX")] == [True, False]


def test_an_unknown_name_is_answered_with_near_ones() -> None:
    with pytest.raises(LsqlError) as caught:
        as_text("LPAT")

    assert caught.value.code == "FUNCTION_UNKNOWN"
    assert str(caught.value.params["near"]).startswith("LPAD")


def test_an_aggregate_shows_its_limit_and_its_result() -> None:
    (document,) = as_documents("topk")

    assert document["limits"] == ["limit: a whole number from 1 to 10000"]
    assert as_text("topk").endswith("    TOPK(x, 2)  ->  [3,1]\n")
