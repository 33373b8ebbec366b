"""Errors as data: a code, its parameters and the place. Prose is in the catalogue and the tables of details only."""

from __future__ import annotations

from lsql_runner.errors.catalogue import CATALOGUE
from lsql_runner.errors.details import Detail, DetailError, DetailTable, Value
from lsql_runner.errors.error import ErrorReport, LsqlError, render, report
from lsql_runner.errors.files import file_error
from lsql_runner.errors.kinds import RUNTIME, USER, ErrorKind, Recovery

__all__ = [
    "CATALOGUE",
    "RUNTIME",
    "USER",
    "Detail",
    "DetailError",
    "DetailTable",
    "ErrorKind",
    "ErrorReport",
    "LsqlError",
    "Recovery",
    "Value",
    "file_error",
    "render",
    "report",
]
