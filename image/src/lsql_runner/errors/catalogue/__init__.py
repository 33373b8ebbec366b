"""All errors that users can get, by code. docs/reference/errors.md is generated from this table."""

from __future__ import annotations

from lsql_runner.errors.catalogue.api import API
from lsql_runner.errors.catalogue.cases import CASES
from lsql_runner.errors.catalogue.console import CONSOLE
from lsql_runner.errors.catalogue.formats import FORMATS
from lsql_runner.errors.catalogue.joins import JOINS
from lsql_runner.errors.catalogue.names import NAMES
from lsql_runner.errors.catalogue.records import RECORDS
from lsql_runner.errors.catalogue.runtime import RUNTIME
from lsql_runner.errors.catalogue.select import SELECT
from lsql_runner.errors.catalogue.settings import SETTINGS
from lsql_runner.errors.catalogue.sinks import SINKS
from lsql_runner.errors.catalogue.sql import SQL
from lsql_runner.errors.catalogue.startup import STARTUP
from lsql_runner.errors.kinds import ErrorKind

_AREAS = (SQL, NAMES, SELECT, JOINS, SINKS, FORMATS, SETTINGS, CASES, STARTUP, RUNTIME, RECORDS, API, CONSOLE)

CATALOGUE: dict[str, ErrorKind] = {code: kind for area in _AREAS for code, kind in area.items()}
