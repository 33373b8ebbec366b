"""The requests of a processor to its brokers, as one protocol for each group of callers.

`librdkafka.LibrdkafkaBrokers` and `java_brokers.JavaBrokers` implement all protocols; devkit/fake_brokers.py is an
implementation in memory. tests/contract and tests/kafka run one suite on all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, Protocol

from lsql_runner.events.batches import Partition


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A record as the brokers hold it."""

    partition: Partition
    offset: int
    key: bytes | None
    value: bytes | None

    @property
    def size(self) -> int:
        """The bytes of key and value."""
        return len(self.key or b"") + len(self.value or b"")


@dataclass(frozen=True, slots=True)
class TopicRequest:
    """A topic to create; None and the empty tuple leave the choice to the brokers."""

    name: str
    partitions: int | None = None
    replication: int | None = None
    config: tuple[tuple[str, str], ...] = ()


NO_LIMIT_MS = 2**63 - 1
NO_METADATA: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class TopicLimits:
    """Which records a topic accepts. Limits that the brokers do not report have their defaults."""

    batch_bytes: int | None = None
    """The largest batch of records; None if unknown."""
    compacted: bool = False
    """Whether the topic is compacted, and so rejects records without a key."""
    before_ms: int | None = None
    """How far a timestamp may be behind the broker's clock; None if unknown."""
    after_ms: int | None = None
    """How far a timestamp may be ahead of the broker's clock; None if unknown."""


class TopicReader(Protocol):
    """Topics, offsets and records, without joining a consumer group.

    Raises:
        LsqlError: BROKER_UNREACHABLE or BROKER_REFUSED from every method.
    """

    def topics(self) -> dict[str, int]:
        """All topics with the number of their partitions."""

    def topic_ids(self, topics: Iterable[str]) -> dict[str, str]:
        """The ids of topics: 32 hexadecimal digits that change when a topic is deleted and created again, or empty if
        the brokers have none (before Kafka 2.8). Topics that do not exist are left out."""

    def begins(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """The first offset of each partition that the brokers still hold."""

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """The end of each partition: the offset that the next record will have."""

    def since(self, partitions: Iterable[Partition], time_ms: int) -> dict[Partition, int]:
        """The first offset of each partition whose record has at least a timestamp, in milliseconds since 1970 UTC; the
        end of a partition without such a record."""

    def sample(self, topic: str, limit: int) -> list[RawRecord]:
        """Up to `limit` of the newest records of a topic, over all its partitions; fewer if they are large."""

    def record(self, partition: Partition, offset: int) -> RawRecord | None:
        """One record; None if it was deleted or does not exist yet."""


class GroupPositions(Protocol):
    """The committed offsets of consumer groups without members.

    Raises:
        LsqlError: BROKER_UNREACHABLE or BROKER_REFUSED from every method; the reason of a refusal names the group.
    """

    def group_positions(self, group: str, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """The committed offsets of a consumer group, without partitions that have none."""

    def group_metadata(self, group: str, partitions: Iterable[Partition]) -> dict[Partition, str]:
        """The metadata that the offsets of a consumer group were committed with, where it is not empty."""

    def commit(self, group: str, positions: Mapping[Partition, int], metadata: Mapping[str, str] = NO_METADATA) -> None:
        """Commit offsets for a group, each with the metadata of its topic, if there is one.

        Raises:
            LsqlError: GROUP_IN_USE if the group has members.
        """

    def delete_group(self, group: str) -> None:
        """Delete a consumer group. It is not an error if the group does not exist."""


class TopicAdmin(Protocol):
    """Creates, deletes and describes topics.

    Raises:
        LsqlError: BROKER_UNREACHABLE or BROKER_REFUSED from every method except `limits`.
    """

    def check_create(self, request: TopicRequest) -> None:
        """Let the brokers validate a request without creating a topic. It is not an error if the topic exists.

        Raises:
            LsqlError: TOPIC_REFUSED if the brokers would refuse `create`.
        """

    def create(self, request: TopicRequest) -> bool:
        """Create a topic. Returns False, and changes nothing, if the topic exists.

        Raises:
            LsqlError: TOPIC_REFUSED.
        """

    def delete_topic(self, name: str) -> None:
        """Delete a topic with all its records. It is not an error if the topic does not exist."""

    def limits(self, topics: Iterable[str]) -> dict[str, TopicLimits]:
        """Which records topics accept. Topics that the client may not describe are left out. Never raises: the limits
        only serve to detect records that are too large earlier than the producer does."""


Right = Literal["Read", "Write", "DescribeConfigs"]
"""An operation that an ACL allows on a topic. Read and Write include Describe."""


class AccessChecks(Protocol):
    """Checks rights of the client before it uses them. Writes no record.

    Raises:
        LsqlError: BROKER_UNREACHABLE, or BROKER_REFUSED if a right is missing, from every method.
    """

    def check_topics(self, rights: Mapping[str, Collection[Right]]) -> None:
        """Check rights on topics, by topic. Topics that do not exist are not checked, and nothing is on brokers that do
        not report rights."""

    def check_group(self, name: str) -> None:
        """Check that the client may read and commit positions of a consumer group; the group need not exist. Nothing is
        checked on brokers that do not report rights."""

    def check_transactional_id(self, name: str) -> None:
        """Check that the client may write transactions with a transactional id.

        A producer with this id cannot write any more afterwards.
        """


class Brokers(TopicReader, GroupPositions, TopicAdmin, AccessChecks, Protocol):
    """One connection to the brokers, for all callers."""

    def close(self) -> None:
        """Close all connections. No other method may be called afterwards."""
