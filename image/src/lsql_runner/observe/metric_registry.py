"""The metrics of a table in a registry of the Prometheus client, and the response to a scrape."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector

from lsql_runner.observe.metric_table import MetricSpec

BUCKETS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds in seconds."""

MetricSample = tuple[tuple[str, ...], float]
"""Label values in the order of the table, and the value."""


class MetricRegistry:
    """A registry with the metrics of a table that events update, and metrics of the process.

    Attributes:
        counters, gauges, histograms: by name, the metrics that events update.
    """

    def __init__(self, table: Iterable[MetricSpec]) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry(auto_describe=False)
        updated = [spec for spec in table if spec.by_event]
        self.counters = {m.name: self._counter(m) for m in updated if m.type == "counter"}
        self.gauges = {m.name: self._gauge(m) for m in updated if m.type == "gauge"}
        self.histograms = {m.name: self._histogram(m) for m in updated if m.type == "histogram"}
        ProcessCollector(registry=self._registry)

    def add(self, collector: Collector) -> None:
        """Add metrics that are read at each scrape."""
        self._registry.register(collector)

    def render(self, accept: str) -> tuple[bytes, str]:
        """The body of a scrape and its content type: OpenMetrics if `accept` names it, else Prometheus text."""
        media_types = {part.split(";")[0].strip().lower() for part in accept.split(",")}
        if "application/openmetrics-text" in media_types:
            body: bytes = openmetrics.generate_latest(self._registry)  # type: ignore[no-untyped-call]
            return body, openmetrics.CONTENT_TYPE_LATEST
        return generate_latest(self._registry), CONTENT_TYPE_PLAIN_0_0_4

    def _counter(self, spec: MetricSpec) -> Counter:
        return Counter(spec.name, spec.help, spec.labels, registry=self._registry)

    def _gauge(self, spec: MetricSpec) -> Gauge:
        return Gauge(spec.name, spec.help, spec.labels, registry=self._registry)

    def _histogram(self, spec: MetricSpec) -> Histogram:
        return Histogram(spec.name, spec.help, spec.labels, buckets=BUCKETS_S, registry=self._registry)


def family_of(spec: MetricSpec, samples: Sequence[MetricSample]) -> Metric:
    """A counter or gauge with its samples, for a collector."""
    family = CounterMetricFamily if spec.type == "counter" else GaugeMetricFamily
    metric: Metric = family(spec.family, spec.help, labels=spec.labels)
    for labels, value in samples:
        metric.add_metric(labels, value)  # type: ignore[attr-defined]
    return metric
