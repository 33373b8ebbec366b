"""The fake brokers fulfil the contract. tests/kafka runs it on all clients with a real broker."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

import pytest

from devkit.fake_brokers import FakeBrokers
from lsql_runner.kafka.ports import Right
from lsql_runner.kafka.rights import operation_of
from tests.contract.brokers_contract import (
    AccessChecksContract,
    GroupPositionsContract,
    TopicAdminContract,
    TopicReaderContract,
    UnreachableBrokersContract,
)


class FakeBrokersUnderTest:
    def __init__(self) -> None:
        self.brokers = FakeBrokers()

    def topic(self, partitions: int = 1, config: Mapping[str, str] | None = None) -> str:
        name = f"topic-{uuid.uuid4().hex[:8]}"
        self.brokers.add_topic(name, partitions, config)
        return name

    def produce(
        self, topic: str, *values: bytes | None, key: bytes | None = b"k", partition: int = 0, at_ms: int | None = None
    ) -> None:
        self.brokers.produce(topic, *((key, value) for value in values), partition=partition, at_ms=at_ms or 0)

    def delete_records(self, topic: str, before: int) -> None:
        self.brokers.delete_records(topic, 0, before)

    @contextmanager
    def member(self, group: str, topic: str) -> Iterator[None]:
        self.brokers.groups_in_use.add(group)
        yield
        self.brokers.groups_in_use.remove(group)


@pytest.fixture
def subject() -> FakeBrokersUnderTest:
    return FakeBrokersUnderTest()


@pytest.fixture
def unreachable() -> FakeBrokers:
    brokers = FakeBrokers()
    brokers.lost()
    return brokers


class TestTopicReader(TopicReaderContract):
    pass


class TestGroupPositions(GroupPositionsContract):
    pass


class TestTopicAdmin(TopicAdminContract):
    pass


class FakeClientWithRights:
    def __init__(self) -> None:
        self.brokers = FakeBrokers()
        self.brokers.transactional_prefixes = set()
        self.brokers.readable_groups = set()

    def topic(self) -> str:
        name = f"topic-{uuid.uuid4().hex[:8]}"
        self.brokers.add_topic(name)
        self.brokers.rights[name] = set()
        return name

    def allow_topic(self, name: str, right: Right) -> None:
        self.brokers.rights.setdefault(name, set()).add(operation_of(right))

    def allow_group(self, name: str, right: Literal["Describe", "Read"]) -> None:
        assert self.brokers.readable_groups is not None
        if right == "Read":
            self.brokers.readable_groups.add(name)

    def allow_transactional_ids(self, prefix: str) -> None:
        assert self.brokers.transactional_prefixes is not None
        self.brokers.transactional_prefixes.add(prefix)


@pytest.fixture
def limited() -> FakeClientWithRights:
    return FakeClientWithRights()


class TestAccessChecks(AccessChecksContract):
    pass


class TestUnreachable(UnreachableBrokersContract):
    pass
