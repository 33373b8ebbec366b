"""The response to GET /stream: the API of a processor makes it, and the console reads a part of it.

docs/reference/openapi.json is made from these models. Times are RFC 3339 in UTC.
"""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime, Field

from lsql_runner.container.budget import PartName
from lsql_runner.events.processor import BlueGreenPhase, QueryMode, SinkColumn
from lsql_runner.events.state import State
from lsql_runner.reports.model import Count, Model


class Place(Model):
    """A position in the SQL; line and column count from 1."""

    line: int = Field(ge=1)
    column: int = Field(ge=1)


class Error(Model):
    """An error of the processor."""

    code: str = Field(description="A key of the error catalogue; stable.")
    message: str
    way_out: str
    params: dict[str, str | int | float] = Field(description="The values in the message, by name.")
    position: Place | None


class DatedError(Error):
    """An error of the processor, and its time."""

    at: AwareDatetime


class HealthReason(Model):
    code: str = Field(description="A stable name, such as query-stuck.")
    text: str


class HealthReport(Model):
    """Healthy, or the reasons why not. A processor that waits for a first record, or that was stopped, is healthy."""

    status: Literal["ok", "failing"]
    state: State
    reasons: list[HealthReason]


class Offsets(Model):
    """Position, end and lag of one source partition."""

    topic: str
    partition: Count
    position: Count | None = Field(description="Next offset to read; null before the first batch.")
    end: Count | None = Field(
        description="Offset after the last record; null before it is measured. Never less than the position."
    )
    lag: Count | None


class Topic(Model):
    """A topic of the program, with its resolved formats and types."""

    topic: str
    role: Literal["source", "target"]
    key_format: str
    value_format: str
    key_type: str
    value_type: str
    schema_origin: str = Field(description="declared, pinned, registry or sampled; program for targets.")
    partitions: Count | None


class Sink(Model):
    """A table that the program writes to in a sink other than Kafka."""

    sink: str = Field(description="Name of the configured sink.")
    kind: Literal["postgresql", "redis"]
    table: str = Field(description="The name of the table; in Redis, the prefix of the keys.")
    mode: Literal["insert", "upsert"]
    key: list[str] = Field(description="Columns of the primary key.")
    columns: list[SinkColumn]
    deletes: bool = Field(
        description="Whether rows are deleted, by tombstones or because they left the table that the query computes."
    )
    delivery: Literal["exactly_once", "idempotent"] = Field(
        description="Why a repeated batch changes nothing: the sink stores which batch it has, or rows have keys."
    )
    url: str = Field(description="The address of the server.")


class QueryReport(Model):
    """A query of the program: the INSERTs that are processed together."""

    name: str
    mode: QueryMode = Field(
        description="How it has processed its last records. continuous: without state, each record when it arrives. "
        "real_time: with state, each record when it arrives; with a backlog it changes to batches, and back."
    )
    only_in_batches: str | None = Field(
        description="What the INSERT has that is never in real time; null if it can be, or has no state."
    )
    records_to_rebuild: Count = Field(
        description="While it builds new state from records: those that are left to read. It writes no results before."
    )
    blue: str | None = Field(
        None,
        description="While it is built beside an earlier query: the one that writes the results until the switch.",
    )


class BlueGreenReport(Model):
    """Changed INSERTs that are built beside the earlier ones."""

    phase: BlueGreenPhase = Field(
        description="building: records are read again. ready: less than two seconds, or two batches, behind. failed: "
        "only the earlier INSERT runs."
    )
    error: Error | None = Field(None, description="Why the changed INSERT has failed.")


class ProcessorRates(Model):
    """Records per second in the last ten seconds of batches; 0 while there is nothing to read."""

    records_in_per_second: float = Field(ge=0)
    records_out_per_second: float = Field(ge=0)


class Batch(Model):
    """The micro-batch that ended last."""

    query: str
    id: Count
    ended_at: AwareDatetime
    duration_ms: Count
    records_in: Count
    records_out: Count
    phases_ms: dict[str, int]


class FailedRecords(Model):
    """Failed records of one topic with one error code, since the process began."""

    action: Literal["dead_letter", "skipped"] = Field(
        description="Whether the records were written to the dead letter topic or skipped."
    )
    topic: str
    code: str = Field(description="A key of the error catalogue.")
    records: Count


class MemoryPart(Model):
    """A part of the memory budget."""

    part: PartName = Field(description="jvm is the memory of the Spark JVM outside heap, state stores and code cache.")
    budget_bytes: Count
    used_bytes: Count | None = Field(
        description="Of the heap: its objects. null before the first measurement, and for what is not measured."
    )


class Memory(Model):
    """The parts of the container's memory and their use, measured every 30 s."""

    measured_at: AwareDatetime | None = Field(description="null before the first measurement.")
    limit_bytes: Count | None = Field(description="Memory limit of the container; null without a limit.")
    private_bytes: Count | None = Field(
        description="Memory of the Spark JVM and of the Python processes that no file backs."
    )
    parts: list[MemoryPart]
    heap_committed_bytes: Count | None = Field(description="Size of the heap.")
    metaspace_bytes: Count | None = Field(description="Loaded classes that are not in the class archive.")
    direct_buffers_bytes: Count | None = Field(description="Buffers of the network outside the heap.")
    threads: Count | None = Field(description="Threads of the Spark JVM.")


class WorkerReport(Model):
    """A process that runs tasks of the processor."""

    address: str = Field(description="Host and port.")
    cores: Count = Field(description="Tasks that it runs at the same time.")
    leaving: bool = Field(description="Whether it ends when its tasks have ended.")


class ScalingReport(Model):
    """How many workers the processor should have, computed every 15 s."""

    wanted: Count | None = Field(
        description="null while it is not known: the processor does not run, its brokers do not respond, or the lag "
        "was measured for less than 30 s. Then the number of workers should stay."
    )
    current: Count = Field(description="Workers that run tasks now, without those that are leaving.")
    lag_records: Count | None = Field(description="The lag of the last decision.")
    arriving_per_second: float | None = Field(
        ge=0, description="Records that arrive, the mean since the decision before."
    )
    catch_up_seconds: float | None = Field(
        ge=0,
        description="Time in which the current workers process the lag beside arriving records; null also if they "
        "never do, and while the rate of a worker is not known.",
    )
    worker_rate_per_second: float | None = Field(
        default=None,
        ge=0,
        description="Records that one busy worker processes, learned from batches since the process started; null "
        "while it is not known. Then the number of workers stays.",
    )
    dry_run: bool = Field(description="Whether nothing applies the number.")
    minimum: Count
    maximum: Count = Field(description="Never more than the partitions of the largest source topic occupy.")
    reason: str = Field(description="What the number follows from, or why it is not known.")


class StandbyReport(Model):
    """The election of the process that runs the program, as the process that answers sees it."""

    role: Literal["leader", "standby"] = Field(description="Of the process that answers.")
    leader: str | None = Field(description="The process that leads; null if there is none.")
    address: str | None = Field(description="Host and port of its API.")
    term: Count = Field(description="How often the leader has changed.")
    error: Error | None = Field(description="Why the Lease could not be read or renewed the last time.")


class StreamSummary(Model):
    """What the console reads of a processor of any version. A new field has a default."""

    version: str
    state: State
    since: AwareDatetime
    reason: Error | None = Field(description="Why it waits, restarts or has failed.")
    last_error: DatedError | None
    topics: list[Topic]
    lag: Count = Field(description="Sum over all partitions whose position and end are known.")
    rates: ProcessorRates
    scaling: ScalingReport | None = Field(description="null without LSQL_AUTOSCALING_ENABLED.")


class StreamReport(StreamSummary):
    """The processor: its program, position, lag, health and errors."""

    at: AwareDatetime = Field(description="Time of this response, by the processor's clock.")
    app_id: str
    sql: str
    runners: Count
    consumer_group_id: str
    username: str
    delivery_guarantee: Literal["at_least_once", "exactly_once"]
    started_at: AwareDatetime
    actions: Literal["none", "token", "open"] = Field(
        description="Who may send POST /stop and POST /start: nobody, who has the token, or everybody."
    )
    reads: Literal["none", "token", "open"] = Field(
        "none", description="Who may read rows of the state with GET /metadata/<store>, as `actions`."
    )
    health: HealthReport
    warnings: list[str]
    restarts: Count
    next_restart_at: AwareDatetime | None
    generation: Count = Field(description="Generation of the state; 0 before the first.")
    stateful: bool
    continuous: bool = Field(description="Whether queries without state process each record when it arrives.")
    sinks: list[Sink]
    queries: list[QueryReport]
    blue_green: BlueGreenReport | None
    offsets: list[Offsets]
    records_in: Count = Field(description="Since the process began.")
    records_out: Count = Field(description="Since the process began.")
    batches: Count
    last_batch: Batch | None
    watermark: AwareDatetime | None = Field(description="The lowest watermark of all queries.")
    late_records_dropped: Count
    future_records: Count
    dead_letters: Count = Field(description="Records with an error that were written to the dead letter topic.")
    skipped_records: Count = Field(
        description="Records that were skipped: they had an error, or were rows of a table without a key."
    )
    failed_records: list[FailedRecords] = Field(description="Dead letters and skipped records by topic and error code.")
    memory: Memory
    workers: list[WorkerReport] | None = Field(
        description="The workers that run the tasks; null if the processor runs them itself."
    )
    standby: StandbyReport | None = Field(description="Which process leads; null if there is no standby.")
