"""The tables of metrics. `metrics` and `console_metrics` register them; docs/reference/metrics.md shows them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """One metric, updated by events (`by_event`) or read from the Status at a scrape."""

    name: str
    type: Literal["counter", "gauge", "histogram"]
    help: str
    _: KW_ONLY
    labels: tuple[str, ...] = ()
    by_event: bool = False

    @property
    def family(self) -> str:
        """The name without the suffix `_total`, which the exposition format adds to counters."""
        return self.name.removesuffix("_total") if self.type == "counter" else self.name


METRICS: tuple[MetricSpec, ...] = (
    MetricSpec(
        "lsql_build_info",
        "gauge",
        "Always 1; the labels describe the processor.",
        labels=("version", "app_id", "guarantee"),
    ),
    MetricSpec(
        "lsql_processor_state", "gauge", "1 for the state of the processor, 0 for the others.", labels=("state",)
    ),
    MetricSpec(
        "lsql_processor_state_since_timestamp_seconds",
        "gauge",
        "When the processor entered its state, in Unix time.",
    ),
    MetricSpec("lsql_restarts_total", "counter", "Restarts after a query failed, since the process started."),
    MetricSpec(
        "lsql_errors_total",
        "counter",
        "Failed queries, failed requests to brokers, and ends of the JVM, by error code.",
        labels=("code",),
        by_event=True,
    ),
    MetricSpec("lsql_broker_up", "gauge", "1 while the brokers respond, else 0."),
    MetricSpec("lsql_jvm_up", "gauge", "1 while the Spark JVM runs, else 0."),
    MetricSpec(
        "lsql_records_in_total", "counter", "Records read from the source topics.", labels=("query",), by_event=True
    ),
    MetricSpec(
        "lsql_records_out_total",
        "counter",
        "Records written to the target topics.",
        labels=("query",),
        by_event=True,
    ),
    MetricSpec(
        "lsql_records_in_per_second",
        "gauge",
        "Records read per second in the last ten seconds of batches; 0 if there are none to read.",
    ),
    MetricSpec(
        "lsql_records_out_per_second",
        "gauge",
        "Records written per second in the last ten seconds of batches; 0 if there are none to read.",
    ),
    MetricSpec(
        "lsql_batches_total",
        "counter",
        "Micro-batches whose position is in the checkpoint.",
        labels=("query",),
        by_event=True,
    ),
    MetricSpec(
        "lsql_batch_duration_seconds",
        "histogram",
        "Time from the start of a batch to its commit.",
        labels=("query",),
        by_event=True,
    ),
    MetricSpec(
        "lsql_batch_phase_duration_seconds",
        "histogram",
        "Time of one phase of a batch, with Spark's name (addBatch, walCommit, ...).",
        labels=("query", "phase"),
        by_event=True,
    ),
    MetricSpec(
        "lsql_last_batch_timestamp_seconds",
        "gauge",
        "When a batch last ended, in Unix time; absent before the first.",
    ),
    MetricSpec(
        "lsql_lag_records",
        "gauge",
        "Records between the position and the end of a source partition.",
        labels=("topic", "partition"),
    ),
    MetricSpec(
        "lsql_position_offset",
        "gauge",
        "Next offset to read: the lowest of all queries.",
        labels=("topic", "partition"),
    ),
    MetricSpec(
        "lsql_end_offset",
        "gauge",
        "End of a source partition, as last measured; never less than the position.",
        labels=("topic", "partition"),
    ),
    MetricSpec(
        "lsql_query_mode",
        "gauge",
        "1 for how a query has processed its last records, 0 for the others. `continuous`, without state, and "
        "`real_time`, with state: each record when it arrives. `batches`: a query in real time with a backlog, too.",
        labels=("query", "mode"),
    ),
    MetricSpec(
        "lsql_rebuild_records",
        "gauge",
        "Records that a query has to read again to build new state, before it writes results. Only after a start with "
        "new state.",
        labels=("query",),
    ),
    MetricSpec(
        "lsql_blue_green_phase",
        "gauge",
        "1 for the phase of a blue-green change, 0 for the others. Only while a changed INSERT is built beside an "
        "earlier one.",
        labels=("phase",),
    ),
    MetricSpec(
        "lsql_event_time_delay_seconds",
        "gauge",
        "Time from the newest event time in a batch to the end of the batch: how fresh results are. Does not change "
        "while no record arrives.",
        labels=("query",),
        by_event=True,
    ),
    MetricSpec(
        "lsql_watermark_delay_seconds",
        "gauge",
        "Time from the watermark to now: how long after its end a window closes. It includes the grace, and grows "
        "while no record arrives, because event time does not advance then.",
        labels=("query",),
    ),
    MetricSpec(
        "lsql_late_records_dropped_total",
        "counter",
        "Records that arrived after the grace: counted once for each of their windows, and once for a join of streams.",
        labels=("query",),
        by_event=True,
    ),
    MetricSpec(
        "lsql_future_records_total",
        "counter",
        "Records that are further ahead of the clock than SET max.future.ms. They do not advance the event time.",
        labels=("query",),
        by_event=True,
    ),
    MetricSpec(
        "lsql_dead_letters_total",
        "counter",
        "Records with an error that were written to the dead letter topic, by their source topic; groups and joined "
        "pairs by their target.",
        labels=("topic", "code"),
        by_event=True,
    ),
    MetricSpec(
        "lsql_skipped_records_total",
        "counter",
        "Records that were skipped because of an error, or because a row of a table had no key "
        "(RECORD_WITHOUT_KEY), by their source topic; groups and joined pairs by their target.",
        labels=("topic", "code"),
        by_event=True,
    ),
    MetricSpec(
        "lsql_state_rows", "gauge", "Rows of a state store at the end of the last batch.", labels=("query", "store")
    ),
    MetricSpec(
        "lsql_state_memory_bytes",
        "gauge",
        "Memory of a state store at the end of the last batch.",
        labels=("query", "store"),
    ),
    MetricSpec("lsql_memory_limit_bytes", "gauge", "Memory limit of the container; absent without a limit."),
    MetricSpec(
        "lsql_memory_budget_bytes",
        "gauge",
        "Size of a part of the memory budget: heap, state_stores, code_cache, jvm, python, reserve.",
        labels=("part",),
    ),
    MetricSpec(
        "lsql_memory_used_bytes",
        "gauge",
        "What is used of a part of the memory budget, measured every 30 s. Of the heap: its objects.",
        labels=("part",),
    ),
    MetricSpec(
        "lsql_memory_private_bytes",
        "gauge",
        "Memory that no file backs, measured every 30 s, of the Spark JVM (jvm) and of the Python processes (python).",
        labels=("process",),
    ),
    MetricSpec(
        "lsql_state_volume_size_bytes", "gauge", "Size of the volume with the state directory, measured every 30 s."
    ),
    MetricSpec(
        "lsql_state_volume_free_bytes",
        "gauge",
        "Free space of the volume with the state directory, for this processor and all others that use it.",
    ),
    MetricSpec("lsql_leader", "gauge", "1 if this process leads, 0 if it stands by; absent if there is no standby."),
    MetricSpec("lsql_workers", "gauge", "Workers that have joined the processor; absent if it runs its tasks itself."),
    MetricSpec(
        "lsql_workers_wanted",
        "gauge",
        "Workers that the processor should have, by LSQL_AUTOSCALING_*; absent while this is not known: the processor "
        "does not run, its brokers do not respond, or the lag was measured for less than 30 s.",
    ),
    MetricSpec(
        "lsql_worker_records_per_second",
        "gauge",
        "Records per second that one busy worker processes, learned from batches with LSQL_AUTOSCALING_ENABLED; absent "
        "while this is not known.",
    ),
    MetricSpec("lsql_worker_slots", "gauge", "Tasks that all workers together run at the same time."),
    MetricSpec(
        "lsql_jvm_heap_used_bytes", "gauge", "Objects in the heap, with those that the next collection removes."
    ),
    MetricSpec("lsql_jvm_heap_max_bytes", "gauge", "Largest size of the heap."),
    MetricSpec("lsql_jvm_heap_committed_bytes", "gauge", "Size of the heap; it shrinks after a full collection."),
    MetricSpec("lsql_jvm_metaspace_bytes", "gauge", "Memory of loaded classes that are not in the class archive."),
    MetricSpec("lsql_jvm_direct_buffers_bytes", "gauge", "Buffers of the network outside the heap."),
    MetricSpec(
        "lsql_jvm_native_bytes",
        "gauge",
        "Private memory of the JVM outside heap and code cache: state stores, classes, stacks, buffers.",
    ),
    MetricSpec("lsql_jvm_threads", "gauge", "Threads of the Spark JVM."),
    MetricSpec(
        "lsql_jvm_gc_collections_total",
        "counter",
        "Garbage collections, by collector. Some of the full ones are requested, to shrink the heap.",
        labels=("collector",),
    ),
    MetricSpec(
        "lsql_jvm_gc_seconds_total", "counter", "Time of garbage collections, by collector.", labels=("collector",)
    ),
    MetricSpec("lsql_jvm_cpu_seconds_total", "counter", "Processor time of the JVM."),
)


CONSOLE_METRICS: tuple[MetricSpec, ...] = (
    MetricSpec(
        "lsql_console_requests_total",
        "counter",
        "Answered requests, by operation of the API, method and status.",
        labels=("route", "method", "status"),
        by_event=True,
    ),
    MetricSpec(
        "lsql_console_request_duration_seconds",
        "histogram",
        "Time to answer a request, by operation of the API.",
        labels=("route",),
        by_event=True,
    ),
    MetricSpec(
        "lsql_console_actions_total",
        "counter",
        "Requests to stop, start, scale or delete a processor; the result is `done` or the code of an error.",
        labels=("action", "result"),
        by_event=True,
    ),
    MetricSpec(
        "lsql_console_refreshes_total",
        "counter",
        "How often the console has read the cluster; the result is `done` or `failed`.",
        labels=("result",),
        by_event=True,
    ),
    MetricSpec("lsql_console_last_refresh_timestamp_seconds", "gauge", "When the cluster was last read, in Unix time."),
    MetricSpec(
        "lsql_console_unreadable_namespaces", "gauge", "Namespaces whose processors could not be read the last time."
    ),
    MetricSpec("lsql_console_processors", "gauge", "Processors by namespace and state.", labels=("namespace", "state")),
    MetricSpec(
        "lsql_recovery_runs_total",
        "counter",
        "Runs of the recovery job that have published its document, since the console started.",
        by_event=True,
    ),
    MetricSpec(
        "lsql_recovery_last_run_timestamp_seconds",
        "gauge",
        "When the recovery job last published its document, in Unix time; absent before the first time.",
    ),
)


def as_markdown(table: tuple[MetricSpec, ...] = METRICS) -> str:
    """A table for the reference page."""
    lines = ["| name | type | labels | meaning |", "|---|---|---|---|"]
    for m in table:
        labels = ", ".join(f"`{label}`" for label in m.labels) or "none"
        lines.append(f"| `{m.name}` | {m.type} | {labels} | {m.help} |")
    if table is not METRICS:
        return "\n".join(lines)
    lines.append(
        "| `process_*` | several | none | CPU seconds, memory, open files and start time of the Python "
        "process; the JVM is another process (`lsql_jvm_*`). |"
    )
    return "\n".join(lines)
