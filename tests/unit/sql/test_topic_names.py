"""Names of topics without back-ticks."""

from __future__ import annotations

import pytest

from lsql_runner.sql import ast
from lsql_runner.sql.parser import parse


@pytest.mark.parametrize("name", ["2nd-topic", "3rd.party", "7d", "2024-01-events", "1e5", "_x", "a.b-c"])
def test_a_name_may_begin_like_a_number(name: str) -> None:
    program = parse(f"INSERT INTO {name} SELECT STREAM * FROM {name} JOIN {name} AS other WITHIN 1m")

    (insert,) = (statement for statement in program.statements if isinstance(statement, ast.Insert))
    source = insert.select.source
    assert isinstance(source, ast.SourceName)
    (join,) = insert.select.joins
    assert isinstance(join.source, ast.SourceName)
    assert {insert.target.name, source.name.name, join.source.name.name} == {name}
