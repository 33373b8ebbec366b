"""The engine as the runtime uses it: a job, and the protocol of an engine that runs it. Imports no Spark.

`processor.SparkEngine` runs jobs on Spark; devkit/fake_engine.py runs them in memory for tests of the runtime.
One suite, in tests/contract, tests both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from lsql_runner.config.sink_connection import SinkConnection
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import BatchEnded, Partition, RecordsProcessed
from lsql_runner.events.memory import JvmMemory
from lsql_runner.events.workers import JoinedWorker, RefusedWorker
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.ports import TopicLimits
from lsql_runner.kafka.registry_connection import RegistryConnection
from lsql_runner.plan.conversion import ConvertedQuery
from lsql_runner.plan.queries import Plan
from lsql_runner.state.folder import StateFolder
from lsql_runner.state.owner import Owner
from lsql_runner.state.saved_state import Rebuild


def qualified_name(app_id: str, query: str) -> str:
    """The name of a query that is unique in a JVM and on a sink."""
    return f"{app_id}/{query}"


@dataclass(frozen=True, slots=True)
class Marking:
    """The first records are read one at a time: all records of the first batch, and the first ones of each partition
    of a query without batches. The place of each is written to a file, or sent to the driver, before it is read."""

    file: Path | None
    """It contains an object with topic, partition and offset while a record is read and processed. None with workers:
    the driver remembers the places."""
    offsets: int
    """The most offsets of a partition, for a query without batches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """How topics are read."""

    kafka: KafkaConnection
    app_id: str
    reset: str = "earliest"
    """Where a partition without a position begins: `earliest` or `latest`."""
    start_offsets: Mapping[str, Mapping[Partition, int]] = field(default_factory=dict)
    """By query and partition: the first offset for an empty checkpoint; other partitions begin at `reset`."""
    rebuilds: Mapping[str, Rebuild] = field(default_factory=dict)
    """By query that builds the state that replaces another one: how. Others are not in it, or not any more."""
    blues: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By green query: the topics of its blue query, which runs too. It reads their records up to the last batch of the
    blue one (`Engine.follow`)."""
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    """By topic: its id at the start; empty or missing if the brokers have none."""
    max_records_per_batch: int = 1_000_000
    """Of one topic."""
    pace_ms: Mapping[str, int] = field(default_factory=dict)
    """By query: the least time between the beginnings of two batches, except with a backlog."""
    max_future_ms: int | None = None
    """How far a record may be ahead of the wall clock, to advance the event time; None without a limit."""
    continue_on_data_loss: bool = False
    fetch_bytes: int = 16 << 20
    """The largest answer of a broker to a consumer."""
    consumer: tuple[tuple[str, str], ...] = ()
    """Keys and values of Kafka's consumer."""
    reads_state: bool = False
    """Whether `Engine.read_store` is called."""
    marking: Marking | None = None
    """Set after the JVM, or a worker, ran out of memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """How records are written to topics."""

    kafka: KafkaConnection
    app_id: str
    buffer_bytes: int = 16 << 20
    """The records that a producer has not sent yet, unless a single record may be larger."""
    producer: tuple[tuple[str, str], ...] = ()
    """Keys and values of Kafka's producer."""
    dead_letter_topic: str | None = None
    limits: Mapping[str, TopicLimits] = field(default_factory=dict)
    """By target topic: which records it accepts, if the brokers report it."""
    exactly_once: bool = False
    """Whether each record is written once, also if the processor is killed; else at least once."""
    commit_interval_ms: int = 100
    """With exactly-once: the longest time for which consumers of committed records wait for a record."""
    on_workers: bool = False
    """Whether tasks run in the JVMs of workers. The engine sets it."""


@dataclass(frozen=True, slots=True)
class Retention:
    """For how long the checkpoint of a query keeps its batches, within a number of bytes (decision 0029)."""

    keep_ms: int = 0
    """0 for ten minutes, and within a number of batches and files."""
    max_bytes: int = 64 << 20


@dataclass(frozen=True, slots=True)
class Sinks:
    """The sinks of a processor."""

    connections: Mapping[str, SinkConnection] = field(default_factory=dict)
    """By the name of the sink."""
    jars: Path = Path()
    """The folder with the jars of the sinks' clients. They are loaded when a sink is used."""
    has_standby: bool = False
    """Whether another process continues while this one is suspended, and must not wait for its locks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A plan with everything that it needs to run on Kafka."""

    plan: Plan
    source: SourceOptions
    output: OutputOptions
    checkpoints: StateFolder
    """The folder of the checkpoints; a query has `<checkpoints>/<query>/`."""
    on_batch: Callable[[BatchEnded], None]
    """Called after each batch, from a thread of the engine."""
    on_processed: Callable[[RecordsProcessed], None] = lambda _: None
    """Called each second in which a query in real time has processed records, from a thread of the engine."""
    state_partitions: int = 1
    """Into how many partitions new state of each operator is divided. State in a checkpoint keeps its partitions."""
    registry: RegistryConnection | None = None
    """The schema registry with the schemas of the records."""
    retention: Retention = Retention()
    rocksdb: tuple[tuple[str, int], ...] = ()
    """Settings of the state stores: keys of ROCKSDB_KEYS."""
    sinks: Sinks = Sinks()
    owner: Owner | None = None
    """This process as the owner of the checkpoints. The JVM ends before it writes to them as soon as there is another
    one. None without a Lease."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRead:
    """A request for rows of a state store: those of a key, or a page of all. Windows are given by their starts."""

    store: str
    key: str | None = None
    """JSON; for keys of type STRING the text. None for all keys."""
    key_from: str | None = None
    """The least key. Ranges of keys have the order of numbers, of the UTF-8 bytes of texts, and of fields."""
    key_to: str | None = None
    """The first key that is left out."""
    window_ms: int | None = None
    """Milliseconds since 1970 UTC, as below; None for all windows."""
    since_ms: int | None = None
    """The first window."""
    until_ms: int | None = None
    """The first window that is left out."""
    limit: int = 100
    """The most rows."""
    partition: int | None = None
    """The only partition of the state that is read; None for all."""
    cursor: str | None = None
    """The end of the page before; None for the first page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRows:
    """Rows of a state store, and what the state contains."""

    rows: str
    """A JSON array of objects with `key`, `window` (an object with `start` and `end`, times in UTC, or null), `value`,
    and `error`: the condition with which the value has failed, or null."""
    cursor: str | None
    """The beginning of the next page; None after the last row."""
    batch: int
    """The last batch that it contains."""
    positions: Mapping[Partition, int]
    """By source partition: the offset after the last record that the state contains."""
    watermark_ms: int | None
    """Windows that have ended before are removed, and records for them are late. Milliseconds since 1970 UTC; None
    before the first event time."""
    planned_ms: int
    """When the batch was planned, in milliseconds since 1970 UTC: records that arrived later are not in it."""


class Engine(Protocol):
    """Runs one job at a time."""

    @property
    def heap_mib(self) -> int:
        """The largest size of the JVM's heap."""

    def jvm_death(self, within_s: float = 0.0) -> str | None:
        """How the JVM ended; None if it runs. Waits up to `within_s` for its end: its sockets close before the process
        ends."""

    def memory(self) -> JvmMemory | None:
        """The memory that the JVM uses now; None before it has started, and if it does not respond."""

    def workers(self) -> tuple[tuple[JoinedWorker, ...], tuple[RefusedWorker, ...]] | None:
        """The workers, by address, and those that were refused since the last call. None without workers, before the
        session is open, and if the JVM does not respond."""

    def shrink_heap(self, grown_bytes: int) -> None:
        """Return unused memory of the heap to the kernel, if its old objects have grown since the last time.

        This stops the JVM for a tenth of a second or two. A large heap does not shrink.

        Args:
            grown_bytes: the least growth for which the heap is collected.
        """

    def reason_of(self, error: BaseException) -> str:
        """One line for people about an exception without an error code: no Java class, no trace."""

    def convert_state(
        self,
        kafka: KafkaConnection,
        owner: Owner | None,
        query: ConvertedQuery,
        source: StateFolder,
        target: StateFolder,
    ) -> None:
        """Write the state of a query again, with other aggregates. No job runs, and no record is read.

        Args:
            kafka: the brokers with its topics.
            owner: this process as the owner of the checkpoints: see `Job.owner`.
            query: the query, as it was and as it will be.
            source: its checkpoint.
            target: a copy of the checkpoint, in which the state is replaced.

        Raises:
            LsqlError: STATE_CONVERSION_FAILED, STATE_DIR_UNWRITABLE, JVM_GONE. The copy cannot be used.
        """

    def start(self, job: Job) -> tuple[str, ...]:
        """Start a job. Each query continues from its checkpoint, or begins at the offsets of `job.source`.

        Returns warnings for people.

        Raises:
            LsqlError: no query runs: JVM_GONE, JVM_START_TIMEOUT, QUERY_FAILED, FUNCTION_UNUSABLE, SINK_UNREACHABLE,
                SINK_REFUSED, SINK_TABLE_MISMATCH.
        """

    def warm_up(self, job: Job, goes_on: Callable[[], bool]) -> None:
        """Load and compile the code of a job's first batches, while another process runs the job. Writes no results.

        Args:
            job: its queries with start offsets begin at some of the newest records; the others have nothing to read.
            goes_on: called often; the method returns soon after it was false.
        """

    def death(
        self, positions: Mapping[Partition, int], ends: Callable[[], Mapping[Partition, int]]
    ) -> LsqlError | None:
        """Why the job ended without a stop; None if it runs or there is no job.

        Args:
            positions: by source partition, the next offset to read.
            ends: returns the end on the brokers by source partition. It is called after a record has failed.
        """

    def dead_queries(self) -> frozenset[str]:
        """The queries of the job that have ended without a stop."""

    def count_late(self, event: BatchEnded) -> int:
        """How often a record of a batch was too late for a window or join: once for each window, after its grace."""

    def newest_ms(self) -> dict[str, int]:
        """By query with `emit='final'`: the newest event time in its checkpoint, milliseconds since 1970 UTC."""

    def advance(self, clock: str, time_ms: int) -> None:
        """Advance the event time of the inputs of an aggregate with `emit='final'`, while its topics are idle.

        Args:
            clock: the name of the aggregate's state store.
            time_ms: the event time, in milliseconds since 1970 UTC. It never goes back.
        """

    def follow(self, green: str, blue: BatchEnded) -> None:
        """Let a green query of the running job read up to where a batch of its blue query has ended."""

    def read_store(self, read: StoreRead) -> StoredRows | None:
        """Rows of a state store of the running job, as the last batch has committed them. Any thread may call it.

        None while no batch has run since the start, and without a job.

        Raises:
            LsqlError: STORE_NOT_QUERYABLE, STORE_KEY_INVALID, STORE_CURSOR_INVALID, NOT_FOUND.
        """

    def read_saved(
        self, kafka: KafkaConnection, plan: Plan, checkpoints: StateFolder, read: StoreRead
    ) -> StoredRows | None:
        """Rows of a state store as a recent batch has saved them, which another process may run. No record is read.

        None if the store has no saved batch. Any thread may call it.

        Args:
            kafka: the brokers with the topics.
            plan: the plan, with the names of its state.
            checkpoints: the folder of its checkpoints.
            read: which rows.

        Raises:
            LsqlError: STORE_UNREADABLE; as `read_store`.
        """

    def save_soon(self, store: str) -> None:
        """Let the query of a store end its batch now, if it is open."""

    def stop(self, *, drain: Set[str] = frozenset()) -> None:
        """Let running batches end, then stop the job. Does nothing if there is no job.

        If stopping a query fails, the others are stopped, the job has ended, and the first error is raised.

        Args:
            drain: queries of which also a batch ends that is not being written yet, in less than half a minute; else
                the next start repeats it.
        """
