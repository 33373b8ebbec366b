"""What a processor does about a record that it cannot take, and about a target that cannot take its record."""

import json
import uuid
from pathlib import Path

import pytest
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from tests.kit.broker import Broker
from tests.kit.records import Record
from tests.kit.runner import Runner, Stream

pytestmark = pytest.mark.timeout(400)


LONG = "".join(uuid.uuid4().hex for _ in range(40))
"""More than a small record may hold, also when it is compressed."""


def values(*ids: int, **more: str) -> list[Record]:
    return [Record(None, json.dumps({"id": number, "n": "1"} | more).encode(), partition=1) for number in ids]


def written(broker: Broker, topic: str) -> list[int]:
    return [json.loads(record.value or b"")["id"] for record in broker.consume_all(topic)]


def allow(broker: Broker, topic: str, max_bytes: int) -> None:
    """Sets the largest record that a topic takes."""
    entry = ConfigEntry("max.message.bytes", str(max_bytes), incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.incremental_alter_configs([resource])[resource].result(30)


def test_a_target_that_refuses_is_tried_again_and_a_record_that_cannot_be_taken_ends_it(
    broker: Broker, tmp_path: Path
) -> None:
    mark = uuid.uuid4().hex[:8]
    source, target, app_id = f"in-{mark}", f"out-{mark}", f"fail-{mark}"
    broker.create_topic(source, 2)
    broker.create_topic(target)
    broker.produce(source, values(1, 2))
    casting = f"INSERT INTO {target} SELECT STREAM id, CAST(n AS int) AS n, text FROM {source}"
    declared = {source: {"value": {"format": "JSON", "schema": {"id": "long", "n": "string", "text": "string"}}}}

    with Runner(broker.bootstrap, casting, app_id, tmp_path, LSQL_TOPICS=json.dumps(declared)) as runner:
        runner.read_to(2)
        it_outlives_a_target_that_refuses(broker, runner, source, target)

        broker.produce(source, [*values(5), *values(6, n="abc"), *values(7)])
        refused = runner.reach("failed")
        assert_place(refused, "RECORD_REFUSED", source, offset=5)
        assert runner.health() == (503, ["failed"])
        assert not {6, 7} & set(written(broker, target))
        assert runner.traces() == []

    tolerant = f"INSERT INTO {target} SELECT STREAM id, n FROM {source}"
    with Runner(broker.bootstrap, tolerant, app_id, tmp_path, LSQL_TOPICS=json.dumps(declared)) as runner:
        runner.read_to(7)
        assert sorted(set(written(broker, target))) == [1, 2, 3, 4, 5, 6, 7]

        broker.produce(source, [*values(8), Record(None, b'{"id": 9, ', partition=1), *values(10)])
        malformed = runner.reach("failed")
        assert_place(malformed, "RECORD_MALFORMED", source, offset=8)
        assert runner.health() == (503, ["failed"])
        assert not {9, 10} & set(written(broker, target))

        assert runner.post("/start").status == 202
        again = runner.wait_for(lambda s: s["state"] == "failed" and s["since"] != malformed["since"])
        assert_place(again, "RECORD_MALFORMED", source, offset=8)
        assert runner.traces() == []


def it_outlives_a_target_that_refuses(broker: Broker, runner: Runner, source: str, target: str) -> None:
    allow(broker, target, 400)
    broker.produce(source, values(3))
    runner.read_to(3)
    broker.produce(source, values(4, text=LONG))

    restarting = runner.reach("restarting")

    assert restarting["reason"]["code"] == "QUERY_FAILED"
    assert "larger" in restarting["reason"]["message"]
    assert runner.health() == (503, ["query-died"])
    allow(broker, target, 1_000_000)
    recovered = runner.read_to(4)
    assert recovered["restarts"] >= 1
    assert runner.metrics()["lsql_restarts_total"] == recovered["restarts"]
    assert runner.metrics()["lsql_errors_total"] >= 1
    assert set(written(broker, target)) == {1, 2, 3, 4}
    assert runner.health() == (200, [])


def assert_place(stream: Stream, code: str, topic: str, offset: int) -> None:
    reason = stream["reason"]
    place = {name: reason["params"][name] for name in ("topic", "partition", "offset")}
    assert (reason["code"], place) == (code, {"topic": topic, "partition": 1, "offset": offset})
