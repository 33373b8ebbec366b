"""Programs that are nested too deeply, too large, or not UTF-8, and numbers with too many digits."""

import pytest

from lsql_runner.bind.query_size import MAX_SELECTS
from lsql_runner.errors import LsqlError, render
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.explain import explain
from lsql_runner.plan.topology import topology
from lsql_runner.sql.cursor import MAX_DEPTH
from lsql_runner.sql.parser import MAX_BYTES, parse
from lsql_runner.sql.select import MAX_WINDOWS
from tests.golden.catalog import CATALOG


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 10_000 + "1" + ")" * 10_000,
        "NOT " * 10_000 + "ok",
        "- " * 10_000 + "1",
        " + ".join(["1"] * 10_000),
        "UPPER(" * 10_000 + "id" + ")" * 10_000,
        "CASE WHEN ok THEN " * 10_000 + "1" + " END" * 10_000,
        "((((1 + 1) + 1) + 1) + 1)" + " + 1" * MAX_DEPTH,
    ],
    ids=["brackets", "not", "minus", "sum", "calls", "case", "mixed"],
)
def test_deep_nesting_is_refused(expression: str) -> None:
    with pytest.raises(LsqlError) as refusal:
        plan_text(f"INSERT INTO t SELECT STREAM {expression} AS x FROM payments", CATALOG)
    assert refusal.value.code == "SQL_TOO_DEEP"


def test_the_deepest_accepted_expression_passes_every_stage() -> None:
    depth = MAX_DEPTH - 2
    plan = plan_text(
        f"INSERT INTO t SELECT STREAM {'-(' * (depth // 2)}amount{')' * (depth // 2)} AS x FROM payments", CATALOG
    )
    assert len(plan.plan.writes) == 1


def test_a_long_chain_of_conditions_is_accepted() -> None:
    condition = " OR ".join(f"id = '{n}'" for n in range(5_000))
    assert plan_text(f"INSERT INTO t SELECT STREAM id FROM payments WHERE {condition}", CATALOG).plan.writes


def _chain(queries: int) -> str:
    tables = [f"WITH a{n} AS (SELECT STREAM * FROM a{n - 1} WHERE amount > {n})" for n in range(1, queries)]
    return ";\n".join(
        ["WITH a0 AS (SELECT STREAM * FROM payments)", *tables, f"INSERT INTO t SELECT STREAM * FROM a{queries - 1}"]
    )


def _doubled(times: int) -> str:
    joins = [
        f"WITH a{n} AS (SELECT STREAM l.id FROM a{n - 1} AS l JOIN a{n - 1} AS r ON l.id = r.id WITHIN 1h)"
        for n in range(1, times + 1)
    ]
    return ";\n".join(
        ["WITH a0 AS (SELECT STREAM id FROM payments)", *joins, f"INSERT INTO t SELECT STREAM * FROM a{times}"]
    )


@pytest.mark.parametrize(
    ("text", "size"), [(_chain(MAX_SELECTS), MAX_SELECTS + 1), (_chain(2_000), MAX_SELECTS + 1), (_doubled(30), 190)]
)
def test_a_query_of_too_many_queries_is_refused(text: str, size: int) -> None:
    with pytest.raises(LsqlError) as refusal:
        plan_text(text, CATALOG)
    assert refusal.value.code == "QUERY_TOO_LARGE"
    assert refusal.value.params == {"size": size, "limit": MAX_SELECTS}
    assert refusal.value.span is not None


def test_the_largest_accepted_query_passes_every_stage() -> None:
    for text in (_chain(MAX_SELECTS - 1), _doubled(5)):
        plan = plan_text(text, CATALOG).plan
        assert explain(plan)
        assert topology(plan)


def test_a_record_is_in_a_limited_number_of_windows() -> None:
    window = "INSERT INTO t SELECT STREAM COUNT(*) AS n FROM s WINDOW BY HOP {size}ms BY 10ms GROUP BY a"
    size = MAX_WINDOWS * 10
    assert parse(window.format(size=size)).inserts
    with pytest.raises(LsqlError) as refusal:
        parse(window.format(size=size + 10))
    assert (refusal.value.code, refusal.value.params) == ("WINDOW_ADVANCE_TOO_SHORT", {"limit": MAX_WINDOWS})


def test_a_batch_of_many_digits_is_refused() -> None:
    with pytest.raises(LsqlError) as refusal:
        parse("UPSERT INTO shop SELECT id FROM payments PK id BATCH " + "9" * 5_000)
    assert refusal.value.code == "SQL_SYNTAX"


def test_a_program_above_the_size_limit_is_refused() -> None:
    with pytest.raises(LsqlError) as refusal:
        parse("INSERT INTO t SELECT STREAM id FROM payments -- " + "x" * 1024 * 1024)
    assert refusal.value.code == "SQL_TOO_LARGE"
    assert refusal.value.params["limit_bytes"] == MAX_BYTES


def test_invalid_utf8_is_refused_with_the_invalid_byte() -> None:
    text = b"INSERT INTO t SELECT STREAM '\xff' AS x FROM payments".decode("utf-8", "surrogateescape")
    with pytest.raises(LsqlError) as refusal:
        parse(text)
    assert refusal.value.code == "SQL_NOT_UTF8"
    assert refusal.value.params["byte"] == "0xff"
    assert "0xff" in render(refusal.value, text).encode("utf-8", "replace").decode()
