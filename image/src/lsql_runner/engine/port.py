"""The engine as the runtime uses it: a job to run, and the protocol of what runs it. Imports no Spark.

`processor.SparkEngine` runs jobs on Spark; devkit/fake_engine.py runs them in memory for tests of the runtime.
tests/contract runs one suite on both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from lsql_runner.config.sink_connection import SinkConnection
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import BatchEnded, Partition
from lsql_runner.kafka.client import KafkaConnection
from lsql_runner.kafka.ports import TopicLimits
from lsql_runner.kafka.registry_connection import RegistryConnection
from lsql_runner.plan.queries import Plan


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """How streams read. `starts` is used for an empty checkpoint only; partitions that it lacks begin at `reset`."""

    kafka: KafkaConnection
    app_id: str
    reset: str = "earliest"
    starts: Mapping[Partition, int] = field(default_factory=dict)
    partitions: Mapping[str, int] = field(default_factory=dict)
    """By topic: how many partitions there are at the start."""
    max_records_per_batch: int = 1_000_000
    continue_on_data_loss: bool = False
    consumer: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SinkOptions:
    """How records are written to topics."""

    kafka: KafkaConnection
    app_id: str
    producer: tuple[tuple[str, str], ...] = ()
    queue: str | None = None
    """The topic of dead letters."""
    limits: Mapping[str, TopicLimits] = field(default_factory=dict)
    """Which records the targets accept, where the brokers say so."""


@dataclass(frozen=True, slots=True)
class RowSinks:
    """The sinks of a processor. `jars` holds their clients, which are opened with the first sink in use."""

    connections: Mapping[str, SinkConnection] = field(default_factory=dict)
    jars: Path = Path()


@dataclass(frozen=True, slots=True)
class Job:
    """A plan with all that it needs to run on Kafka."""

    plan: Plan
    source: SourceOptions
    sink: SinkOptions
    checkpoints: Path
    """Each query keeps its checkpoint in a folder of its name."""
    on_batch: Callable[[BatchEnded], None]
    """Called after each batch, from a thread of the engine."""
    registry: RegistryConnection | None = None
    """The schema registry whose schemas decode the records."""
    rocksdb: tuple[tuple[str, int], ...] = ()
    """Settings of the state stores: keys of ROCKSDB_KEYS."""
    row_sinks: RowSinks = RowSinks()


class Engine(Protocol):
    """Runs at most one job at a time, again and again."""

    def jvm_death(self, within_s: float = 0.0) -> str | None:
        """How the JVM ended; None while it lives. Waits up to `within_s` for an end that its sockets reported first."""

    def reason_of(self, error: BaseException) -> str:
        """One line for people about an exception that a method raised without a code: no class of Java, no trace."""

    def start(self, job: Job) -> None:
        """Run a job. Each query continues from its checkpoint, or begins where `job.source` says.

        Raises:
            LsqlError: JVM_GONE, QUERY_FAILED; SINK_UNREACHABLE, SINK_REFUSED, SINK_TABLE_MISMATCH. Nothing runs then.
        """

    def death(self, positions: Mapping[Partition, int], ends: Mapping[Partition, int]) -> LsqlError | None:
        """Why the job ended by itself; None while it runs, and where none was started.

        Args:
            positions: next offset to read, for each source partition.
            ends: the end of each.
        """

    def count_late(self, event: BatchEnded) -> int:
        """How many records of a batch of the running job came after the grace of a window or of a join."""

    def newest_ms(self) -> dict[str, int]:
        """By query with final results: the newest event time in its checkpoint, milliseconds since 1970 UTC."""

    def advance(self, clock: str, time_ms: int) -> None:
        """Advance the time of a store's topic without records, to milliseconds since 1970 UTC."""

    def stop(self) -> None:
        """Let running batches end, then stop the job. Without a job it does nothing."""
