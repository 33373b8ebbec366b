"""Windows of the engine, compared with a Python model for random orders, lateness and batches."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from devkit.window_model import Event, ModelWindow, Value, WindowKey, model_output
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.engine.in_memory.queries import OutputRecord
from lsql_runner.engine.rows import TopicRecord
from lsql_runner.formats.catalog import Catalog
from lsql_runner.formats.declared import declared_topics
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.queries import Plan
from tests.thorough import examples

pytestmark = pytest.mark.timeout(240)  # each example starts streaming queries

TUMBLE = ModelWindow(size_ms=10_000, advance_ms=10_000, grace_ms=5_000)
HOP = ModelWindow(size_ms=10_000, advance_ms=4_000, grace_ms=5_000)
FIELDS = "COUNT(*) AS n, SUM(v) AS s, MIN(v) AS lo, MAX(v) AS hi, AVG(v) AS m"
SQL = f"""
    INSERT INTO tumbled SELECT STREAM {FIELDS} FROM t WINDOW BY TUMBLE 10s GRACE BY 5s GROUP BY g;
    INSERT INTO hopped SELECT STREAM {FIELDS} FROM t WINDOW BY HOP 10s,4s GRACE BY 5s GROUP BY g;
    """
CATALOG = Catalog(
    declared_topics(
        {"t": {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": {"g": "string", "v": "int"}}}}
    )
)
PLAN = plan_text(SQL, CATALOG).plan
LATE_PLAN = plan_text(f"SET late.records='dlq'; SET dead.letter.queue='dead'; {SQL}", CATALOG).plan

Batches = list[list[Event]]
# Times around window edges, close enough together for lateness inside and outside the grace.
times = st.one_of(
    st.integers(0, 60_000), st.sampled_from([0, 3_999, 4_000, 9_999, 10_000, 14_999, 15_000, 19_999, 20_000, 25_000])
)
events = st.builds(Event, st.sampled_from(["a", "b"]), times, st.integers(-5, 5))
several_batches = st.lists(st.lists(events, min_size=1, max_size=6), min_size=3, max_size=5)


def output(engine: MemoryEngine, plan: Plan, batches: Batches) -> tuple[OutputRecord, ...]:
    """The records that a plan writes."""
    offset = 0
    records: list[list[TopicRecord]] = []
    for batch in batches:
        records.append([])
        for event in batch:
            data = json.dumps({"g": event.key, "v": event.amount}).encode()
            records[-1].append(
                TopicRecord(topic="t", key=None, value=data, timestamp_ms=event.at_ms, partition=0, offset=offset)
            )
            offset += 1
    run = engine.run(plan, records)
    assert run.error is None
    return run.records


def results(engine: MemoryEngine, batches: Batches) -> dict[str, dict[WindowKey, list[Value]]]:
    """By target: the changelog of each window."""
    by_target: dict[str, dict[WindowKey, list[Value]]] = {"tumbled": {}, "hopped": {}}
    for record in output(engine, PLAN, batches):
        assert record.key is not None
        assert record.value is not None
        place = record.key[:-8].decode(), int.from_bytes(record.key[-8:], "big", signed=True)
        row = json.loads(record.value)
        value = Value(
            count=row["n"],
            total=row["s"],
            least=row["lo"],
            most=row["hi"],
            mean=row["m"],
            timestamp_ms=record.timestamp_ms,
        )
        by_target[record.topic].setdefault(place, []).append(value)
    return by_target


@given(batches=several_batches)
@example(batches=[[Event("a", 0, 1)], [Event("a", 14_999, 1)], [Event("a", 30_000, 1)], [Event("a", 9_999, 2)]])
@example(batches=[[Event("a", 0, 1)], [Event("a", 15_000, 1)], [Event("a", 9_999, 2)], [Event("a", 9_999, 3)]])
@example(batches=[[Event("a", 30_000, 1), Event("a", 0, 2)], [Event("a", 1, 3)], [Event("a", 2, 4)]])
@settings(
    max_examples=examples(2, 7),
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_windows_have_the_values_of_the_model(engine: MemoryEngine, batches: Batches) -> None:
    by_target = results(engine, batches)
    assert by_target["tumbled"] == model_output(batches, TUMBLE).changelogs
    assert by_target["hopped"] == model_output(batches, HOP).changelogs


@given(batches=several_batches)
@example(batches=[[Event("a", 0, 1)], [Event("a", 30_000, 1)], [Event("b", 30_000, 1)], [Event("a", 19_999, 2)]])
@settings(
    max_examples=examples(2, 7),
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_late_records_are_dead_letters_for_each_window_of_the_model(engine: MemoryEngine, batches: Batches) -> None:
    dead = [record for record in output(engine, LATE_PLAN, batches) if record.topic == "dead"]
    windows = [dict(record.headers)["lsql.error.window"] for record in dead]
    missed = sum(len((window or b"").split(b", ")) for window in windows)
    assert missed == model_output(batches, TUMBLE).late + model_output(batches, HOP).late


def test_the_model_drops_late_records_for_each_window_separately() -> None:
    late = [Event("a", 20_000, 2), Event("a", 29_999, 2)]
    batches = [[Event("a", 20_000, 1)], [Event("a", 35_000, 1)], late, late]
    assert model_output(batches, TUMBLE).late == 2
    assert model_output(batches, HOP).late == 3 + 1
