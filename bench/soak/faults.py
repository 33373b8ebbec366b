"""Carries out the faults of a run."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # exported, but not in the way mypy asks for
    AdminClient,
    NewPartitions,
)

from bench.expected import BenchFailed
from bench.run import position
from bench.soak.feed import Feeder
from bench.soak.plan import Fault, Slot
from bench.soak.pod import SoakPod
from bench.soak.programs import SoakTopics
from devkit.broker import Broker

_REACH_S = 60
_PAUSE_S = 5
_BURST_FACTOR = 10
_ADMIN_S = 30


@dataclass(slots=True, kw_only=True)
class SoakTarget:
    """What the faults of a run happen to."""

    broker: Broker
    pod: SoakPod
    feeder: Feeder
    topics: SoakTopics
    partitions: dict[str, int]
    """The number of partitions of each source."""
    _client: Consumer = field(init=False)

    def __post_init__(self) -> None:
        settings = {"bootstrap.servers": self.broker.bootstrap, "group.id": self.topics.name, "log_level": 0}
        self._client = Consumer({**settings, "enable.auto.commit": False, "reconnect.backoff.max.ms": 500})

    def inject(self, slot: Slot) -> None:
        """Carry out the fault of a slot; returns when it is over.

        Raises:
            BenchFailed: the processor does not stop or start in time.
            ProcessFailed: the container or the broker does not end or start in time.
        """
        match slot.fault:
            case Fault.PARTITION:
                self._add_partition()
            case Fault.KILL:
                self.pod.kill_jvm()
            case Fault.BURST:
                self.feeder.factor = _BURST_FACTOR
                time.sleep(slot.burst_s)
                self.feeder.factor = 1
            case Fault.STOP:
                self.pod.post("/stop")
                self.pod.reach("stopped", _REACH_S)
                time.sleep(_PAUSE_S)
                self.pod.post("/start")
                self.pod.reach("running", _REACH_S)
            case Fault.BROKER:
                self.broker.stop()
                time.sleep(_PAUSE_S)
                self.broker.start()
            case None:
                pass

    def position(self) -> int:
        """The number of records of the sources that the processor has read; 0 if the broker does not tell."""
        places = [TopicPartition(topic, each) for topic, count in self.partitions.items() for each in range(count)]
        try:
            return position(self._client, places)
        except BenchFailed:
            return 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def _add_partition(self) -> None:
        source = self.topics.source
        count = self.partitions[source] + 1
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap, "log_level": 0})
        try:
            admin.create_partitions([NewPartitions(source, count)])[source].result(_ADMIN_S)
        except KafkaException as error:
            raise BenchFailed(f"no partition could be added: {error}") from error
        self.partitions[source] = count
