"""When a batch begins: as soon as one of the partitions has records, whatever the others do.

Only a real broker shows it: it holds the request of a consumer until there are records.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.in_process import in_process
from devkit.records import Record
from lsql_runner.engine.processor import SparkEngine
from tests.conftest import TopicFactory

pytestmark = pytest.mark.timeout(200)

DEADLINE_S = 5
"""Half of what a request to a broker may wait for records."""


def test_idle_partitions_do_not_delay_the_records_of_another_one(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    busy, idle, target = topic(partitions=3), topic(), topic()
    sql = (
        "SET processing.mode='batch'; SET processing.pace='20ms';"
        f"INSERT INTO {target} SELECT STREAM * FROM {busy}; INSERT INTO {target} SELECT STREAM * FROM {idle}"
    )
    for source in (busy, idle):
        broker.produce(source, [Record(b"k", b'{"id": 0}', partition=0)])
    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        running.read_to(2)
        position = 2
        for value in (b'{"id": 1}', b'{"id": 1}', None, b'{"id": 1}'):
            for count in (1, 3):  # records that the producer sends as one batch
                broker.produce(busy, [Record(None if value is None else b"k", value, partition=0)] * count)
                position += count
                running.read_to(position, DEADLINE_S)
