"""Only the table of unsupported features raises its error codes, and every row is used."""

from __future__ import annotations

import re
from pathlib import Path

import lsql_runner
from lsql_runner.sql.unsupported import KEYS_OF_ENGINE, UNSUPPORTED

PACKAGE = Path(lsql_runner.__file__).parent
SOURCES = {path: path.read_text() for path in PACKAGE.rglob("*.py")}
CODES = ("STATEMENT_UNSUPPORTED", "CLAUSE_UNSUPPORTED", "FEATURE_UNSUPPORTED")


def test_no_other_module_raises_the_codes() -> None:
    raising = {path.name for path, text in SOURCES.items() if re.search(rf'LsqlError\(\s*"({"|".join(CODES)})"', text)}

    assert raising == set()


def test_the_rows_have_exactly_these_codes() -> None:
    assert {row.code for row in UNSUPPORTED.values()} == set(CODES)


def test_every_row_is_raised_somewhere() -> None:
    """Another module contains its key."""
    others = "\n".join(text for path, text in SOURCES.items() if path.name != "unsupported.py")

    assert [key for key in UNSUPPORTED if key not in KEYS_OF_ENGINE and f'"{key}"' not in others] == []
