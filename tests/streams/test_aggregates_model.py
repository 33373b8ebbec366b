"""Aggregates that keep values, compared with a Python model for random orders, lateness, batches and restarts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from devkit.aggregate_model import AGGREGATES, Row, aggregates_of
from devkit.window_model import ModelWindow, WindowKey, model_output_with
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.engine.rows import TopicRecord
from lsql_runner.formats.catalog import Catalog
from lsql_runner.formats.declared import declared_topics
from lsql_runner.pipeline import plan_text
from tests.thorough import examples

pytestmark = pytest.mark.timeout(240)  # each example starts streaming queries

TUMBLE = ModelWindow(size_ms=10_000, advance_ms=10_000, grace_ms=5_000)
HOP = ModelWindow(size_ms=10_000, advance_ms=4_000, grace_ms=5_000)
FIELDS = ", ".join(f"{call} AS {name}" for name, call in AGGREGATES.items())
PLAN = plan_text(
    f"""
    INSERT INTO always SELECT STREAM {FIELDS} FROM t GROUP BY g;
    INSERT INTO tumbled SELECT STREAM {FIELDS} FROM t WINDOW BY TUMBLE 10s GRACE BY 5s GROUP BY g;
    INSERT INTO hopped SELECT STREAM {FIELDS} FROM t WINDOW BY HOP 10s,4s GRACE BY 5s GROUP BY g;
    """,
    Catalog(
        declared_topics(
            {"t": {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": {"g": "string", "v": "int"}}}}
        )
    ),
).plan

Batches = list[list[Row]]
# Few times and few values, so that both are often equal.
times = st.one_of(st.sampled_from([0, 1, 3_999, 4_000, 9_999, 10_000, 15_000, 20_000]), st.integers(0, 40_000))
rows = st.builds(
    Row,
    key=st.sampled_from(["a", "b"]),
    at_ms=times,
    partition=st.integers(0, 2),
    offset=st.integers(0, 1_000),
    value=st.one_of(st.none(), st.integers(-3, 3)),
)
arrivals = st.lists(rows, min_size=6, max_size=24, unique_by=lambda row: (row.partition, row.offset))
REVERSED = [Row(key="a", at_ms=7_000 - n * 500, partition=n % 2, offset=90 - n, value=n % 4) for n in range(12)]


def divided(arrived: list[Row], size: int) -> Batches:
    return [arrived[start : start + size] for start in range(0, len(arrived), size)]


def changelogs(engine: MemoryEngine, batches: Batches, restarts: set[int]) -> dict[str, dict[WindowKey, list[Any]]]:
    """By target: the changelog of each window; without windows, of each key with the window 0."""
    records = [
        [
            TopicRecord(
                topic="t",
                key=None,
                value=json.dumps({"g": r.key, "v": r.value}).encode(),
                timestamp_ms=r.at_ms,
                partition=r.partition,
                offset=r.offset,
            )
            for r in batch
        ]
        for batch in batches
    ]
    run = engine.run(PLAN, records, restarts=restarts)
    assert run.error is None
    by_target: dict[str, dict[WindowKey, list[Any]]] = {"always": {}, "tumbled": {}, "hopped": {}}
    for record in run.records:
        assert record.key is not None
        assert record.value is not None
        window = 0 if record.topic == "always" else int.from_bytes(record.key[-8:], "big", signed=True)
        name = record.key if record.topic == "always" else record.key[:-8]
        by_target[record.topic].setdefault((name.decode(), window), []).append(json.loads(record.value))
    return by_target


def always(batches: Batches) -> dict[WindowKey, list[Any]]:
    """The changelog of each key without a window."""
    changelog: dict[WindowKey, list[Any]] = {}
    for number, batch in enumerate(batches):
        for key in {row.key for row in batch}:
            seen = [row for earlier in batches[: number + 1] for row in earlier if row.key == key]
            changelog.setdefault((key, 0), []).append(aggregates_of(seen))
    return changelog


@given(arrived=arrivals, size=st.integers(2, 8), restarts=st.sets(st.integers(0, 3), max_size=2))
@example(arrived=REVERSED, size=5, restarts={0})
@example(arrived=[Row(key="a", at_ms=5, partition=0, offset=n, value=None) for n in range(6)], size=3, restarts=set())
@settings(
    max_examples=examples(2, 7),
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_aggregates_have_the_values_of_the_model(
    engine: MemoryEngine, arrived: list[Row], size: int, restarts: set[int]
) -> None:
    batches = divided(arrived, size)
    by_target = changelogs(engine, batches, restarts)
    assert by_target["always"] == always(batches)
    assert by_target["tumbled"] == model_output_with(batches, TUMBLE, aggregates_of).changelogs
    assert by_target["hopped"] == model_output_with(batches, HOP, aggregates_of).changelogs
