"""Loads from CSV text."""

import pytest

from lsql_runner.errors import Detail, LsqlError
from lsql_runner.scaling.load_file import parse_load

HEADER = "seconds,records_per_second\n"


def test_a_rate_lasts_until_the_next_row_and_the_last_one_as_long_as_the_one_before() -> None:
    load = parse_load(HEADER + "1700000000,10\n1700000060,20.5\n1700000090,0\n", "load.csv")

    assert (load.name, list(load.rates)) == ("load.csv", [(60, 10.0), (30, 20.5), (30, 0.0)])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\ufeff" + HEADER + "0,1\n60,1e3\n", id="byte order mark"),
        pytest.param("seconds, records_per_second\r\n0, 1\r\n60, 1e3\r\n", id="blanks and CRLF"),
        pytest.param(HEADER + '\n"0","1."\n\n60,1000', id="quotes, empty lines, no newline at the end"),
    ],
)
def test_files_of_spreadsheets_are_read(text: str) -> None:
    assert list(parse_load(text, "load.csv").rates) == [(60, 1.0), (60, 1000.0)]


@pytest.mark.parametrize(
    ("text", "line", "reason", "found"),
    [
        pytest.param("", 1, "HEADER", "''", id="empty"),
        pytest.param("0,1\n60,1\n", 1, "HEADER", "'0,1'", id="no header"),
        pytest.param("seconds;records_per_second\n", 1, "HEADER", "'seconds;records_per_second'", id="semicolons"),
        pytest.param(HEADER, 1, "SHORT", None, id="no rows"),
        pytest.param(HEADER + "0,1\n", 2, "SHORT", None, id="one row"),
        pytest.param(HEADER + "0,1\n60\n", 3, "VALUES", None, id="one value"),
        pytest.param(HEADER + "0,1\n60,1,000\n", 3, "VALUES", None, id="thousands"),
        pytest.param(HEADER + "0.5,1\n", 2, "SECONDS", "'0.5'", id="part of a second"),
        pytest.param(HEADER + "-1,1\n", 2, "SECONDS", "'-1'", id="negative time"),
        pytest.param(HEADER + "2026-11-26T00:00:00Z,1\n", 2, "SECONDS", "'2026-11-26T00:00:00Z'", id="date"),
        pytest.param(HEADER + "\n0,many\n", 3, "RATE", "'many'", id="word"),
        pytest.param(HEADER + "0,nan\n", 2, "RATE", "'nan'", id="nan"),
        pytest.param(HEADER + "0,inf\n", 2, "RATE", "'inf'", id="infinity"),
        pytest.param(HEADER + "0,-5\n", 2, "RATE", "'-5'", id="negative rate"),
        pytest.param(HEADER + "0,1_000\n", 2, "RATE", "'1_000'", id="underscore"),
        pytest.param(HEADER + "0,\u0661\n", 2, "RATE", "'\u0661'", id="digits of another script"),
        pytest.param(HEADER + "0,1e13\n", 2, "RATE", "'1e13'", id="too large"),
        pytest.param(HEADER + "0," + "x" * 99 + "\n", 2, "RATE", f"'{'x' * 40}...'", id="long value"),
        pytest.param(HEADER + "0,1\n0,1\n", 3, "ORDER", 0, id="same time"),
        pytest.param(HEADER + "60,1\n30,1\n", 3, "ORDER", 30, id="earlier time"),
        pytest.param(HEADER + "0,1\n2678401,1\n", 3, "LONG", None, id="too long"),
        pytest.param(HEADER + "0," + "1" * 200_000, 2, "CSV", None, id="huge value"),
    ],
)
def test_an_invalid_line_is_named_with_what_was_found(
    text: str, line: int, reason: str, found: str | int | None
) -> None:
    with pytest.raises(LsqlError) as caught:
        parse_load(text, "load.csv")

    detail = caught.value.params["reason"]
    assert isinstance(detail, Detail)
    assert (caught.value.code, caught.value.params["line"]) == ("LOAD_FILE_INVALID", line)
    assert (detail.code, detail.params.get("found")) == (reason, found)
