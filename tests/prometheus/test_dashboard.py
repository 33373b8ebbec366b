"""The dashboard on a real Prometheus that scrapes a real processor.

Only a real server shows that each query has data: the tables of metrics do not join series, and a counter with labels
has no series before its first event.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.helm import CHART
from devkit.prometheus import Prometheus
from devkit.records import Record
from devkit.runner import Runner

pytestmark = pytest.mark.timeout(300)

DEADLINE_S = 120
POLL_S = 0.5
NEW_MS, OLD_MS = 1_700_003_600_000, 1_700_000_000_000
INCOMPRESSIBLE = random.Random(1).randbytes(3_000).hex()
LABELS = {"namespace": "fleet", "app": "fast-vehicles"}
VARIABLES = {"$namespace": ".*", "$processor": ".*", "$__rate_interval": "30s"}
# With a pace, the windows have batches: event time advances, and records are late, within a few of them.
SQL = """
SET processing.pace='200ms';
SET autocreate=true;
SET error.policy.read='dlq';
SET dead.letter.queue='letters';
SET error.policy.write='continue';

INSERT INTO small SELECT STREAM * FROM numbers;

INSERT INTO per_minute SELECT STREAM n, COUNT(*) AS records FROM numbers WINDOW BY TUMBLE 1m GRACE BY 1s GROUP BY n;
"""
TOPICS = json.dumps({"numbers": {"value": {"format": "JSON", "schema": {"n": "string not null"}}}})


def panel_queries() -> dict[str, str]:
    """The queries of the dashboard by panel and target, with values for the variables."""
    dashboard = json.loads((CHART / "files/dashboard.json").read_text(encoding="utf-8"))
    queries = {}
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            query = target["expr"]
            for name, value in VARIABLES.items():
                query = query.replace(name, value)
            queries[f"{panel['title']} {target['refId']}"] = query
    return queries


def records() -> Iterator[Record]:
    """Records of a later hour, then late ones. The first is malformed, and the second is too large for its target."""
    yield Record(None, b"not JSON", timestamp_ms=NEW_MS)
    yield Record(None, json.dumps({"n": INCOMPRESSIBLE}).encode(), timestamp_ms=NEW_MS)
    for number in range(100):
        yield Record(None, json.dumps({"n": str(number % 7)}).encode(), timestamp_ms=NEW_MS if number < 50 else OLD_MS)


@contextmanager
def closing_broker(broker: Broker) -> Iterator[None]:
    """Stops the broker after the block, in which it may be started: after a processor, which would wait for it."""
    try:
        yield
    finally:
        broker.stop()


def test_every_query_of_the_dashboard_has_data(tmp_path: Path) -> None:
    """All kinds of events happen: brokers that do not respond, lag, late records, dead letters, skipped records."""
    broker = Broker()
    with broker:
        broker.create_topic("numbers")
        broker.create_topic("small", config={"max.message.bytes": "2000"})
        broker.produce("numbers", list(records()))
    runner = Runner(
        broker.bootstrap, SQL, "fast-vehicles", tmp_path, LSQL_TOPICS=TOPICS, LSQL_MAX_RECORDS_PER_BATCH="20"
    )
    with closing_broker(broker), runner, Prometheus(f"127.0.0.1:{runner.port}", LABELS) as prometheus:
        runner.reach("waiting")
        broker.start()
        empty = panel_queries()
        deadline = time.monotonic() + DEADLINE_S
        while empty and time.monotonic() < deadline:
            empty = {panel: query for panel, query in empty.items() if not prometheus.series(query)}
            time.sleep(POLL_S)
        assert empty == {}, runner.stream()["reason"]
