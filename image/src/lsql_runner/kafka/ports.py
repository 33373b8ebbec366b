"""What a processor needs of its brokers, as one protocol for each kind of caller, and the data that they exchange.

`librdkafka.KafkaBrokers` and `java_brokers.JavaBrokers` implement all of it; devkit/fake_brokers.py holds an
implementation in memory. tests/contract runs one suite on all three.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from lsql_runner.events.batches import Partition


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A record as the brokers hold it."""

    partition: Partition
    offset: int
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class TopicRequest:
    """A topic to create; None and the empty tuple leave the choice to the brokers."""

    name: str
    partitions: int | None = None
    replication: int | None = None
    config: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class TopicLimits:
    """Which records a topic accepts; a default where the brokers do not say."""

    batch_bytes: int | None = None
    """The largest batch of records."""
    compacted: bool = False
    """No record without a key."""


class TopicReader(Protocol):
    """Topics, offsets and records, without joining a consumer group.

    Raises:
        LsqlError: BROKER_UNREACHABLE or BROKER_REFUSED, from every method.
    """

    def topics(self) -> dict[str, int]:
        """All topics with the number of their partitions."""

    def begins(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """The first offset of each partition that the brokers still hold."""

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """The end of each partition: the offset that the next record will have."""

    def sample(self, topic: str, limit: int) -> list[RawRecord]:
        """Up to `limit` of the newest records of a topic, over all its partitions."""

    def record(self, partition: Partition, offset: int) -> RawRecord | None:
        """One record; None if it is gone or does not exist yet."""


class GroupPositions(Protocol):
    """The committed offsets of consumer groups without members.

    Raises:
        LsqlError: BROKER_UNREACHABLE or BROKER_REFUSED, from every method.
    """

    def group_positions(self, group: str, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """What a consumer group has committed; partitions without a position are left out."""

    def commit(self, group: str, positions: Mapping[Partition, int]) -> None:
        """Commit positions for a group."""

    def delete_group(self, group: str) -> None:
        """Delete a consumer group; a group that does not exist is no error."""


class TopicAdmin(Protocol):
    """Creates, deletes and describes topics.

    Raises:
        LsqlError: BROKER_UNREACHABLE or BROKER_REFUSED, from every method but `limits`.
    """

    def check_create(self, request: TopicRequest) -> None:
        """Let the brokers check a request; nothing is created. A topic that exists is no error.

        Raises:
            LsqlError: TOPIC_REFUSED where `create` would be refused.
        """

    def create(self, request: TopicRequest) -> bool:
        """Create a topic. A topic that exists is left unchanged, and False is returned.

        Raises:
            LsqlError: TOPIC_REFUSED.
        """

    def delete_topic(self, name: str) -> None:
        """Delete a topic with all its records; a topic that does not exist is no error."""

    def limits(self, topics: Iterable[str]) -> dict[str, TopicLimits]:
        """Which records topics accept, without the topics that may not be described. Never raises: the limits are
        used to find a record that is too large early, and the producer finds it otherwise."""


class Brokers(TopicReader, GroupPositions, TopicAdmin, Protocol):
    """One connection to the brokers, for all callers."""

    def close(self) -> None:
        """Close all connections. No other method may be called afterwards."""
