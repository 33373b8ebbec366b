"""State that is converted for a query with other aggregates. Only Spark shows that it reads what was written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

from devkit.golden_states import CATALOG, STATES, unpack
from lsql_runner.compile.nodes import Reader
from lsql_runner.engine.conversion import convert_state
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.engine.in_memory.queries import OutputRecord, of_topic
from lsql_runner.engine.rows import Rows, TopicRecord
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.continuation import continue_from
from lsql_runner.plan.conversion import ConvertedQuery
from lsql_runner.plan.fingerprint import Fingerprint, fingerprint
from lsql_runner.plan.queries import Plan
from lsql_runner.state.checkpoint_copy import copy_checkpoints
from lsql_runner.state.folder import LocalFolder
from tests.thorough import examples

pytestmark = pytest.mark.timeout(240)  # each example starts streaming queries

INTO = "INSERT INTO o SELECT STREAM"
BY_G = "FROM t GROUP BY g"
WINDOW = "FROM t WINDOW BY TUMBLE 15s GRACE BY 10s GROUP BY g"
# By golden state: the program that continues it, and its fields without earlier records.
CONTINUED = {
    "aggregate": (f"{INTO} MAX(d) AS x, g, COUNT(*) AS n, COLLECT(a, 3) AS last, AVG(d) AS m {BY_G}", {"x", "last"}),
    "aggregate-exact": (
        f"SET error.policy.write='continue'; {INTO} SUM(a) AS s, MIN(a) AS least {BY_G}",
        {"least"},
    ),
    "aggregate-having": (f"{INTO} SUM(a) AS s, COUNT(*) AS n {BY_G} HAVING SUM(a) > 5", {"n"}),
    "aggregate-kept": (f"{INTO} COLLECT(a, 3) AS last, MAXK(d, 2) AS most, LAST(a) AS l {BY_G}", {"l"}),
    "final": (f"SET emit='final'; {INTO} SUM(a) AS s, MAX(a) AS x {WINDOW}", {"x"}),
    "hop": (
        f"{INTO} COUNT(*) AS n, SUM(a) AS s FROM t WINDOW BY HOP 20s,10s GRACE BY 10s GROUP BY g",
        {"n"},
    ),
    "tumble": (f"{INTO} SUM(CAST(a AS DOUBLE)) AS s, MAX(a) AS x {WINDOW}", {"x"}),
}


@pytest.mark.parametrize("name", CONTINUED)
def test_a_golden_state_is_converted(engine: MemoryEngine, tmp_path: Path, name: str) -> None:
    golden = next(state for state in STATES if state.name == name)
    sql, new_fields = CONTINUED[name]
    unpack(golden, tmp_path / "old")
    saved = tmp_path / "old/program.json"
    pinned = Fingerprint.from_json(json.loads(saved.read_text()))
    saved.unlink()

    plan = converted(engine, tmp_path, continue_from(golden.plan, pinned).plan, sql)

    assert_continued(engine, plan, golden.before, golden.after, checkpoints=tmp_path / "new", new_fields=new_fields)


AGGREGATES = {
    "n": "COUNT(*)",
    "s": "SUM(a)",
    "least": "MIN(d)",
    "most": "MAX(a)",
    "mean": "AVG(d)",
    "last": "LAST(d)",
    "first": "FIRST(a)",
    "some": "COLLECT(a, 3)",
    "best": "MAXK(d, 2)",
}
rows = st.tuples(st.sampled_from("xy"), st.integers(-3, 3), st.sampled_from([-1.5, 0.25, 2.0]), st.integers(0, 14))
batches = st.lists(st.lists(rows, min_size=1, max_size=4), min_size=1, max_size=2)
names = st.sets(st.sampled_from(sorted(AGGREGATES)), min_size=1)


@settings(max_examples=examples(4, 60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kept=names, removed=names, added=names, before=batches, after=batches, source=st.sampled_from([BY_G, WINDOW]))
def test_kept_aggregates_have_all_records_and_new_ones_the_later_records(
    engine: MemoryEngine,
    tmp_path_factory: pytest.TempPathFactory,
    kept: set[str],
    removed: set[str],
    added: set[str],
    before: list[list[tuple[str, int, float, int]]],
    after: list[list[tuple[str, int, float, int]]],
    source: str,
) -> None:
    folder = tmp_path_factory.mktemp("state")
    had, has = kept | removed - added, kept | added - removed
    old, new = (
        f"{INTO} {', '.join(f'{AGGREGATES[name]} AS {name}' for name in sorted(fields))} {source}"
        for fields in (had, has)
    )
    records = [
        [record(*row, offset=number * 10 + place) for place, row in enumerate(batch)]
        for number, batch in enumerate([*before, *after])
    ]
    earlier, later = records[: len(before)], records[len(before) :]
    plan = plan_of(old)
    assert engine.run(plan, earlier, checkpoints=folder / "old").error is None

    changed = converted(engine, folder, plan, new)

    assert_continued(engine, changed, earlier, later, checkpoints=folder / "new", new_fields=has - had)


def record(group: str, a: int, d: float, seconds: int, *, offset: int) -> TopicRecord:
    value = json.dumps({"g": group, "a": a, "d": d}).encode()
    return TopicRecord(topic="t", key=b"k", value=value, timestamp_ms=seconds * 1000, offset=offset)


def plan_of(sql: str) -> Plan:
    return plan_text(f"SET autocreate=true; {sql}", CATALOG).plan


def converted(engine: MemoryEngine, folder: Path, old: Plan, sql: str) -> Plan:
    """Convert the checkpoints in `old` to `new` in a folder; the plan that continues them."""
    continuation = continue_from(plan_of(sql), fingerprint(old))
    assert continuation.changes == ()
    copy_checkpoints(LocalFolder(folder / "old"), LocalFolder(folder / "new"))
    for query in continuation.plan.queries:
        if (conversion := continuation.conversions.get(query.name)) is not None:
            source, target = (LocalFolder(folder / name / query.name) for name in ("old", "new"))
            before = next(each for each in old.queries if each.name == query.name)
            convert_state(ConvertedQuery(before, query, conversion.aggregates), source, target, unread(engine))
    return continuation.plan


def unread(engine: MemoryEngine) -> Reader:
    """A reader of records whose values the optimizer does not know."""
    ids = engine.session.range(1).select(F.col("id").cast("string").cast("binary").alias("value"))
    return of_topic(Rows(engine.session).unpacked(ids))


def assert_continued(
    engine: MemoryEngine,
    plan: Plan,
    before: Sequence[Sequence[TopicRecord]],
    after: Sequence[Sequence[TopicRecord]],
    *,
    checkpoints: Path,
    new_fields: set[str],
) -> None:
    """The results from converted state are those of an uninterrupted run; `new_fields` those of a run from `after`."""
    continued = engine.run(plan, after, checkpoints=checkpoints, already_read=before)
    uninterrupted = engine.run(plan, (*before, *after))
    from_after = engine.run(plan, after)
    assert (continued.error, uninterrupted.error, from_after.error) == (None, None, None)
    results, all_of_them, later = map(results_of, (run.records for run in (continued, uninterrupted, from_after)))
    assert results, "the later records change no result, so that the test checks nothing"
    for key, value in results.items():
        assert value == {**all_of_them[key], **{name: later.get(key, {}).get(name) for name in new_fields}}


def results_of(records: Sequence[OutputRecord]) -> dict[bytes | None, dict[str, object]]:
    """The last result of each key."""
    return {each.key: json.loads(each.value or b"{}") for each in records}
