"""Reads a load from the text of a CSV file: rates, or what was recorded of a processor."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from lsql_runner.errors import Detail, DetailTable, LsqlError
from lsql_runner.scaling.load import MAX_SECONDS, Load

_SECONDS = re.compile(r"[0-9]{1,12}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{0,15})?([eE][+-]?[0-9]{1,2})?", re.ASCII)
_MOST = {"records_per_second": 1e12, "processed_per_second": 1e12, "end_offset": 1e15, "lag": 1e15}
_TOLERATED = 0.1
"""Lag and rate are measured at different moments: the lag may fall by this share more than the records that were
processed explain."""
_SHOWN = 40
"""Characters of a wrong value that an error shows."""

_REASONS = DetailTable(
    {
        "HEADER": "the first line is {found}, expected one of: {headers}",
        "VALUES": "found {count} values, expected {columns}",
        "SECONDS": "seconds is {found}, expected a whole number",
        "NUMBER": "{column} is {found}, expected a number from 0 to {most}",
        "ORDER": "seconds is {found}, expected more than {before} of the line before",
        "LONG": "the load is {seconds} s long, expected at most {most}",
        "SHORT": "found {count} rows, expected two or more",
        "CSV": "not a line of CSV",
        "END_FELL": "end_offset is {found}, less than {before} of the line before: partitions are missing, or a topic "
        "was created again",
        "LAG_UNEXPLAINED": "the lag fell by {fell} records, of which {processed} were processed: lag and rate are not "
        "of the same topics or times",
    }
)


class _Row(NamedTuple):
    line: int
    second: int
    values: tuple[float, ...]


def parse_load(text: str, path: str) -> Load:
    """The load in a CSV file.

    Args:
        text: a header, and rows that begin with the time in whole seconds. The first time may be any number, as seconds
            since 1970. The header determines the other columns:

            - `records_per_second`: the rate from then on. The last rate lasts as long as the one before it.
            - `end_offset`: the sum of the ends of all source partitions.
            - `lag,processed_per_second`: records that wait, and the mean rate since the row before. The load begins
              with the lag of the first row.
        path: the file, for the name of the load and for errors.

    Raises:
        LsqlError: LOAD_FILE_INVALID with the line, also if recorded values contradict each other.
    """
    lines = _lines(text, path)
    columns = tuple(next(lines)[1])
    rows: list[_Row] = []
    line = 1
    for line, values in lines:
        row = _row(columns, values, path, line)
        if rows and row.second <= rows[-1].second:
            raise _invalid(path, line, _REASONS("ORDER", found=row.second, before=rows[-1].second))
        if rows and row.second - rows[0].second > MAX_SECONDS:
            raise _invalid(path, line, _REASONS("LONG", seconds=row.second - rows[0].second, most=MAX_SECONDS))
        rows.append(row)
    if len(rows) < 2:
        raise _invalid(path, line, _REASONS("SHORT", count=len(rows)))
    return _LOADS[columns](rows, path)


def _of_rates(rows: list[_Row], path: str) -> Load:
    lengths = [after.second - before.second for before, after in pairwise(rows)]
    return Load(path, list(zip([*lengths, lengths[-1]], (row.values[0] for row in rows), strict=True)))


def _of_ends(rows: list[_Row], path: str) -> Load:
    rates = []
    for before, after in pairwise(rows):
        (start,), (end,) = before.values, after.values
        if end < start:
            raise _invalid(path, after.line, _REASONS("END_FELL", found=f"{end:.0f}", before=f"{start:.0f}"))
        seconds = after.second - before.second
        rates.append((seconds, (end - start) / seconds))
    return Load(path, rates)


def _of_lags(rows: list[_Row], path: str) -> Load:
    rates = []
    for before, after in pairwise(rows):
        (lag_before, _), (lag, rate) = before.values, after.values
        seconds = after.second - before.second
        processed, fell = rate * seconds, lag_before - lag
        if fell - processed > _TOLERATED * lag_before:
            reason = _REASONS("LAG_UNEXPLAINED", fell=f"{fell:.0f}", processed=f"{processed:.0f}")
            raise _invalid(path, after.line, reason)
        rates.append((seconds, max(0.0, processed - fell) / seconds))
    return Load(path, rates, lag=rows[0].values[0])


_LOADS: Mapping[tuple[str, ...], Callable[[list[_Row], str], Load]] = {
    ("seconds", "records_per_second"): _of_rates,
    ("seconds", "end_offset"): _of_ends,
    ("seconds", "lag", "processed_per_second"): _of_lags,
}
HEADERS = tuple(",".join(columns) for columns in _LOADS)
"""The first lines that a file may have."""


def _lines(text: str, path: str) -> Iterator[tuple[int, list[str]]]:
    """The header, then the lines that are not empty, with their numbers."""
    # A byte order mark, which spreadsheets write.
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    try:
        header = [name.strip() for name in next(reader, [])]
        if tuple(header) not in _LOADS:
            reason = _REASONS("HEADER", found=_show(",".join(header)), headers="; ".join(HEADERS))
            raise _invalid(path, 1, reason)
        yield 1, header
        for values in reader:
            if values:
                yield reader.line_num, [value.strip() for value in values]
    except csv.Error:
        raise _invalid(path, max(reader.line_num, 1), _REASONS("CSV")) from None


def _row(columns: tuple[str, ...], values: list[str], path: str, line: int) -> _Row:
    if len(values) != len(columns):
        raise _invalid(path, line, _REASONS("VALUES", count=len(values), columns=",".join(columns)))
    second, *others = values
    if not _SECONDS.fullmatch(second):
        raise _invalid(path, line, _REASONS("SECONDS", found=_show(second)))
    for column, value in zip(columns[1:], others, strict=True):
        if not _NUMBER.fullmatch(value) or float(value) > _MOST[column]:
            reason = _REASONS("NUMBER", column=column, found=_show(value), most=f"{_MOST[column]:g}")
            raise _invalid(path, line, reason)
    return _Row(line, int(second), tuple(map(float, others)))


def _show(value: str) -> str:
    return repr(value if len(value) <= _SHOWN else value[:_SHOWN] + "...")


def _invalid(path: str, line: int, reason: Detail) -> LsqlError:
    return LsqlError("LOAD_FILE_INVALID", path=path, line=line, reason=reason)
