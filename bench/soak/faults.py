"""Carries out the faults of a run."""

from __future__ import annotations

import time
from dataclasses import dataclass

from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # exported, but not in the way mypy asks for
    AdminClient,
    NewPartitions,
)

from bench.expected import BenchFailed
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

    def _add_partition(self) -> None:
        source = self.topics.source
        count = self.partitions[source] + 1
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap, "log_level": 0})
        try:
            admin.create_partitions([NewPartitions(source, count)])[source].result(_ADMIN_S)
        except KafkaException as error:
            raise BenchFailed(f"no partition could be added: {error}") from error
        self.partitions[source] = count
