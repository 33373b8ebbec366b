"""Answers requests of the Kubernetes API `external.metrics.k8s.io` from the reports of processors.

path, labelSelector -> [ ExternalMetrics.respond ] -> status, JSON

A HorizontalPodAutoscaler keeps its number when it gets no value. So a number is served only if the processor reported
it just now; it is never replaced by an older one or by a guess.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Any, Protocol

from lsql_runner.console.discovery import FetchReports
from lsql_runner.console.document import RunnerReport
from lsql_runner.console.label_selector import parse_selector
from lsql_runner.console.watch import ClusterView
from lsql_runner.console.workloads import ID_LABEL, ProcessorWorkload, WorkloadKey
from lsql_runner.errors import Detail, DetailTable, LsqlError
from lsql_runner.events.console import ConsoleListener, MetricRequested
from lsql_runner.reports.stream import ScalingReport

GROUP = "external.metrics.k8s.io"
VERSION = f"{GROUP}/v1beta1"
CACHE_S = 2.0
"""How long a report is used: an autoscaler requests several metrics of a processor together, every 15 s."""
DONE = "done"
_VALUES = re.compile(rf"/apis/{re.escape(VERSION)}/namespaces/(?P<namespace>[^/]+)/(?P<metric>[^/]+)\Z")

Json = dict[str, Any]
Number = int | float

METRICS: Mapping[str, Callable[[ScalingReport], Number | None]] = {
    "lsql_workers_wanted": lambda scaling: None if scaling.dry_run else scaling.wanted,
    "lsql_lag_records": lambda scaling: scaling.lag_records,
    "lsql_catch_up_seconds": lambda scaling: scaling.catch_up_seconds,
}
WANTED = "lsql_workers_wanted"

_REASONS = DetailTable(
    {
        "UNREACHABLE": "its runner does not answer: {reason}",
        "OFF": "autoscaling is off in its release",
        "DRY_RUN": "autoscaling of its release is in dry run",
        "UNDECIDED": "the processor has no number: {reason}",
        "UNKNOWN": "the processor does not know it",
    }
)


class ProcessorView(Protocol):
    @property
    def view(self) -> ClusterView | None:
        """The processors at the last refresh; None before the first."""


@dataclass(frozen=True, slots=True)
class _Fetched:
    report: RunnerReport
    at: datetime
    at_s: float


class ExternalMetrics:
    """The API. Several threads call `respond`."""

    def __init__(
        self,
        watch: ProcessorView,
        fetch_reports: FetchReports,
        listener: ConsoleListener,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._watch = watch
        self._fetch_reports = fetch_reports
        self._listener = listener
        self._clock = clock
        self._fetched: dict[WorkloadKey, _Fetched] = {}
        self._lock = Lock()

    def respond(self, path: str, selector: str) -> tuple[int, Json]:
        """Status and body of the response to a GET."""
        if path == f"/apis/{GROUP}":
            return 200, _group()
        if path == f"/apis/{VERSION}":
            return 200, _resources()
        match = _VALUES.match(path)
        if match is None:
            return 404, _status(404, "NotFound", f"The path {path[:200]} does not exist.")
        metric = match["metric"]
        try:
            body = self._values(match["namespace"], metric, selector)
        except LsqlError as error:
            self._listener(MetricRequested(metric if metric in METRICS else "other", error.code))
            code = error.kind.http_status.value
            return code, _status(code, _KINDS.get(code, "InternalError"), f"{error.message} {error.way_out}")
        self._listener(MetricRequested(metric, DONE))
        return 200, body

    def _values(self, namespace: str, metric: str, selector: str) -> Json:
        """The ExternalMetricValueList.

        Raises:
            LsqlError: METRIC_UNKNOWN, CONSOLE_STARTING, SELECTOR_INVALID, METRIC_WITHOUT_PROCESSOR, METRIC_AMBIGUOUS,
                METRIC_WITHOUT_VALUE.
        """
        if metric not in METRICS:
            raise LsqlError("METRIC_UNKNOWN", metric=metric[:80], known=", ".join(METRICS))
        requirements = parse_selector(selector)
        view = self._watch.view
        if view is None:
            raise LsqlError("CONSOLE_STARTING")
        chosen = [
            processor
            for processor in view.processors.values()
            if processor.namespace == namespace and all(each.allows(_labels(processor)) for each in requirements)
        ]
        if not chosen:
            raise LsqlError("METRIC_WITHOUT_PROCESSOR", namespace=namespace[:63], selector=selector[:200])
        if metric == WANTED and len(chosen) > 1:  # an autoscaler would add the numbers
            names = ", ".join(sorted(processor.name for processor in chosen)[:5])
            raise LsqlError("METRIC_AMBIGUOUS", selector=selector[:200], namespace=namespace[:63], names=names)
        fetched = self._reports(chosen)
        items = [
            _item(metric, processor, value, fetched[processor.key].at)
            for processor in chosen
            if (value := _value(metric, fetched[processor.key].report)) is not None
        ]
        if not items:
            first = chosen[0]
            reason = _reason(metric, fetched[first.key].report)
            raise LsqlError("METRIC_WITHOUT_VALUE", metric=metric, name=first.name, reason=reason)
        return {"kind": "ExternalMetricValueList", "apiVersion": VERSION, "metadata": {}, "items": items}

    def _reports(self, processors: Sequence[ProcessorWorkload]) -> dict[WorkloadKey, _Fetched]:
        with self._lock:
            oldest = self._clock() - CACHE_S
            self._fetched = {key: known for key, known in self._fetched.items() if known.at_s >= oldest}
            reports = {p.key: self._fetched[p.key] for p in processors if p.key in self._fetched}
        missing = [p for p in processors if p.key not in reports]
        if missing:
            # The time before the request: the report is not older than that.
            at, at_s = datetime.now(UTC), self._clock()
            new = {key: _Fetched(report, at, at_s) for key, report in self._fetch_reports(missing).items()}
            with self._lock:
                self._fetched |= new
            reports |= new
        return reports


_KINDS = {400: "BadRequest", 404: "NotFound", 409: "Conflict", 502: "ServiceUnavailable"}
"""The reason of a Status, by its code."""


def quantity(value: Number) -> str:
    """A number as a Quantity of Kubernetes, rounded up to a thousandth."""
    thousandths = math.ceil(round(value * 1000, 3))
    return str(thousandths // 1000) if thousandths % 1000 == 0 else f"{thousandths}m"


def _value(metric: str, report: RunnerReport) -> Number | None:
    return None if report.scaling is None else METRICS[metric](report.scaling)


def _reason(metric: str, report: RunnerReport) -> Detail:
    """Why a report has no value of the metric."""
    scaling = report.scaling
    if report.unreachable is not None:
        return _REASONS("UNREACHABLE", reason=report.unreachable)
    if scaling is None:
        return _REASONS("OFF")
    if metric != WANTED:
        return _REASONS("UNKNOWN")
    return _REASONS("DRY_RUN") if scaling.dry_run else _REASONS("UNDECIDED", reason=scaling.reason or "unknown")


def _labels(processor: ProcessorWorkload) -> dict[str, str]:
    """The labels by which a processor is selected: those that select its pods, its name and its id."""
    own = {"app": processor.name, ID_LABEL: processor.id or processor.uid}
    return own | dict(processor.pod_labels)


def _item(metric: str, processor: ProcessorWorkload, value: Number, at: datetime) -> Json:
    return {
        "metricName": metric,
        "metricLabels": _labels(processor),
        "timestamp": f"{at:%Y-%m-%dT%H:%M:%SZ}",
        "value": quantity(value),
    }


def _group() -> Json:
    version = {"groupVersion": VERSION, "version": VERSION.partition("/")[2]}
    return {"kind": "APIGroup", "apiVersion": "v1", "name": GROUP, "versions": [version], "preferredVersion": version}


def _resources() -> Json:
    resources = [
        {"name": name, "singularName": "", "namespaced": True, "kind": "ExternalMetricValueList", "verbs": ["get"]}
        for name in METRICS
    ]
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": VERSION, "resources": resources}


def _status(code: int, reason: str, message: str) -> Json:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
