"""Reads a load from the text of a CSV file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from itertools import pairwise

from lsql_runner.errors import Detail, DetailTable, LsqlError
from lsql_runner.scaling.load import MAX_SECONDS, Load

COLUMNS = ("seconds", "records_per_second")
_SECONDS = re.compile(r"[0-9]{1,12}", re.ASCII)
_RATE = re.compile(r"[0-9]{1,15}(\.[0-9]{0,15})?([eE][+-]?[0-9]{1,2})?", re.ASCII)
_MAX_RATE = 1e12
_SHOWN = 40
"""Characters of a wrong value that an error shows."""

_REASONS = DetailTable(
    {
        "HEADER": "the first line is {found}, expected seconds,records_per_second",
        "VALUES": "found {count} values, expected seconds and records per second",
        "SECONDS": "seconds is {found}, expected a whole number",
        "RATE": "records_per_second is {found}, expected a number from 0 to 1e12",
        "ORDER": "seconds is {found}, expected more than {before} of the line before",
        "LONG": "the load is {seconds} s long, expected at most {most}",
        "SHORT": "found {count} rows, expected two or more",
        "CSV": "not a line of CSV",
    }
)


def parse_load(text: str, path: str) -> Load:
    """The load in a CSV file.

    Args:
        text: a header, and rows with the time in whole seconds and the rate from then on in records/s. The first time
            may be any number, as seconds since 1970. The last rate lasts as long as the one before it.
        path: the file, for the name of the load and for errors.

    Raises:
        LsqlError: LOAD_FILE_INVALID with the line.
    """
    rows: list[tuple[int, float]] = []
    line = 1
    for line, values in _lines(text, path):
        row = _row(values, path, line)
        if rows and row[0] <= rows[-1][0]:
            raise _invalid(path, line, _REASONS("ORDER", found=row[0], before=rows[-1][0]))
        if rows and row[0] - rows[0][0] > MAX_SECONDS:
            raise _invalid(path, line, _REASONS("LONG", seconds=row[0] - rows[0][0], most=MAX_SECONDS))
        rows.append(row)
    if len(rows) < 2:
        raise _invalid(path, line, _REASONS("SHORT", count=len(rows)))
    lengths = [after - start for (start, _), (after, _) in pairwise(rows)]
    return Load(path, list(zip([*lengths, lengths[-1]], (rate for _, rate in rows), strict=True)))


def _lines(text: str, path: str) -> Iterator[tuple[int, list[str]]]:
    """The lines after the header that are not empty, with their numbers."""
    # A byte order mark, which spreadsheets write.
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    try:
        header = [name.strip() for name in next(reader, [])]
        if header != list(COLUMNS):
            raise _invalid(path, 1, _REASONS("HEADER", found=_shown(",".join(header))))
        for values in reader:
            if values:
                yield reader.line_num, [value.strip() for value in values]
    except csv.Error:
        raise _invalid(path, max(reader.line_num, 1), _REASONS("CSV")) from None


def _row(values: list[str], path: str, line: int) -> tuple[int, float]:
    if len(values) != len(COLUMNS):
        raise _invalid(path, line, _REASONS("VALUES", count=len(values)))
    seconds, rate = values
    if not _SECONDS.fullmatch(seconds):
        raise _invalid(path, line, _REASONS("SECONDS", found=_shown(seconds)))
    if not _RATE.fullmatch(rate) or float(rate) > _MAX_RATE:
        raise _invalid(path, line, _REASONS("RATE", found=_shown(rate)))
    return int(seconds), float(rate)


def _shown(value: str) -> str:
    return repr(value if len(value) <= _SHOWN else value[:_SHOWN] + "...")


def _invalid(path: str, line: int, reason: Detail) -> LsqlError:
    return LsqlError("LOAD_FILE_INVALID", path=path, line=line, reason=reason)
