"""The catalogue and the code agree: codes, parameters, and where prose may be."""

import pytest

from devkit.raises import detail_tables, error_calls, strings
from lsql_runner.errors import CATALOGUE, DetailTable, LsqlError, Recovery

PROSE_ALLOWED = {
    ("config/settings.py", "ENV_MISSING"): "a program as an example",
    ("sql/cursor.py", "SQL_SYNTAX"): "the parser's names for the elements of the grammar that it expects",
    ("sql/*", "CLAUSE_UNSUPPORTED"): "rows of a table: what to write instead of a clause",
    ("sql/*", "STATEMENT_UNSUPPORTED"): "rows of a table: what to write instead of a statement",
    ("bind/*", "FEATURE_UNSUPPORTED"): "what to write instead of a feature",
}
"""By file (or package) and code: why a parameter is English after all."""


def allowed(path: str, code: str | None) -> bool:
    return any((place, code) in PROSE_ALLOWED for place in (path, path.split("/", maxsplit=1)[0] + "/*"))


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
    found = [
        f"{error.path}:{error.line} {error.code} {name}={text!r}"
        for error in error_calls()
        for name, text in error.prose()
        if not allowed(error.path, error.code)
    ]
    assert found == []


def test_every_detail_is_used_and_every_used_one_exists() -> None:
    for path, name, codes, used in detail_tables():
        assert used <= codes or name in ("REASONS", "EXPECTED"), (path, name, used - codes)
        assert codes <= used, (path, name, codes - used)


def test_a_detail_is_its_text_with_code_and_values() -> None:
    table = DetailTable({"TIMEOUT": "no answer within {seconds} s"})
    detail = table("TIMEOUT", seconds=3)
    assert (detail, detail.code, detail.params) == ("no answer within 3 s", "TIMEOUT", {"seconds": 3})


def test_a_detail_takes_exactly_its_values() -> None:
    with pytest.raises(TypeError, match="seconds"):
        DetailTable({"TIMEOUT": "no answer within {seconds} s"})("TIMEOUT")


def test_an_error_takes_exactly_its_values() -> None:
    with pytest.raises(TypeError, match="topic"):
        LsqlError("TOPIC_UNKNOWN", near="none")


@pytest.mark.parametrize("code", CATALOGUE)
def test_sentences_are_whole(code: str) -> None:
    kind = CATALOGUE[code]
    assert kind.found.endswith(".")
    assert kind.do.endswith((".", "{way_out}"))


def test_what_passes_without_anybody_is_waited_for_or_tried_again() -> None:
    transient = {code for code, kind in CATALOGUE.items() if kind.is_transient}
    assert {CATALOGUE[code].recovery for code in transient} == {Recovery.WAIT, Recovery.RETRY}


def test_recovery_of_what_is_outside_of_the_program() -> None:
    by = {recovery: {code for code, kind in CATALOGUE.items() if kind.recovery is recovery} for recovery in Recovery}
    assert by[Recovery.WAIT] == {"BROKER_UNREACHABLE", "REGISTRY_UNREACHABLE", "SINK_UNREACHABLE", "TOPIC_EMPTY"}
    assert {"BROKER_REFUSED", "QUERY_FAILED", "SCHEMA_INCOMPATIBLE", "TOPIC_REFUSED"} < by[Recovery.RETRY]
    assert {"RECORD_MALFORMED", "OFFSETS_OUT_OF_RANGE", "GROUP_TOO_LARGE", "STATE_LOST"} < by[Recovery.FINAL]


def test_a_request_that_is_wrong_has_a_status_below_500() -> None:
    assert {CATALOGUE[code].http_status for code in ("REQUEST_INVALID", "NOT_FOUND", "METHOD_NOT_ALLOWED")} == {
        400,
        404,
        405,
    }
