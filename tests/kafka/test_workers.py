"""`lsql run` with `lsql worker` in processes of their own: schemas, dead letters, a topic that is created again.
tests/faults has their kills.

Only real executors show it: they are other JVMs, which keep their producers when the driver gives their tasks away. The
processor is a process too, because a Python process has one session of Spark.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from devkit.avro import encoded
from devkit.broker import Broker
from devkit.records import Record
from devkit.registry import Registry
from tests.conftest import TopicFactory
from tests.kafka.load_of_workers import DEADLINE_S, with_workers

pytestmark = pytest.mark.timeout(600)


def test_workers_read_schemas_and_write_dead_letters_and_stop_at_a_topic_that_was_created_again(
    broker: Broker, registry: Registry, topic: TopicFactory, tmp_path: Path
) -> None:
    """One test, because workers take a minute to start."""
    orders, ids, dead, source, target = (topic() for _ in range(5))
    schema = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]})
    schema_id = registry.register(f"{orders}-value", schema)
    valid = Record(b"k", encoded(schema, schema_id, {"id": 7}))
    malformed = Record(b"k", encoded(schema, schema_id, {"id": 8})[:-1])
    broker.produce(orders, [valid, malformed])
    values = [b'{"id": %d}' % number for number in range(8)]
    broker.produce(source, [Record(b"k", value) for value in values[:2]])
    sql = f"""SET error.policy=dlq; SET dead.letter.queue='{dead}';
        INSERT INTO {ids} STORE VALUE AS JSON SELECT STREAM id + 1 AS id FROM {orders};
        INSERT INTO {target} SELECT STREAM * FROM {source}"""

    with with_workers(broker, sql, f"app-{source}", tmp_path, SQL_SCHEMA_REGISTRY_URL=registry.url) as (runner, _, _):
        runner.read_to(4, DEADLINE_S)
        broker.delete_topic(source)
        broker.create_topic(source)
        broker.produce(source, [Record(b"k", value) for value in values[2:]])
        runner.reach("failed", DEADLINE_S)

    assert [json.loads(record.value or b"") for record in broker.consume_all(ids)] == [{"id": 8}]
    assert [record.value for record in broker.consume_all(dead)] == [malformed.value]
    assert [record.value for record in broker.consume_all(target)] == values[:2]
