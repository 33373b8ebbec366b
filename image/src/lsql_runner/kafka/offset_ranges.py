"""Reads records by offset, with any client that reads a range of offsets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping

from lsql_runner.errors import Detail
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.ports import RawRecord
from lsql_runner.kafka.reasons import REASONS

OffsetRanges = dict[Partition, tuple[int, int]]
"""Offsets by partition: from the first, to the second (exclusive)."""


class RangeReader(ABC):
    """Implements `sample` and `record` of TopicReader with a client's method for reading offset ranges."""

    sample_bytes = 16 << 20
    """A sample ends with the record with which its keys and values have this size, in bytes."""

    @abstractmethod
    def topics(self) -> dict[str, int]: ...

    @abstractmethod
    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]: ...

    @abstractmethod
    def begins(self, partitions: Iterable[Partition]) -> dict[Partition, int]: ...

    def since(self, partitions: Iterable[Partition], time_ms: int) -> dict[Partition, int]:
        asked = list(partitions)
        ends = self.ends(asked)  # before the question: a record that arrives after it is not missed
        return {place: ends[place] if offset < 0 else offset for place, offset in self._since(asked, time_ms).items()}

    @abstractmethod
    def _since(self, partitions: list[Partition], time_ms: int) -> dict[Partition, int]:
        """As `since`, with -1 for partitions without such a record."""

    @abstractmethod
    def _read(self, ranges: OffsetRanges, most_bytes: int) -> list[RawRecord]:
        """The records of these ranges, without joining a group, up to the one with which they have `most_bytes`."""

    def sample(self, topic: str, limit: int) -> list[RawRecord]:
        return self._read(self._newest(topic, limit), self.sample_bytes)[:limit]

    def record(self, partition: Partition, offset: int) -> RawRecord | None:
        records = self._read({partition: (offset, offset + 1)}, self.sample_bytes)
        return records[0] if records else None

    def _newest(self, topic: str, limit: int) -> OffsetRanges:
        """The ranges of about `limit` newest records of a topic, evenly over its partitions."""
        count = self.topics().get(topic, 0)
        partitions = [Partition(topic, number) for number in range(count)]
        ends, begins = self.ends(partitions), self.begins(partitions)
        share = max(1, limit // max(1, count))
        ranges = {p: (max(begins[p], ends[p] - share), ends[p]) for p in partitions}
        return {p: (start, end) for p, (start, end) in ranges.items() if start < end}


def missing_leader(offsets: Mapping[Partition, int]) -> Detail | None:
    """NO_LEADER if a partition has no leader: a broker that starts or stops answers with offset -1 and no error."""
    return next(
        (REASONS("NO_LEADER", topic=p.topic, partition=p.partition) for p, offset in offsets.items() if offset < 0),
        None,
    )
