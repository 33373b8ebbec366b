"""Reading a topic to its end, near the deadline."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest
from confluent_kafka import Consumer, KafkaError, Message

from devkit.topics import Isolation, Topics


class End:
    """The message that a consumer returns at the end of a partition."""

    def __init__(self, partition: int) -> None:
        self._partition = partition

    def error(self) -> KafkaError:
        return KafkaError(KafkaError._PARTITION_EOF)

    def partition(self) -> int:
        return self._partition


class TwoPartitions(Topics):
    """A topic with two empty partitions, and a clock that moves only when a consumer waits."""

    def __init__(self, ends: list[End | None], monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__("nowhere:9092")
        self._ends = ends
        self._now_s = 0.0
        monkeypatch.setattr(time, "monotonic", lambda: self._now_s)

    def poll(self, timeout_s: float) -> Message | None:
        self._now_s += timeout_s + 0.001
        return cast("Message | None", self._ends.pop(0))

    @contextmanager
    def _reading(self, topic: str, isolation: Isolation) -> Iterator[tuple[Consumer, list[int]]]:
        yield cast(Any, self), [0, 1]


def test_a_topic_whose_end_is_reached_at_the_deadline_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert TwoPartitions([End(1), End(0)], monkeypatch).consume_all("t", deadline_s=1.5) == []


def test_a_topic_whose_end_is_not_reached_is_an_error_with_the_missing_partitions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(AssertionError, match=r"end of t \[0\] not reached in 1.5 s"):
        TwoPartitions([End(1), None], monkeypatch).consume_all("t", deadline_s=1.5)
