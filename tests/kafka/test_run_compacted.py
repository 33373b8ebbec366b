"""Compacted target topics on a real broker: tables are written to them, and records without a key are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType  # type: ignore[attr-defined]

from devkit.broker import Broker
from devkit.in_process import in_process
from devkit.records import Record
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.events.state import State
from tests.conftest import TopicFactory

pytestmark = pytest.mark.timeout(400)


def person(key: bytes | None, country: str | None) -> Record:
    return Record(key, json.dumps({"country": country}).encode(), partition=0)


def cleanup_policy(broker: Broker, topic: str) -> str:
    admin, resource = AdminClient({"bootstrap.servers": broker.bootstrap}), ConfigResource(ResourceType.TOPIC, topic)
    return str(admin.describe_configs([resource])[resource].result(30)["cleanup.policy"].value)


def written(broker: Broker, topic: str) -> list[tuple[bytes | None, object]]:
    return [(record.key, json.loads(record.value or b"null")) for record in broker.consume_all(topic)]


def test_a_table_is_written_to_a_compacted_topic_without_the_group_that_has_no_key(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source = topic()
    table, windows = f"{source}-table", f"{source}-windows"
    broker.produce(source, [person(b"1", "it"), person(b"2", None), person(b"3", "it")])
    sql = (
        f"SET autocreate=true; INSERT INTO `{table}` SELECT TABLE COUNT(*) AS n FROM {source} GROUP BY country;"
        f" INSERT INTO `{windows}` SELECT STREAM COUNT(*) AS n FROM {source} WINDOW BY TUMBLE 1h GROUP BY country"
    )

    with in_process(engine, broker.bootstrap, sql, f"app-{source}", tmp_path) as running:
        status = running.read_to(3)

    assert (cleanup_policy(broker, table), cleanup_policy(broker, windows)) == ("compact", "delete")
    assert written(broker, table) == [(b"it", {"n": 2})]
    assert status.last_error is None
    assert status.failed_records == {("skipped", table, "RECORD_WITHOUT_KEY"): 1}


def test_a_record_of_a_stream_without_a_key_is_an_error_that_names_it(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = topic(), topic(config={"cleanup.policy": "compact"})
    broker.produce(source, [person(b"1", "it"), person(None, "fr")])

    with in_process(
        engine, broker.bootstrap, f"INSERT INTO {target} SELECT STREAM country FROM {source}", f"app-{target}", tmp_path
    ) as running:
        status = running.wait_for(lambda status: status.state == State.FAILED)

    assert status.last_error is not None
    assert (status.last_error.code, status.last_error.params["offset"]) == ("RECORD_REFUSED", 1)
    assert target in str(status.last_error.params["reason"])


def test_with_dlq_a_record_without_a_key_is_a_dead_letter(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target, dead = topic(), topic(config={"cleanup.policy": "compact"}), topic()
    broker.produce(source, [person(b"1", "it"), person(None, "fr"), person(b"3", "de")])
    sql = (
        f"SET error.policy=dlq; SET dead.letter.queue='{dead}';"
        f" INSERT INTO {target} SELECT STREAM country FROM {source}"
    )

    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        status = running.read_to(3)

    assert status.last_error is None
    assert written(broker, target) == [(b"1", {"country": "it"}), (b"3", {"country": "de"})]
    assert written(broker, dead) == [(None, {"country": "fr"})]
