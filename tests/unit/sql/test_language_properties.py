"""Properties of generated programs: accepted programs print as programs with the same plan, and no input crashes."""

from collections.abc import Callable
from typing import TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st

from lsql_runner.errors import LsqlError
from lsql_runner.pipeline import PlannedProgram, plan_text
from lsql_runner.sql.parser import parse
from lsql_runner.sql.printer import print_program
from tests.golden.catalog import CATALOG

T = TypeVar("T")

NUMBERS = st.sampled_from(["1", "2.5", "amount", "7", "1e3", "LEN(id)"])
STRINGS = st.sampled_from(["id", "currency", "'it''s'", '"two words"', "UPPER(id)", "`customerId`"])
BOOLEANS = st.sampled_from(["ok", "TRUE", "amount > 1", "id IS NULL", "currency IN ('EUR', 'USD')", "id LIKE '%a'"])


def arithmetic(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "%"]), inner).map(" ".join)
    return pair | inner.map("({})".format) | inner.map("- {}".format) | inner.map("ABS({})".format)


def logic(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(" ".join)
    return pair | inner.map("({})".format) | inner.map("NOT {}".format)


numbers = st.recursive(NUMBERS, arithmetic, max_leaves=8)
booleans = st.recursive(BOOLEANS, logic, max_leaves=6)
cases = st.tuples(booleans, numbers, numbers).map(lambda t: f"CASE WHEN {t[0]} THEN {t[1]} ELSE {t[2]} END")
values = numbers | STRINGS | booleans | cases
gap = st.sampled_from([" ", "\n", " /* x */ ", " -- y\n"])


@st.composite
def stateless(draw: st.DrawFn) -> str:
    items = draw(st.lists(values, min_size=1, max_size=4))
    list_text = ", ".join(f"{item} AS f{n}" for n, item in enumerate(items))
    star = draw(st.sampled_from(["", "*, "]))
    where = draw(st.none() | booleans)
    mode = draw(st.sampled_from(["STREAM ", ""]))
    return f"SELECT {mode}{star}{list_text}{draw(gap)}FROM payments{draw(gap)}" + (f"WHERE {where}" if where else "")


@st.composite
def grouped(draw: st.DrawFn) -> str:
    calls = draw(
        st.lists(st.sampled_from(["COUNT(*)", "SUM(amount)", "AVG(amount)", "MIN(id)", "MAX(at)"]), min_size=1)
    )
    window = draw(
        st.sampled_from(["", "WINDOW BY TUMBLE 1m", "WINDOW BY HOP 5m,1m GRACE BY 3s", "WINDOW BY HOP 4h BY 2h"])
    )
    keys = draw(st.sampled_from(["currency", "customerId, currency", "UPPER(currency)"]))
    list_text = ", ".join(f"{call} AS f{n}" for n, call in enumerate(calls))
    return f"SELECT STREAM {list_text} FROM payments {window} GROUP BY {keys}"


programs = st.lists(
    st.tuples(st.sampled_from(["a", "b-c.d", "`from`"]), stateless() | grouped()), min_size=1, max_size=3
).map(lambda parts: ";\n".join(f"INSERT INTO {target} {select}" for target, select in parts))


def result_or_error(stage: Callable[[], T]) -> T | LsqlError:
    """The result of a stage, or its error for the user; any other exception is a crash."""
    try:
        return stage()
    except LsqlError as error:
        return error


@given(programs)
@settings(max_examples=300)
def test_an_accepted_program_prints_as_a_program_with_the_same_plan(text: str) -> None:
    plan = result_or_error(lambda: plan_text(text, CATALOG).plan)
    if isinstance(plan, LsqlError):
        assert plan.code in {"OPERATOR_TYPES", "ARGUMENT_TYPE", "OPERAND_TYPE", "SQL_TOO_DEEP"}, text
        return
    printed = print_program(parse(text))
    assert plan_text(printed, CATALOG).plan == plan
    assert print_program(parse(printed)) == printed


@given(st.text(max_size=300))
@settings(max_examples=300)
def test_no_text_crashes_the_parser(text: str) -> None:
    refusal = result_or_error(lambda: parse(text))
    if isinstance(refusal, LsqlError) and refusal.span is not None:
        assert 0 <= refusal.span.start <= refusal.span.end <= len(text)


WORDS = st.sampled_from(
    """SELECT STREAM TABLE FROM WHERE GROUP BY HAVING INSERT INTO WITH SET JOIN ON AND OR NOT AS CASE WHEN THEN
    ELSE END IS IN LIKE BETWEEN NULL LATERAL WINDOW TUMBLE HOP GRACE STORE KEY VALUE CAST COUNT ( )
    , . * + - / % = < > ; ' " ` [ ] 1
    1m 2.5 a payments _key _value id -- /* */ // t.* a.b""".split()
)


@given(st.lists(WORDS, max_size=40).map(" ".join))
@settings(max_examples=500)
def test_no_sequence_of_words_crashes_a_stage(text: str) -> None:
    planned = result_or_error(lambda: plan_text("INSERT INTO t SELECT " + text, CATALOG))
    assert isinstance(planned, PlannedProgram | LsqlError)
