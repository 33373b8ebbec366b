"""What a start does after the JVM ran out of memory while it read: it tries once more, and never a third time.

The first death does not tell which record was too large, because tasks read many records at once. So the next start
reads the records after its positions one at a time, and the JVM writes the place of each record to a file before it
reads it. If the JVM dies again, the file names the record, and the processor is FAILED until the record or the heap is
another one, or a person starts it. Other starts do not write the file (decision 0033).

With workers, the JVM that dies is that of a worker, and this process continues. It remembers the first death, and its
JVM remembers the record that each worker reads; nothing is saved. The second time, the query fails with an error that
has the place of the record. The JVM of this process may die too, because it reads one record to wait for others: the
next start reads with marks, and does not wait.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any

from lsql_runner.container.out_of_memory import is_out_of_memory
from lsql_runner.engine.port import Marking
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition, lowest
from lsql_runner.runtime.dependencies import RunDependencies

MARKED_OFFSETS = 1_000_000
"""The most offsets of a partition that are read one record at a time. A query without batches saves its position once a
second, and has read fewer records since."""

Positions = Mapping[Partition, int]

_READ_AGAIN = (
    "ran out of memory while it read. The records after the last position are read one at a time, to find a record "
    "that does not fit the heap."
)
_WARNING = f"The JVM {_READ_AGAIN}"
_WORKER_WARNING = f"A worker {_READ_AGAIN}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutOfMemory:
    """The content of out-of-memory.json: the JVM ran out of memory, once or twice."""

    heap_mib: int
    """The size of the heap."""
    record: tuple[Partition, int] | None = None
    """After the second death: the partition and the offset from which the JVM read one record. None after the first."""

    def as_json(self) -> dict[str, Any]:
        if self.record is None:
            return {"heap_mib": self.heap_mib, "record": None}
        partition, offset = self.record
        place = {"topic": partition.topic, "partition": partition.partition, "offset": offset}
        return {"heap_mib": self.heap_mib, "record": place}


def out_of_memory(document: Mapping[str, Any] | None) -> OutOfMemory | None:
    """The content of out-of-memory.json; None if there is no file, or if it cannot be read."""
    heap_mib = (document or {}).get("heap_mib")
    if document is None or not isinstance(heap_mib, int):
        return None
    return OutOfMemory(heap_mib=heap_mib, record=marked_record(document.get("record")))


def marked_record(document: object) -> tuple[Partition, int] | None:
    """The place of a record as JSON; None if it is none."""
    match document:
        case {"topic": str(topic), "partition": int(partition), "offset": int(offset)}:
            return Partition(topic, partition), offset
    return None


class ReadMode(Enum):
    """How a start reads."""

    NORMAL = "normal"
    MARKED = "marked"
    """One record at a time; the place of each is written to a file first."""
    REFUSED = "refused"
    """Not at all: a record does not fit the heap."""


def decide_reading(saved: OutOfMemory | None, heap_mib: int, is_unread: Callable[[Partition, int], bool]) -> ReadMode:
    """How to read after earlier deaths.

    Args:
        saved: of the earlier deaths; None if there were none.
        heap_mib: the size of the heap now.
        is_unread: whether the record at an offset exists and will be read.
    """
    if saved is None or saved.heap_mib != heap_mib:
        return ReadMode.NORMAL
    if saved.record is None:
        return ReadMode.MARKED
    return ReadMode.REFUSED if is_unread(*saved.record) else ReadMode.NORMAL


def _refusal(saved: OutOfMemory) -> LsqlError:
    assert saved.record is not None
    partition, offset = saved.record
    return LsqlError(
        "RECORDS_EXCEED_HEAP",
        topic=partition.topic,
        partition=partition.partition,
        offset=offset,
        next_offset=offset + 1,
        heap_mib=saved.heap_mib,
    )


class OutOfMemoryDeaths:
    """Counts the deaths of a processor, and decides how a start reads."""

    def __init__(self, dependencies: RunDependencies) -> None:
        self._state = dependencies.state
        self._brokers = dependencies.brokers
        self._engine = dependencies.engine
        self._has_workers = dependencies.settings.has_workers
        self._worker_died = False
        self._is_reading = False
        self._marked_until: Positions | None = None
        """If records are marked: by partition, the offset after the last of them."""

    def begin(self, positions: Mapping[str, Positions], warn: Callable[[str], None]) -> Marking | None:
        """Decide how the start reads: with marks, or as usual.

        Args:
            positions: by query and partition, the next offset to read.
            warn: takes a sentence for people.

        Raises:
            LsqlError: RECORDS_EXCEED_HEAP, an error of the brokers, STATE_DIR_UNWRITABLE.
        """
        saved = out_of_memory(self._state.out_of_memory())
        starts = lowest(positions.values())
        reading = self._reading(saved, starts)
        if reading is ReadMode.REFUSED:
            assert saved is not None
            raise _refusal(saved)
        self._marked_until = self._ends(starts) if reading is ReadMode.MARKED else None
        self._is_reading = True
        if reading is ReadMode.NORMAL:
            self._state.set_out_of_memory(None)
            return None
        warn(_WORKER_WARNING if self._worker_died else _WARNING)
        return Marking(None if self._has_workers else self._state.unmarked_file(), MARKED_OFFSETS)

    def _reading(self, saved: OutOfMemory | None, starts: Positions) -> ReadMode:
        if not self._has_workers:
            return decide_reading(saved, self._engine.heap_mib, lambda p, offset: self._is_unread(p, offset, starts))
        has_died = saved is not None and saved.heap_mib == self._engine.heap_mib
        return ReadMode.MARKED if self._worker_died or has_died else ReadMode.NORMAL

    def _is_unread(self, partition: Partition, offset: int, starts: Positions) -> bool:
        if partition not in starts or starts[partition] > offset:
            return False
        return self._brokers.begins([partition])[partition] <= offset < self._brokers.ends([partition])[partition]

    def _ends(self, starts: Positions) -> Positions:
        ends = self._brokers.ends(starts)
        return {partition: min(ends[partition], start + MARKED_OFFSETS) for partition, start in starts.items()}

    def reached(self, committed: Positions) -> None:
        """Forget the first death if all records that were to be marked are processed.

        Raises:
            LsqlError: STATE_DIR_UNWRITABLE.
        """
        until = self._marked_until
        if until is not None and all(committed.get(partition, 0) >= end for partition, end in until.items()):
            self._marked_until = None
            self._worker_died = False
            self._state.set_out_of_memory(None)

    def end(self) -> None:
        """The queries have been stopped."""
        self._is_reading = False

    def forget(self) -> None:
        """Count no earlier death: a person starts the processor.

        Raises:
            LsqlError: STATE_DIR_UNWRITABLE.
        """
        self._worker_died = False
        self._state.set_out_of_memory(None)

    def failed(self, error: LsqlError) -> None:
        """Remember that workers ran out of memory, if this is why the queries failed."""
        self._worker_died |= error.code == "WORKERS_OUT_OF_MEMORY"

    def died(self, reason: str) -> None:
        """Count the end of the JVM, for a reason of `Engine.jvm_death`, if it ran out of memory while it read.

        If no record is marked, it is a first death: the records that were to be marked had been processed, or the
        memory ran out in a later step of a batch.
        """
        if not self._is_reading or not is_out_of_memory(reason):
            return
        is_marked = self._marked_until is not None and not self._has_workers
        record = marked_record(self._state.mark()) if is_marked else None
        with suppress(LsqlError):  # the volume is full; the death is not counted, and is reported in any case
            self._state.set_out_of_memory(OutOfMemory(heap_mib=self._engine.heap_mib, record=record).as_json())
