"""The metrics of the console for Prometheus: a listener of its events. `metric_table` lists them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatchmethod

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from lsql_runner.events.console import ActionEnded, ClusterRead, ClusterUnreadable, ConsoleEvent, RequestEnded
from lsql_runner.observe.metric_registry import MetricRegistry, MetricSample, family_of
from lsql_runner.observe.metric_table import CONSOLE_METRICS


class ConsoleMetrics:
    """The metrics of one console. `render` gives the response to a scrape."""

    def __init__(self) -> None:
        self._registry = MetricRegistry(CONSOLE_METRICS)
        self._view = _ViewCollector()
        self._registry.add(self._view)

    def __call__(self, event: ConsoleEvent) -> None:
        self._count(event)

    def render(self, accept: str) -> tuple[bytes, str]:
        """See MetricRegistry.render."""
        return self._registry.render(accept)

    @singledispatchmethod
    def _count(self, event: ConsoleEvent) -> None:
        raise TypeError(f"no such event: {event!r}")

    @_count.register
    def _(self, event: RequestEnded) -> None:
        counters = self._registry.counters
        counters["lsql_console_requests_total"].labels(event.route, event.method, str(event.status)).inc()
        self._registry.histograms["lsql_console_request_duration_seconds"].labels(event.route).observe(event.duration_s)

    @_count.register
    def _(self, event: ActionEnded) -> None:
        self._registry.counters["lsql_console_actions_total"].labels(event.action, event.result).inc()

    @_count.register
    def _(self, event: ClusterRead) -> None:
        before = self._view.read
        # The first document that the console reads was published before the console started.
        if before is not None and event.recovered_at_s not in (None, before.recovered_at_s):
            self._registry.counters["lsql_recovery_runs_total"].inc()
        self._registry.counters["lsql_console_refreshes_total"].labels("done").inc()
        self._view.read = event

    @_count.register
    def _(self, event: ClusterUnreadable) -> None:
        self._registry.counters["lsql_console_refreshes_total"].labels("failed").inc()


class _ViewCollector(Collector):
    """The metrics of the last view of the cluster."""

    def __init__(self) -> None:
        self.read: ClusterRead | None = None

    def collect(self) -> Iterator[Metric]:
        samples = _samples(self.read)
        for spec in CONSOLE_METRICS:
            if not spec.by_event:
                yield family_of(spec, samples[spec.name])


def _samples(read: ClusterRead | None) -> dict[str, Sequence[MetricSample]]:
    recovered_at_s = None if read is None else read.recovered_at_s
    return {
        "lsql_console_last_refresh_timestamp_seconds": [] if read is None else [((), read.at_s)],
        "lsql_console_unreadable_namespaces": [] if read is None else [((), read.unreadable_namespaces)],
        "lsql_console_processors": [] if read is None else [(labels, n) for labels, n in read.processors.items()],
        "lsql_recovery_last_run_timestamp_seconds": [] if recovered_at_s is None else [((), recovered_at_s)],
    }
