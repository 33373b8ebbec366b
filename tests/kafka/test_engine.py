"""Spark on a real broker passes the contract of the engine, on which the tests of the runtime rely."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.records import Record
from lsql_runner.engine.port import Engine, Marking
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.connection import KafkaConnection
from tests.conftest import TopicFactory
from tests.contract.engine_contract import VALUE, Batches, EngineContract, job

pytestmark = pytest.mark.timeout(120)

DEADLINE_S = 60.0
POLL_S = 0.02


class SparkUnderTest:
    def __init__(
        self, engine: SparkEngine, broker: Broker, topic: TopicFactory, folder: Path, continuous: bool
    ) -> None:
        self.engine: Engine = engine
        self.continuous = continuous
        self.connection = KafkaConnection(broker.bootstrap)
        self.source, self.target = topic("in", 2), topic("out")
        self.folder = folder
        self._broker = broker

    def produce(self, count: int, partition: int = 0) -> None:
        self._broker.produce(self.source, [Record(b"k", VALUE, partition=partition)] * count)

    def written(self) -> list[Record]:
        return self._broker.consume_all(self.target)

    def read(self, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not done():
            assert time.monotonic() < deadline, self.engine.death({}, dict)
            time.sleep(POLL_S)


@pytest.fixture(params=["batches", "continuous"])
def subject(
    request: pytest.FixtureRequest, engine: SparkEngine, broker: Broker, topic: TopicFactory, tmp_path: Path
) -> Iterator[SparkUnderTest]:
    yield SparkUnderTest(engine, broker, topic, tmp_path, request.param == "continuous")
    engine.stop()


class TestEngine(EngineContract):
    def test_records_with_marks_are_read_once_and_leave_no_mark(self, subject: SparkUnderTest) -> None:
        file = subject.folder / "mark.json"
        marks = Marking(file, offsets=2)
        batches = Batches()
        plain = job(subject, batches)
        subject.produce(3)
        subject.produce(1, partition=1)
        subject.engine.start(replace(plain, source=replace(plain.source, marking=marks)))
        subject.read(lambda: batches.records >= 4)

        subject.produce(2, partition=1)  # without marks
        subject.read(lambda: batches.records >= 6)
        subject.engine.stop()

        assert (batches.records, file.read_text().strip()) == (6, "{}")
        assert batches.positions == {Partition(subject.source, 0): 3, Partition(subject.source, 1): 3}
        assert len(subject.written()) == 6
