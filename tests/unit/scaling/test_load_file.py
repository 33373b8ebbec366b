"""Loads from CSV text."""

import pytest

from lsql_runner.errors import Detail, LsqlError
from lsql_runner.scaling.load_file import parse_load

HEADER = "seconds,records_per_second\n"
ENDS, LAGS = "seconds,end_offset\n", "seconds,lag,processed_per_second\n"


def test_a_rate_lasts_until_the_next_row_and_the_last_one_as_long_as_the_one_before() -> None:
    load = parse_load(HEADER + "1700000000,10\n1700000060,20.5\n1700000090,0\n", "load.csv")

    assert (load.name, list(load.rates)) == ("load.csv", [(60, 10.0), (30, 20.5), (30, 0.0)])


def test_ends_that_were_recorded_give_the_rate_between_two_rows() -> None:
    load = parse_load("seconds,end_offset\n1700000000,5000\n1700000060,5600\n1700000070,5600\n", "load.csv")

    assert (list(load.rates), load.lag) == ([(60, 10.0), (10, 0.0)], 0)


def test_a_recorded_lag_and_what_was_processed_give_the_rate_between_two_rows_and_the_lag_at_the_begin() -> None:
    load = parse_load("seconds,lag,processed_per_second\n0,900,7\n60,1500,10\n90,0,60\n", "load.csv")

    # 600 more in the lag and 600 processed; 1,500 less in the lag and 1,800 processed.
    assert (list(load.rates), load.lag) == ([(60, 20.0), (30, 10.0)], 900)


def test_the_lag_may_fall_a_little_faster_than_was_processed() -> None:
    load = parse_load("seconds,lag,processed_per_second\n0,1000,0\n10,0,91\n", "load.csv")

    assert list(load.rates) == [(10, 0.0)]


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
        pytest.param(HEADER + "\n0,many\n", 3, "NUMBER", "'many'", id="word"),
        pytest.param(HEADER + "0,nan\n", 2, "NUMBER", "'nan'", id="nan"),
        pytest.param(HEADER + "0,inf\n", 2, "NUMBER", "'inf'", id="infinity"),
        pytest.param(HEADER + "0,-5\n", 2, "NUMBER", "'-5'", id="negative rate"),
        pytest.param(HEADER + "0,1_000\n", 2, "NUMBER", "'1_000'", id="underscore"),
        pytest.param(HEADER + "0,\u0661\n", 2, "NUMBER", "'\u0661'", id="digits of another script"),
        pytest.param(HEADER + "0,1e13\n", 2, "NUMBER", "'1e13'", id="too large"),
        pytest.param(HEADER + "0," + "x" * 99 + "\n", 2, "NUMBER", f"'{'x' * 40}...'", id="long value"),
        pytest.param(HEADER + "0,1\n0,1\n", 3, "ORDER", 0, id="same time"),
        pytest.param(HEADER + "60,1\n30,1\n", 3, "ORDER", 30, id="earlier time"),
        pytest.param(HEADER + "0,1\n2678401,1\n", 3, "LONG", None, id="too long"),
        pytest.param("seconds,lag\n0,1\n", 1, "HEADER", "'seconds,lag'", id="lag without a rate"),
        pytest.param(ENDS + "0,1,1\n", 2, "VALUES", None, id="more values than columns"),
        pytest.param(ENDS + "0,many\n", 2, "NUMBER", "'many'", id="word as offset"),
        pytest.param(ENDS + "0,1e16\n", 2, "NUMBER", "'1e16'", id="too large an offset"),
        pytest.param(ENDS + "0,7\n5,9\n9,8\n", 4, "END_FELL", "8", id="end that falls"),
        pytest.param(LAGS + "0,1\n", 2, "VALUES", None, id="lag without its rate"),
        pytest.param(LAGS + "0,1000,0\n10,0,89\n", 3, "LAG_UNEXPLAINED", None, id="lag that falls by itself"),
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
