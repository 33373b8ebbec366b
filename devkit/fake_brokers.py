"""Brokers in memory, for tests of the runtime: implements kafka.ports.Brokers.

It passes the suite in tests/contract, as the real clients do on a real broker.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.offset_ranges import OffsetRanges, RangeReader
from lsql_runner.kafka.ports import NO_METADATA, RawRecord, Right, TopicLimits, TopicRequest
from lsql_runner.kafka.reasons import RIGHTS
from lsql_runner.kafka.rights import missing_rights
from lsql_runner.kafka.topic_limits import limits_of

KeyValue = tuple[bytes | None, bytes | None]
SERVERS = "fake:9092"
DEFAULT_CONFIG = {
    "max.message.bytes": "1048588",
    "cleanup.policy": "delete",
    "message.timestamp.type": "CreateTime",
    "message.timestamp.before.max.ms": str(2**63 - 1),
    "message.timestamp.after.max.ms": "3600000",
}
"""The defaults of Kafka."""


@dataclass(kw_only=True)
class FakeTopic:
    """A topic: for each partition its records by offset, and the offset of the next record."""

    records: list[dict[int, KeyValue]]
    ends: list[int]
    times: list[dict[int, int]]
    """For each partition the timestamps of its records, in milliseconds since 1970 UTC."""
    config: dict[str, str] = field(default_factory=dict)
    id: str = field(default_factory=lambda: uuid.uuid4().hex)


class FakeBrokers(RangeReader):
    """Topics, records and positions in dicts.

    Attributes:
        outage: requests raise it while it is set, and `limits` returns nothing. `lost()` and `refused()` set it.
        groups_in_use: the groups that have members, and refuse positions of others.
        changes: a description of each topic that was created or deleted through the port, in order.
        sampled: the topics that `sample` was called for.
        topic_refusal: why no topic can be created; None allows it.
        rights: the operations that are allowed on topics, as `READ`; everything on topics that are not in it.
        readable_groups: the groups that may be read; None allows all.
        transactional_prefixes: the transactional ids that are allowed begin with one of them; None allows all.
    """

    def __init__(self) -> None:
        self.outage: LsqlError | None = None
        self.groups_in_use: set[str] = set()
        self.changes: list[str] = []
        self.sampled: list[str] = []
        self.topic_refusal: str | None = None
        self.rights: dict[str, set[str]] = {}
        self.readable_groups: set[str] | None = None
        self.transactional_prefixes: set[str] | None = None
        self._topics: dict[str, FakeTopic] = {}
        self._positions: dict[str, dict[Partition, int]] = {}
        self._metadata: dict[str, dict[Partition, str]] = {}

    # --- for tests, not through the port ---

    def add_topic(self, name: str, partitions: int = 1, config: Mapping[str, str] | None = None) -> None:
        parts = range(partitions)
        self._topics[name] = FakeTopic(
            records=[{} for _ in parts],
            ends=[0] * partitions,
            times=[{} for _ in parts],
            config=dict(config or {}),
        )

    def produce(self, topic: str, *records: KeyValue, partition: int = 0, at_ms: int = 0) -> None:
        fake_topic = self._topics[topic]
        for record in records:
            fake_topic.times[partition][fake_topic.ends[partition]] = at_ms
            fake_topic.records[partition][fake_topic.ends[partition]] = record
            fake_topic.ends[partition] += 1

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        """Delete the records before an offset, as retention does."""
        records = self._topics[topic].records[partition]
        for offset in [offset for offset in records if offset < before]:
            del records[offset]

    def config(self, topic: str) -> dict[str, str]:
        return self._topics[topic].config

    def lost(self) -> None:
        """From now on no broker responds."""
        self.outage = LsqlError("BROKER_UNREACHABLE", servers=SERVERS, reason="no answer")

    def refused(self) -> None:
        """From now on the brokers refuse every request."""
        self.outage = LsqlError("BROKER_REFUSED", servers=SERVERS, reason="Group authorization failed")

    # --- TopicReader ---

    def topics(self) -> dict[str, int]:
        self._raise_outage()
        return {name: len(topic.ends) for name, topic in self._topics.items()}

    def topic_ids(self, topics: Iterable[str]) -> dict[str, str]:
        self._raise_outage()
        return {name: self._topics[name].id for name in topics if name in self._topics}

    def begins(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        self._raise_outage()
        offsets: dict[Partition, int] = {}
        for place in partitions:
            topic = self._existing(place)
            offsets[place] = min(topic.records[place.partition], default=topic.ends[place.partition])
        return offsets

    def _since(self, partitions: list[Partition], time_ms: int) -> dict[Partition, int]:
        self._raise_outage()
        offsets = {}
        for place in partitions:
            topic = self._existing(place)
            times = topic.times[place.partition]
            newer = (offset for offset in topic.records[place.partition] if times[offset] >= time_ms)
            offsets[place] = min(newer, default=-1)
        return offsets

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        self._raise_outage()
        return {place: self._existing(place).ends[place.partition] for place in partitions}

    def sample(self, topic: str, limit: int) -> list[RawRecord]:
        self.sampled.append(topic)
        return super().sample(topic, limit)

    def _read(self, ranges: OffsetRanges, most_bytes: int) -> list[RawRecord]:
        self._raise_outage()
        all_records = [
            RawRecord(place, offset, *record)
            for place, (start, end) in ranges.items()
            for offset, record in sorted(self._existing(place).records[place.partition].items())
            if start <= offset < end
        ]
        sizes = accumulate(record.size for record in all_records)
        return [record for record, size in zip(all_records, sizes, strict=True) if size - record.size < most_bytes]

    # --- GroupPositions ---

    def group_positions(self, group: str, partitions: Iterable[Partition]) -> dict[Partition, int]:
        self._raise_outage()
        known = self._positions.get(group, {})
        return {place: known[place] for place in partitions if place in known}

    def group_metadata(self, group: str, partitions: Iterable[Partition]) -> dict[Partition, str]:
        self._raise_outage()
        known = self._metadata.get(group, {})
        return {place: known[place] for place in partitions if known.get(place)}

    def commit(self, group: str, positions: Mapping[Partition, int], metadata: Mapping[str, str] = NO_METADATA) -> None:
        self._raise_outage()
        if group in self.groups_in_use:
            raise LsqlError("GROUP_IN_USE", group=group)
        self._positions.setdefault(group, {}).update(positions)
        self._metadata.setdefault(group, {}).update({place: metadata.get(place.topic, "") for place in positions})

    def delete_group(self, group: str) -> None:
        self._raise_outage()
        self._positions.pop(group, None)
        self._metadata.pop(group, None)

    # --- TopicAdmin ---

    def check_create(self, request: TopicRequest) -> None:
        self._raise_outage()
        if request.name in self._topics:
            return
        wrong = [
            f"Invalid value {value} for configuration {key}"
            for key, value in request.config
            if key.endswith((".ms", ".bytes")) and not value.lstrip("-").isdigit()
        ]
        why = self.topic_refusal or next(iter(wrong), None)
        if why is not None:
            raise LsqlError("TOPIC_REFUSED", topic=request.name, reason=why)

    def create(self, request: TopicRequest) -> bool:
        self.check_create(request)
        if request.name in self._topics:
            return False
        self.add_topic(request.name, request.partitions or 1, dict(request.config))
        self.changes.append(f"create {request.name}")
        return True

    def delete_topic(self, name: str) -> None:
        self._raise_outage()
        if self._topics.pop(name, None) is not None:
            self.changes.append(f"delete {name}")

    def limits(self, topics: Iterable[str]) -> dict[str, TopicLimits]:
        if self.outage is not None:
            return {}
        configs = {name: self._topics[name].config for name in topics if name in self._topics}
        return {name: limits_of(DEFAULT_CONFIG | config) for name, config in configs.items()}

    # --- AccessChecks ---

    def check_topics(self, rights: Mapping[str, Collection[Right]]) -> None:
        self._raise_outage()
        granted = {name: allowed for name, allowed in self.rights.items() if name in self._topics}
        if (missing := missing_rights(rights, granted)) is not None:
            raise LsqlError("BROKER_REFUSED", servers=SERVERS, reason=missing)

    def check_group(self, name: str) -> None:
        self._raise_outage()
        if self.readable_groups is not None and name not in self.readable_groups:
            raise LsqlError("BROKER_REFUSED", servers=SERVERS, reason=RIGHTS("GROUP", name=name))

    def check_transactional_id(self, name: str) -> None:
        self._raise_outage()
        if self.transactional_prefixes is not None and not name.startswith(tuple(self.transactional_prefixes)):
            raise LsqlError("BROKER_REFUSED", servers=SERVERS, reason=RIGHTS("TRANSACTIONAL_ID", name=name))

    def close(self) -> None:
        pass

    def _existing(self, place: Partition) -> FakeTopic:
        topic = self._topics.get(place.topic)
        if topic is None or place.partition >= len(topic.ends):
            raise LsqlError("BROKER_UNREACHABLE", servers=SERVERS, reason=f"unknown partition of {place.topic}")
        return topic

    def _raise_outage(self) -> None:
        if self.outage is not None:
            raise self.outage
