"""The formats that a program names for its source topics."""

import pytest

from lsql_runner.bind.source_formats import SourceFormats, source_formats
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
