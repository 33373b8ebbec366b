"""The one list of metrics: the code registers them from it, docs/reference/metrics.md is made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """One metric: counted as events come (`by_event`), or read from the Status at a scrape."""

    name: str
    type: Literal["counter", "gauge", "histogram"]
    help: str
    labels: tuple[str, ...] = ()
    by_event: bool = False

    @property
    def family(self) -> str:
        """The name without the suffix that exposition adds to counters."""
        return self.name.removesuffix("_total") if self.type == "counter" else self.name


METRICS: tuple[MetricSpec, ...] = (
    MetricSpec("lsql_build_info", "gauge", "Always 1; the labels say what runs.", ("version", "app_id", "guarantee")),
    MetricSpec("lsql_processor_state", "gauge", "1 for the state the processor is in, 0 for the others.", ("state",)),
    MetricSpec(
        "lsql_processor_state_since_timestamp_seconds",
        "gauge",
        "When the processor came into its state, in Unix time.",
    ),
    MetricSpec("lsql_restarts_total", "counter", "Starts after a query failed, since the process began."),
    MetricSpec(
        "lsql_errors_total",
        "counter",
        "Failures of queries and losses of broker or JVM, by error code.",
        ("code",),
        by_event=True,
    ),
    MetricSpec("lsql_broker_up", "gauge", "1 while the brokers respond, else 0."),
    MetricSpec("lsql_jvm_up", "gauge", "1 while the Spark JVM lives, else 0."),
    MetricSpec("lsql_records_in_total", "counter", "Records read from the source topics.", ("query",), by_event=True),
    MetricSpec(
        "lsql_records_out_total",
        "counter",
        "Records written to the target topics.",
        ("query",),
        by_event=True,
    ),
    MetricSpec(
        "lsql_records_in_per_second",
        "gauge",
        "Records read per second in the last batch; 0 when there is none to read.",
    ),
    MetricSpec(
        "lsql_records_out_per_second",
        "gauge",
        "Records written per second in the last batch; 0 when there is none to read.",
    ),
    MetricSpec(
        "lsql_batches_total",
        "counter",
        "Micro-batches whose position is in the checkpoint.",
        ("query",),
        by_event=True,
    ),
    MetricSpec(
        "lsql_batch_duration_seconds",
        "histogram",
        "Time from a batch's start to its commit.",
        ("query",),
        by_event=True,
    ),
    MetricSpec(
        "lsql_batch_phase_duration_seconds",
        "histogram",
        "Time of one phase of a batch, named as the engine does (addBatch, walCommit, ...).",
        ("query", "phase"),
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
        ("topic", "partition"),
    ),
    MetricSpec(
        "lsql_position_offset",
        "gauge",
        "Next offset to read: the least of all queries.",
        ("topic", "partition"),
    ),
    MetricSpec(
        "lsql_end_offset",
        "gauge",
        "End of a source partition, as last measured; never less than the position.",
        ("topic", "partition"),
    ),
    MetricSpec(
        "lsql_event_time_delay_seconds",
        "gauge",
        "From the newest event time of the last batch that had one to that batch's end: how fresh results "
        "are. Stands still while no record comes.",
        ("query",),
        by_event=True,
    ),
    MetricSpec(
        "lsql_watermark_delay_seconds",
        "gauge",
        "From the watermark to now: how long after its end a window closes. It holds the grace, and grows "
        "while no record comes, because event time then stands still.",
        ("query",),
    ),
    MetricSpec(
        "lsql_late_records_dropped_total",
        "counter",
        "Records that came after the grace, counted once for each window they belong to; of a join of streams once.",
        ("query",),
        by_event=True,
    ),
    MetricSpec(
        "lsql_dead_letters_total",
        "counter",
        "Records with an error that were written to the dead letter queue, by the topic they came from; of groups and "
        "pairs, by their target.",
        ("topic", "code"),
        by_event=True,
    ),
    MetricSpec(
        "lsql_skipped_records_total",
        "counter",
        "Records that were skipped because of an error or as rows of a table without a key "
        "(RECORD_WITHOUT_KEY), by the topic they came from; of groups and pairs, by their target.",
        ("topic", "code"),
        by_event=True,
    ),
    MetricSpec("lsql_state_rows", "gauge", "Rows of a state store at the end of the last batch.", ("query", "store")),
    MetricSpec(
        "lsql_state_memory_bytes",
        "gauge",
        "Memory of a state store at the end of the last batch.",
        ("query", "store"),
    ),
)


def as_markdown() -> str:
    """The table for the reference page."""
    lines = ["| name | type | labels | meaning |", "|---|---|---|---|"]
    for m in METRICS:
        labels = ", ".join(f"`{label}`" for label in m.labels) or "none"
        lines.append(f"| `{m.name}` | {m.type} | {labels} | {m.help} |")
    lines.append(
        "| `process_*` | several | none | CPU seconds, memory, open files and start time of the Python "
        "process; the JVM is another process. |"
    )
    return "\n".join(lines)
