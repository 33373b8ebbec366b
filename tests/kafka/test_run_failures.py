"""Records that make the program fail, and records that a target refuses."""

import json
import uuid
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from devkit.broker import Broker
from devkit.in_process import InProcess, in_process
from devkit.records import Record
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.events.state import State
from lsql_runner.status.model import Status

pytestmark = pytest.mark.timeout(180)


LONG = "".join(uuid.uuid4().hex for _ in range(40))
"""Longer than the limit of a record, even if compressed."""


def values(*ids: int, **more: str) -> list[Record]:
    return [Record(None, json.dumps({"id": number, "n": "1"} | more).encode(), partition=1) for number in ids]


def set_max_message_bytes(broker: Broker, topic: str, max_bytes: int) -> None:
    """Set the size of the largest batch of records that a topic accepts."""
    entry = ConfigEntry("max.message.bytes", str(max_bytes), incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.incremental_alter_configs([resource])[resource].result(30)


@dataclass(frozen=True)
class Casting:
    """A program that casts text to a number, with unique topics and two records read."""

    broker: Broker
    engine: SparkEngine
    state_dir: Path
    mark: str

    @property
    def source(self) -> str:
        return f"in-{self.mark}"

    @property
    def target(self) -> str:
        return f"out-{self.mark}"

    def run(self, fields: str = "id, CAST(n AS int) AS n, text") -> AbstractContextManager[InProcess]:
        sql = f"INSERT INTO {self.target} SELECT STREAM {fields} FROM {self.source}"
        schema = {"id": "long", "n": "string", "text": "string"}
        topics = json.dumps({self.source: {"value": {"format": "JSON", "schema": schema}}})
        return in_process(
            self.engine, self.broker.bootstrap, sql, f"app-{self.mark}", self.state_dir, LSQL_TOPICS=topics
        )

    def feed(self, *records: Record) -> None:
        self.broker.produce(self.source, records)

    def written(self) -> list[int]:
        return [json.loads(record.value or b"")["id"] for record in self.broker.consume_all(self.target)]


@pytest.fixture
def casting(broker: Broker, engine: SparkEngine, tmp_path: Path) -> Casting:
    made = Casting(broker, engine, tmp_path, uuid.uuid4().hex[:8])
    broker.create_topic(made.source, 2)
    broker.create_topic(made.target)
    made.feed(*values(1, 2))
    return made


def test_a_target_that_refuses_a_record_is_retried(casting: Casting) -> None:
    with casting.run() as running:
        running.read_to(2)
        set_max_message_bytes(casting.broker, casting.target, 400)
        casting.feed(*values(3))
        running.read_to(3)
        casting.feed(*values(4, text=LONG))

        status = running.wait_for(lambda s: s.state is State.RESTARTING)

        assert status.reason is not None
        assert (status.reason.code, "larger" in status.reason.message) == ("QUERY_FAILED", True)
        assert codes(running) == ["query-died"]
        set_max_message_bytes(casting.broker, casting.target, 1_000_000)
        recovered = running.read_to(4)
        assert recovered.restarts >= 1
        assert set(casting.written()) == {1, 2, 3, 4}
        assert codes(running) == []


def test_good_records_in_a_batch_with_one_that_is_too_large_are_written(casting: Casting) -> None:
    """The producer puts them into one batch, and must split the batch."""
    set_max_message_bytes(casting.broker, casting.target, 400)
    casting.feed(*values(*range(3, 100)), *values(100, text=LONG))

    with casting.run() as running:
        status = running.wait_for(lambda s: s.state is State.RESTARTING, 30)

        assert status.reason is not None
        assert "larger" in status.reason.message
        set_max_message_bytes(casting.broker, casting.target, 1_000_000)
        running.read_to(100)
    assert set(casting.written()) == set(range(1, 101))


def test_a_record_that_fails_ends_the_program_and_a_changed_program_reads_it(casting: Casting) -> None:
    with casting.run() as running:
        running.read_to(2)
        casting.feed(*values(5), *values(6, n="abc"), *values(7))

        refused = running.wait_for(lambda s: s.state is State.FAILED)

        assert_location(refused, "RECORD_REFUSED", casting.source, offset=3)
        assert codes(running) == ["failed"]
        assert not {6, 7} & set(casting.written())

    with casting.run("id, n") as running:
        running.read_to(5)
    assert sorted(set(casting.written())) == [1, 2, 5, 6, 7]


def test_a_malformed_record_ends_the_program_and_is_located(casting: Casting) -> None:
    with casting.run() as running:
        running.read_to(2)
        casting.feed(*values(8), Record(None, b'{"id": 9, ', partition=1), *values(10))

        malformed = running.wait_for(lambda s: s.state is State.FAILED)

        assert_location(malformed, "RECORD_MALFORMED", casting.source, offset=3)
        assert codes(running) == ["failed"]
        assert not {9, 10} & set(casting.written())


def codes(running: InProcess) -> list[str]:
    return [reason.code for reason in running.supervisor.health().reasons]


def assert_location(status: Status, code: str, topic: str, offset: int) -> None:
    assert status.reason is not None
    params = status.reason.params
    assert (status.reason.code, params["topic"], params["partition"], params["offset"]) == (code, topic, 1, offset)
