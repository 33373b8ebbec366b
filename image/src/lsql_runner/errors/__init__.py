"""Errors as data: a code, parameters and a place. Sentences are only in the catalogue and in tables of details."""

from __future__ import annotations

from lsql_runner.errors.catalogue import CATALOGUE
from lsql_runner.errors.details import Detail, DetailError, DetailTable, Value
from lsql_runner.errors.error import ErrorReport, LsqlError, render, report
from lsql_runner.errors.files import file_error
from lsql_runner.errors.kinds import EXIT_RUNTIME, EXIT_USER, ErrorKind, Recovery

__all__ = [
    "CATALOGUE",
    "EXIT_RUNTIME",
    "EXIT_USER",
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
