"""What one process of an engine does: its program, topics and resources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

# The settings of lsql-runner. Both peers are faster with them than with the defaults of Kafka.
CONSUMER = {
    "max.poll.records": "5000",
    "max.partition.fetch.bytes": str(8 << 20),
    "fetch.max.bytes": str(64 << 20),
}
PRODUCER = {
    "compression.type": "lz4",
    "linger.ms": "20",
    "batch.size": str(128 << 10),
    "buffer.memory": str(64 << 20),
}


class Guarantee(StrEnum):
    """The processing guarantee."""

    AT_LEAST_ONCE = "at-least-once"
    EXACTLY_ONCE = "exactly-once"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One process."""

    name: str
    """Of the topology of Kafka Streams, and of the file with the Flink SQL."""
    sql: str
    """Of lsql-runner, complete."""
    lsql_topics: Mapping[str, Any]
    """LSQL_TOPICS of lsql-runner."""
    bootstrap: str
    source: str
    targets: tuple[str, ...]
    group: str
    state: Path
    """An empty folder."""
    threads: int
    heap_mib: int
    other: str = ""
    """The second source, if there is one."""
    registry: str = ""
    """URL of the schema registry, for AVRO."""
    schema_id: int = 0
    """Of the results in AVRO, for the engines that do not register it themselves."""
    engine_env: tuple[tuple[str, str], ...] = ()
    """Additional environment variables of lsql-runner."""
    port: int = 0
    """Of the REST API of lsql-runner; 0 for any."""
    guarantee: Guarantee = Guarantee.AT_LEAST_ONCE
    is_constant_load: bool = False
    """Whether records arrive at a constant rate: the peers are then tuned for latency, and sources have no end."""
    consumer: Mapping[str, str] = field(default_factory=lambda: CONSUMER)
    producer: Mapping[str, str] = field(default_factory=lambda: PRODUCER)

    @property
    def ended(self) -> Path:
        """A file that exists once Flink has read all of its bounded sources and written the results."""
        return self.state / "ended"
