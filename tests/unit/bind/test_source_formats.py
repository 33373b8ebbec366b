"""The formats that a program names for its source topics."""

import pytest

from lsql_runner.bind.source_formats import SourceFormats, source_formats
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import BYTES_FORMAT, JSON_FORMAT, STRING_FORMAT
from lsql_runner.sql.parser import parse

NAMED = "INSERT INTO a SELECT * FROM t WHERE _vtype=STRING"
UNNAMED = "INSERT INTO b SELECT * FROM t"


def formats_of(sql: str) -> dict[str, SourceFormats]:
    return source_formats(parse(sql))


@pytest.mark.parametrize("program", [f"{NAMED}; {UNNAMED}", f"{UNNAMED}; {NAMED}"])
def test_a_format_in_where_applies_to_all_selects_from_the_topic(program: str) -> None:
    assert formats_of(program) == {"t": SourceFormats(value=STRING_FORMAT)}


def test_a_format_in_where_takes_precedence_over_set() -> None:
    program = f"SET _ktype=BYTES; SET _vtype=JSON; {NAMED}; INSERT INTO c SELECT * FROM u"

    assert formats_of(program) == {
        "t": SourceFormats(BYTES_FORMAT, STRING_FORMAT),
        "u": SourceFormats(BYTES_FORMAT, JSON_FORMAT),
    }


def test_a_with_query_has_no_formats() -> None:
    program = "WITH t AS (SELECT STREAM * FROM u); INSERT INTO a SELECT STREAM * FROM t WHERE _vtype=STRING"

    assert formats_of(program) == {"u": SourceFormats()}


@pytest.mark.parametrize("named", ["t._vtype=STRING", "p._vtype='string'", "u._ktype=BYTES AND p._vtype=STRING"])
def test_a_format_in_where_can_name_its_source(named: str) -> None:
    formats = formats_of(f"INSERT INTO a SELECT * FROM u JOIN t AS p ON u._key = p._key WHERE {named}")

    assert formats["t"] == SourceFormats(value=STRING_FORMAT)
    assert formats["u"] == SourceFormats(BYTES_FORMAT if "BYTES" in named else None)


def test_a_condition_without_a_source_names_the_format_of_the_from() -> None:
    program = "INSERT INTO a SELECT * FROM u JOIN t ON u._key = t._key WHERE _vtype=STRING"

    assert formats_of(program) == {"u": SourceFormats(value=STRING_FORMAT)}


def test_a_subselect_has_the_formats_of_its_own_where() -> None:
    assert formats_of("INSERT INTO a SELECT * FROM (SELECT * FROM t WHERE _vtype=STRING) AS s") == {
        "t": SourceFormats(value=STRING_FORMAT)
    }


@pytest.mark.parametrize("second", ["_vtype=JSON", "_vtype='json' AND a > 1"])
@pytest.mark.parametrize("program", ["{first}; {second}", "{second}; {first}"])
def test_two_formats_for_a_topic_are_refused_at_both_places(program: str, second: str) -> None:
    text = program.format(first=NAMED, second=f"INSERT INTO b SELECT * FROM t WHERE {second}")
    with pytest.raises(LsqlError) as refused:
        formats_of(text)

    error = refused.value
    places = [text[span.start : span.end] for span in (error.span, *(span for _, span in error.related)) if span]
    assert error.code == "FORMAT_DUPLICATE"
    assert (error.params["topic"], error.params["part"]) == ("t", "value")
    assert {error.params["first"], error.params["second"]} == {"STRING", "JSON"}
    assert set(places) == {"_vtype=STRING", second.partition(" ")[0]}
    assert places == sorted(places, key=text.index, reverse=True)


def test_two_formats_in_one_where_are_refused() -> None:
    with pytest.raises(LsqlError) as refused:
        formats_of("INSERT INTO a SELECT * FROM t WHERE _ktype=STRING AND _ktype=BYTES")

    assert (refused.value.code, refused.value.params["part"]) == ("FORMAT_DUPLICATE", "key")


def test_the_same_format_can_be_named_twice() -> None:
    assert formats_of(f"{NAMED}; INSERT INTO b SELECT * FROM t WHERE _vtype='string'") == {
        "t": SourceFormats(value=STRING_FORMAT)
    }
