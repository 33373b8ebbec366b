"""The list of programs that must be refused, each with its code and its place; and input that is no program."""

import re
from pathlib import Path

import pytest

from lsql_runner.errors import LsqlError, render
from lsql_runner.pipeline import plan_text
from lsql_runner.spans import position_of
from lsql_runner.sql.cursor import MAX_DEPTH
from lsql_runner.sql.parser import MAX_BYTES, parse
from tests.golden.catalog import CATALOG

BLOCK = re.compile(r"-- expect (?P<code>[A-Z0-9_]+)(?: (?P<place>\d+:\d+))?\n(?P<sql>.*)\Z", re.DOTALL)


def blocks() -> list[tuple[str, str, str]]:
    """Code, place (`line:column`, or empty) and text of every program on the list."""
    text = Path(__file__).with_name("rejected.sql").read_text().split("\n", 1)[1]
    found = [BLOCK.match(block.lstrip("\n")) for block in text.removesuffix("\n").split("\n----")]
    assert all(found)
    return [(m["code"], m["place"] or "", m["sql"]) for m in found if m]


@pytest.mark.parametrize(
    ("code", "place", "sql"), blocks(), ids=[f"{n}-{code}" for n, (code, _, _) in enumerate(blocks())]
)
def test_a_listed_program_is_refused_at_its_place(code: str, place: str, sql: str) -> None:
    with pytest.raises(LsqlError) as refusal:
        plan_text(sql, CATALOG)
    error = refusal.value
    found = "" if error.span is None else "{0.line}:{0.column}".format(position_of(sql, error.span.start))
    assert (error.code, found) == (code, place), render(error, sql)


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
def test_deep_nesting_is_refused_and_never_crashes(expression: str) -> None:
    with pytest.raises(LsqlError) as refusal:
        plan_text(f"INSERT INTO t SELECT STREAM {expression} AS x FROM payments", CATALOG)
    assert refusal.value.code == "SQL_TOO_DEEP"


def test_the_deepest_accepted_expression_passes_every_stage() -> None:
    depth = MAX_DEPTH - 2
    plan = plan_text(
        f"INSERT INTO t SELECT STREAM {'-(' * (depth // 2)}amount{')' * (depth // 2)} AS x FROM payments", CATALOG
    )
    assert len(plan.plan.sinks) == 1


def test_long_chains_of_conditions_stay_shallow() -> None:
    condition = " OR ".join(f"id = '{n}'" for n in range(5_000))
    assert plan_text(f"INSERT INTO t SELECT STREAM id FROM payments WHERE {condition}", CATALOG).plan.sinks


def test_a_program_of_a_megabyte_is_refused_by_size() -> None:
    with pytest.raises(LsqlError) as refusal:
        parse("INSERT INTO t SELECT STREAM id FROM payments -- " + "x" * 1024 * 1024)
    assert refusal.value.code == "SQL_TOO_LARGE"
    assert refusal.value.params["limit_bytes"] == MAX_BYTES


def test_bytes_that_are_no_utf8_are_refused_at_their_place() -> None:
    text = b"INSERT INTO t SELECT STREAM '\xff' AS x FROM payments".decode("utf-8", "surrogateescape")
    with pytest.raises(LsqlError) as refusal:
        parse(text)
    assert refusal.value.code == "SQL_NOT_UTF8"
    assert refusal.value.params["byte"] == "0xff"
    assert "0xff" in render(refusal.value, text).encode("utf-8", "replace").decode()
