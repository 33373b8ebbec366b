"""Only the table of unsupported features raises its error codes, and every row is used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lsql_runner
from lsql_runner.errors import LsqlError
from lsql_runner.sql.kcql import KCQL_WORDS
from lsql_runner.sql.parser import parse
from lsql_runner.sql.unsupported import KCQL_CLAUSES, KEYS_OF_ENGINE, UNSUPPORTED

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

    of_tables = {*KEYS_OF_ENGINE, *KCQL_CLAUSES}
    assert [key for key in UNSUPPORTED if key not in of_tables and f'"{key}"' not in others] == []


KCQL = frozenset(
    """AUTOCREATE AUTOEVOLVE BATCH CAPITALIZE CLUSTERBY DISTRIBUTEBY IGNORE INCREMENTALMODE INITIALIZE KEYDELIMITER
    PARTITIONBY PK PROJECTTO PROPERTIES SAMPLE STOREAS TIMESTAMPUNIT TTL WITHCOMPRESSION WITHCONVERTER WITHDELAY
    WITHDOCTYPE WITHFORMAT WITHGROUP WITHINDEXSUFFIX WITHJMSSELECTOR WITHKEY WITHOFFSET WITHPARTITIONER WITHPIPELINE
    WITHREGEX WITHSTRUCTURE WITHSUBSCRIPTION WITHTAG WITHTARGET WITHTIMESTAMP WITHTYPE WITHUNWRAP WITH_ACK
    WITH_ENCODE_BASE64 WITH_FLUSH_COUNT WITH_FLUSH_INTERVAL WITH_FLUSH_SIZE WITH_LOCK_TIME WITH_OVERWRITE
    WITH_PARTITIONING WITH_SCHEMA_EVOLUTION WITH_SESSION WITH_TABLE_LOCATION""".split()
)
"""The clauses in the grammars of all releases of KCQL. LIMIT is one too; it is refused in every SELECT."""


def test_every_clause_of_kcql_is_supported_or_refused() -> None:
    assert KCQL_WORDS == KCQL


@pytest.mark.parametrize("before", ["FROM payments", "FROM payments AS p WHERE id > 1", "FROM payments PK id"])
@pytest.mark.parametrize("clause", [*sorted(KCQL_CLAUSES), "LIMIT"])
def test_a_clause_of_kcql_is_refused_by_its_name(clause: str, before: str) -> None:
    text = f"UPSERT INTO shop SELECT id {before} {clause.lower()}=1"
    with pytest.raises(LsqlError) as refused:
        parse(text)

    span = refused.value.span
    assert span is not None
    assert (refused.value.code, refused.value.params["clause"]) == ("CLAUSE_UNSUPPORTED", clause)
    assert text[span.start : span.end] == clause.lower()


def test_a_clause_of_kcql_is_a_name_after_as() -> None:
    [insert] = parse("INSERT INTO t SELECT sample.id FROM payments AS sample").inserts

    assert [name.name for name in insert.select.source.names] == ["sample", "payments"]
