"""The catalogue of errors and the code agree on codes and parameters, and sentences are in tables only."""

import pytest

from devkit.error_calls import ErrorCall, detail_tables, error_calls, strings
from lsql_runner.errors import CATALOGUE, DetailTable, LsqlError, Recovery

PROSE_ALLOWED = {
    ("config", "ENV_MISSING"): "the example is a program",
    ("plan", "InvalidPlan"): "a fault of this package, which users see as INTERNAL without its text",
    ("console", "ValueError"): "handled in the package; the text is only logged",
}
"""By package and code, or class of the exception: why a literal text may be an argument.

Texts of libraries and brokers are not literals of this package, so they need no row: they are passed as values.
"""


def row_of(error: ErrorCall) -> tuple[str, str]:
    return error.path.split("/", maxsplit=1)[0], error.code or error.name


def test_every_code_is_raised_somewhere() -> None:
    assert CATALOGUE.keys() - strings() == set()


def test_every_raised_code_is_in_the_catalogue() -> None:
    assert {error.code for error in error_calls() if error.code is not None} - CATALOGUE.keys() == set()


def test_every_raise_gives_the_parameters_of_its_code() -> None:
    wrong = []
    for error in error_calls():
        if error.code is not None:
            given, slots = {name for name in error.params if name is not None}, CATALOGUE[error.code].slots
            if not given <= slots or (None not in error.params and given != slots):
                wrong.append(f"{error.path}:{error.line} {error.code}: {sorted(given)} for {sorted(slots)}")
    assert wrong == []


def test_no_parameter_is_an_english_sentence() -> None:
    """Sentences are in the catalogue, or in a DetailTable with a code each."""
    sentences = [
        f"{error.path}:{error.line} {error.code or error.name} {name}={text!r}"
        for error in error_calls()
        for name, text in error.prose()
        if row_of(error) not in PROSE_ALLOWED
    ]
    assert sentences == []


def test_every_row_of_prose_allowed_is_needed() -> None:
    assert {row_of(error) for error in error_calls() if any(error.prose())} == PROSE_ALLOWED.keys()


def test_every_detail_is_used_and_every_used_detail_exists() -> None:
    for path, name, codes, used in detail_tables():
        assert used <= codes or name in ("REASONS", "EXPECTED"), (path, name, used - codes)
        assert codes <= used, (path, name, codes - used)


def test_a_detail_is_a_text_with_code_and_values() -> None:
    table = DetailTable({"TIMEOUT": "no answer within {seconds} s"})
    detail = table("TIMEOUT", seconds=3)
    assert (detail, detail.code, detail.params) == ("no answer within 3 s", "TIMEOUT", {"seconds": 3})


def test_a_detail_with_a_place_keeps_its_code() -> None:
    detail = DetailTable({"TYPE_UNKNOWN": "unknown type {type}"})("TYPE_UNKNOWN", type="Money")

    assert detail.at("orders.value") == "orders.value: unknown type Money"
    assert detail.in_field("lines[].price") == "unknown type Money (field lines[].price)"
    for placed in (detail.at("a"), detail.in_field("a")):
        assert (placed.code, placed.params) == ("TYPE_UNKNOWN", {"type": "Money", "place": "a"})
    assert (detail.at(""), detail.in_field("")) == (detail, detail)


def test_a_detail_takes_exactly_its_values() -> None:
    with pytest.raises(TypeError, match="seconds"):
        DetailTable({"TIMEOUT": "no answer within {seconds} s"})("TIMEOUT")


def test_an_error_takes_exactly_its_values() -> None:
    with pytest.raises(TypeError, match="topic"):
        LsqlError("TOPIC_UNKNOWN", near="none")


@pytest.mark.parametrize("code", CATALOGUE)
def test_messages_are_complete_sentences(code: str) -> None:
    kind = CATALOGUE[code]
    assert kind.message.endswith(".")
    assert kind.way_out.endswith((".", "{way_out}"))


def test_transient_errors_are_waited_for_or_retried() -> None:
    transient = {code for code, kind in CATALOGUE.items() if kind.is_transient}
    assert {CATALOGUE[code].recovery for code in transient} == {Recovery.WAIT, Recovery.RETRY}


def test_recovery_from_errors_outside_of_the_program() -> None:
    by = {recovery: {code for code, kind in CATALOGUE.items() if kind.recovery is recovery} for recovery in Recovery}
    assert by[Recovery.WAIT] == {
        *("APP_ID_IN_USE", "BROKER_UNREACHABLE", "REGISTRY_UNREACHABLE", "SINK_UNREACHABLE"),
        *("STATE_STORE_UNREACHABLE", "TOPIC_EMPTY"),
    }
    assert {"BROKER_REFUSED", "QUERY_FAILED", "SCHEMA_INCOMPATIBLE", "TOPIC_REFUSED"} < by[Recovery.RETRY]
    assert {"RECORD_MALFORMED", "OFFSETS_OUT_OF_RANGE", "GROUP_TOO_LARGE", "STATE_LOST"} < by[Recovery.FINAL]


def test_invalid_requests_have_a_status_below_500() -> None:
    assert {CATALOGUE[code].http_status for code in ("REQUEST_INVALID", "NOT_FOUND", "METHOD_NOT_ALLOWED")} == {
        400,
        404,
        405,
    }
