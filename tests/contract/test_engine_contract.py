"""The fake engine fulfils the contract. tests/kafka runs it on Spark with a real broker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from devkit.fake_brokers import SERVERS, FakeBrokers
from devkit.fake_engine import FakeEngine
from lsql_runner.kafka.connection import KafkaConnection
from tests.contract.engine_contract import VALUE, EngineContract


class FakeEngineUnderTest:
    connection = KafkaConnection(SERVERS)
    source, target = "in", "out"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.continuous = False
        self.brokers = FakeBrokers()
        self.brokers.add_topic(self.source, 2)
        self.brokers.add_topic(self.target)
        self.engine = FakeEngine(self.brokers)

    def produce(self, count: int, partition: int = 0) -> None:
        self.brokers.produce(self.source, *[(b"k", VALUE)] * count, partition=partition)

    def read(self, done: Callable[[], bool]) -> None:
        self.engine.run_batches()
        assert done()


@pytest.fixture
def subject(tmp_path: Path) -> FakeEngineUnderTest:
    return FakeEngineUnderTest(tmp_path)


class TestEngine(EngineContract):
    pass
