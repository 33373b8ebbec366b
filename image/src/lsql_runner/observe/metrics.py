"""The metrics of a processor for Prometheus. `metric_table` lists them.

Counters and histograms are updated by events; lag, state and rates are read from the Status at each scrape.
`python -m lsql_runner.observe.metrics` prints the table as Markdown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import singledispatchmethod
from typing import get_args

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from lsql_runner.errors import ErrorReport
from lsql_runner.events.batches import FailureAction
from lsql_runner.events.memory import JvmMemory
from lsql_runner.events.processor import (
    BatchEnded,
    BlueGreenPhase,
    BrokerLost,
    Event,
    JvmGone,
    LateRecordsDropped,
    QueryDied,
    QueryMode,
    RecordsProcessed,
    ScalingDecided,
)
from lsql_runner.events.state import State
from lsql_runner.observe.metric_registry import MetricRegistry, MetricSample, family_of
from lsql_runner.observe.metric_table import METRICS, as_markdown
from lsql_runner.runtime.port import Identity
from lsql_runner.status.memory_parts import memory_parts
from lsql_runner.status.model import Status

_FAILED_RECORDS: dict[FailureAction, str] = {
    "dead_letter": "lsql_dead_letters_total",
    "skipped": "lsql_skipped_records_total",
}


class Metrics:
    """The metrics of one processor: a listener of events. `render` gives the response to a scrape."""

    def __init__(
        self,
        identity: Identity,
        status: Callable[[], Status],
        now_ms: Callable[[], int] = lambda: int(time.time() * 1000),
    ) -> None:
        self._registry = MetricRegistry(METRICS)
        self._registry.add(_StatusCollector(identity, status, now_ms))

    def __call__(self, event: Event) -> None:
        self._count(event)

    def render(self, accept: str) -> tuple[bytes, str]:
        """The body of a scrape and its content type: OpenMetrics if `accept` names it, else Prometheus text."""
        return self._registry.render(accept)

    @singledispatchmethod
    def _count(self, event: Event) -> None:
        """Events of other types only change the Status."""

    @_count.register
    def _(self, event: BatchEnded) -> None:
        self._registry.counters["lsql_records_in_total"].labels(event.query).inc(event.records_in)
        self._registry.counters["lsql_records_out_total"].labels(event.query).inc(event.records_out)
        self._registry.counters["lsql_batches_total"].labels(event.query).inc()
        self._registry.histograms["lsql_batch_duration_seconds"].labels(event.query).observe(event.duration_ms / 1000)
        self._registry.counters["lsql_future_records_total"].labels(event.query).inc(event.future_records)
        for failed in event.failed_records:
            failures = self._registry.counters[_FAILED_RECORDS[failed.action]]
            failures.labels(failed.topic, failed.code).inc(failed.records)
        phases = self._registry.histograms["lsql_batch_phase_duration_seconds"]
        for phase, duration_ms in event.phases_ms.items():
            phases.labels(event.query, phase).observe(duration_ms / 1000)
        if event.event_time_max_ms is not None:
            delay_s = (event.at_ms - event.event_time_max_ms) / 1000
            self._registry.gauges["lsql_event_time_delay_seconds"].labels(event.query).set(delay_s)

    @_count.register
    def _(self, event: RecordsProcessed) -> None:
        self._registry.counters["lsql_records_in_total"].labels(event.query).inc(event.records_in)
        self._registry.counters["lsql_records_out_total"].labels(event.query).inc(event.records_out)

    @_count.register
    def _(self, event: LateRecordsDropped) -> None:
        self._registry.counters["lsql_late_records_dropped_total"].labels(event.query).inc(event.count)

    @_count.register
    def _(self, event: QueryDied) -> None:
        self._count_error(event.error)

    @_count.register
    def _(self, event: BrokerLost) -> None:
        self._count_error(event.error)

    @_count.register
    def _(self, event: JvmGone) -> None:
        self._count_error(event.error)

    def _count_error(self, error: ErrorReport) -> None:
        self._registry.counters["lsql_errors_total"].labels(error.code).inc()


class _StatusCollector(Collector):
    """The metrics that are read from the Status at a scrape."""

    def __init__(self, identity: Identity, status: Callable[[], Status], now_ms: Callable[[], int]) -> None:
        self._identity = identity
        self._status = status
        self._now_ms = now_ms

    def collect(self) -> Iterator[Metric]:
        samples = _status_samples(self._identity, self._status(), self._now_ms())
        for spec in METRICS:
            if spec.by_event:
                continue
            yield family_of(spec, samples[spec.name])


def _status_samples(identity: Identity, status: Status, now_ms: int) -> dict[str, Sequence[MetricSample]]:
    """By name: the samples of every metric that events do not update."""
    stores = [(query, s) for query, reports in status.stores.items() for s in reports.values()]
    return {
        "lsql_build_info": [((identity.version, identity.app_id, identity.guarantee), 1)],
        "lsql_processor_state": [((state,), state is status.state) for state in State],
        "lsql_processor_state_since_timestamp_seconds": [((), status.since_ms / 1000)],
        "lsql_restarts_total": [((), status.restarts)],
        "lsql_broker_up": [((), status.broker_error is None)],
        "lsql_jvm_up": [((), status.jvm_error is None)],
        "lsql_records_in_per_second": [((), status.records_in_per_s)],
        "lsql_records_out_per_second": [((), status.records_out_per_s)],
        "lsql_lag_records": [((p.topic, str(p.partition)), lag) for p, lag in status.lags.items()],
        "lsql_position_offset": [((p.topic, str(p.partition)), o) for p, o in status.reached.items()],
        "lsql_end_offset": [((p.topic, str(p.partition)), offset) for p, offset in status.ends.items()],
        "lsql_watermark_delay_seconds": [((q,), (now_ms - at) / 1000) for q, at in status.watermarks_ms.items()],
        "lsql_query_mode": [((q.name, mode), mode == q.mode) for q in status.queries for mode in get_args(QueryMode)],
        "lsql_rebuild_records": [((query,), left) for query, left in status.records_to_rebuild.items()],
        "lsql_blue_green_phase": _of_change(status),
        "lsql_state_rows": [((query, s.name), s.rows) for query, s in stores],
        "lsql_state_memory_bytes": [((query, s.name), s.memory_bytes) for query, s in stores],
        "lsql_last_batch_timestamp_seconds": [((), status.last_batch.at_ms / 1000)] if status.last_batch else [],
        "lsql_state_volume_size_bytes": [((), status.volume.size_bytes)] if status.volume else [],
        "lsql_state_volume_free_bytes": [((), status.volume.free_bytes)] if status.volume else [],
        "lsql_leader": [((), int(status.leadership.leads))] if status.leadership else [],
        "lsql_workers": [] if status.workers is None else [((), len(status.workers))],
        "lsql_workers_wanted": _of_scaling(status, lambda scaling: scaling.wanted),
        "lsql_worker_records_per_second": _of_scaling(status, lambda scaling: scaling.worker_rate_per_s),
        "lsql_worker_slots": [] if status.workers is None else [((), sum(w.cores for w in status.workers))],
        **_memory_samples(identity, status),
        **_jvm_samples(status.memory.jvm if status.memory else None),
    }


def _of_change(status: Status) -> Sequence[MetricSample]:
    change = status.blue_green
    return [] if change is None else [((phase,), phase == change.phase) for phase in get_args(BlueGreenPhase)]


def _of_scaling(status: Status, number: Callable[[ScalingDecided], float | None]) -> Sequence[MetricSample]:
    value = None if status.scaling is None else number(status.scaling)
    return [] if value is None else [((), value)]


def _memory_samples(identity: Identity, status: Status) -> dict[str, Sequence[MetricSample]]:
    budget, measured = identity.memory, status.memory
    parts = () if budget is None else memory_parts(budget, status)
    jvm = None if measured is None else measured.jvm
    private = {
        "jvm": None if jvm is None else jvm.private_bytes,
        "python": None if measured is None else measured.python_bytes,
    }
    return {
        "lsql_memory_limit_bytes": [((), budget.limit_mib << 20)] if budget and budget.limit_mib else [],
        "lsql_memory_budget_bytes": [((part.part,), part.budget_bytes) for part in parts],
        "lsql_memory_used_bytes": [((p.part,), p.used_bytes) for p in parts if p.used_bytes is not None],
        "lsql_memory_private_bytes": [((process,), size) for process, size in private.items() if size is not None],
    }


_JVM_METRICS: dict[str, Callable[[JvmMemory], Sequence[MetricSample]]] = {
    "lsql_jvm_heap_used_bytes": lambda jvm: [((), jvm.heap_used_bytes)],
    "lsql_jvm_heap_max_bytes": lambda jvm: [((), jvm.heap_max_bytes)],
    "lsql_jvm_heap_committed_bytes": lambda jvm: [((), jvm.heap_committed_bytes)],
    "lsql_jvm_metaspace_bytes": lambda jvm: [((), jvm.metaspace_bytes)],
    "lsql_jvm_direct_buffers_bytes": lambda jvm: [((), jvm.direct_buffers_bytes)],
    "lsql_jvm_native_bytes": lambda jvm: [] if jvm.native_bytes is None else [((), jvm.native_bytes)],
    "lsql_jvm_threads": lambda jvm: [((), jvm.threads)],
    "lsql_jvm_gc_collections_total": lambda jvm: [((c.name,), c.collections) for c in jvm.collectors],
    "lsql_jvm_gc_seconds_total": lambda jvm: [((c.name,), c.time_ms / 1000) for c in jvm.collectors],
    "lsql_jvm_cpu_seconds_total": lambda jvm: [((), jvm.cpu_ms / 1000)],
}


def _jvm_samples(jvm: JvmMemory | None) -> dict[str, Sequence[MetricSample]]:
    return {name: [] if jvm is None else samples(jvm) for name, samples in _JVM_METRICS.items()}


if __name__ == "__main__":
    print(as_markdown())
