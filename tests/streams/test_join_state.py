"""The state of a join of streams is bounded: rows leave it once the time of either topic has passed their window.

Only Spark removes rows from its state stores, and only its reports have their numbers.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lsql_runner.compile.dead_letters import OutputContext
from lsql_runner.compile.ticks import reset
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.engine.in_memory.queries import MemoryQueries
from lsql_runner.engine.rows import TopicRecord
from lsql_runner.formats.catalog import Catalog
from lsql_runner.formats.declared import declared_topics
from lsql_runner.pipeline import plan_text

pytestmark = pytest.mark.timeout(300)

_TOPIC = {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": {"id": "long"}}}
CATALOG = Catalog(declared_topics({"l": _TOPIC, "r": _TOPIC}))
BATCHES = 4
RECORDS = 5
"""In each batch. One minute is between the batches; records match within 10 seconds and may be 5 seconds late."""


def rows_of_state(session: SparkSession) -> int:
    """The rows in the state stores after the last batch of the only query."""
    [query] = session.streams.active
    reports = [json.loads(report.json) for report in query.recentProgress]
    return sum(store["numRowsTotal"] for store in reports[-1]["stateOperators"])


@pytest.mark.parametrize(("kind", "moving"), [("INNER", "r"), ("LEFT", "l"), ("FULL", "r")])
def test_the_state_has_the_rows_of_one_window_while_the_other_topic_is_empty(
    engine: MemoryEngine, tmp_path: Path, kind: str, moving: str
) -> None:
    plan = plan_text(
        "SET defaults.topic.autocreate=true; SET grace='5s'; "
        f"INSERT INTO o SELECT STREAM l.id AS a, r.id AS b FROM l {kind} JOIN r ON l.id = r.id WITHIN 10s",
        CATALOG,
    ).plan
    reset()
    queries = MemoryQueries(engine.session, OutputContext(), None)
    queries.start(plan, tmp_path)
    sizes = []
    try:
        for batch in range(BATCHES):
            records = [
                TopicRecord(
                    topic=moving,
                    key=b"k",
                    value=b'{"id":%d}' % number,
                    timestamp_ms=60_000 * (batch + 1) + number,
                    offset=RECORDS * batch + number,
                )
                for number in range(RECORDS)
            ]
            assert queries.read(batch, records) is None
            sizes.append(rows_of_state(engine.session))
    finally:
        queries.stop()

    assert sizes[0] >= RECORDS
    assert max(sizes) <= 2 * sizes[0], sizes
