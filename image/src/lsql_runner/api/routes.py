"""The one table of routes: the app registers them from here and the OpenAPI document is made from it."""

from __future__ import annotations

from typing import Any

from lsql_runner.api.models import HealthReport, HistoryReport, StateReport, StateStore, StreamReport, Topology
from lsql_runner.web.openapi import ApiOperation, ResponseSpec, problem

PLAIN_METRICS = "text/plain"
OPEN_METRICS = "application/openmetrics-text"


def _health(healthy: str) -> tuple[ResponseSpec, ...]:
    return ResponseSpec(200, healthy, HealthReport), ResponseSpec(503, "It is not; `reasons` says why.", HealthReport)


REFUSED = (
    ResponseSpec(202, "Accepted. It is carried out in the background.", StateReport),
    problem(403, "The request came from a page of another site."),
    problem(409, "The present state does not allow it."),
)

ROUTES: tuple[ApiOperation, ...] = (
    ApiOperation(
        "GET", "/", "page", "page", "The processor's page", (ResponseSpec(200, "The page.", str, ("text/html",)),)
    ),
    ApiOperation("GET", "/health", "health", "health", "Is the processor healthy?", _health("It is.")),
    ApiOperation(
        "GET",
        "/health/live",
        "live",
        "health",
        "Are the process and its JVM alive?",
        _health("They are."),
        "For a liveness probe: fails only when a new process is needed.",
    ),
    ApiOperation(
        "GET",
        "/health/ready",
        "ready",
        "health",
        "Is the processor healthy and has it started?",
        _health("It is."),
        "For a readiness probe. A processor that was stopped, or that waits for a first record, is ready.",
    ),
    ApiOperation(
        "GET",
        "/health/startup",
        "startup",
        "health",
        "Has the processor started once?",
        _health("It has."),
        "For a startup probe.",
    ),
    ApiOperation(
        "GET",
        "/metrics",
        "metrics",
        "metrics",
        "Metrics for Prometheus",
        (ResponseSpec(200, "The metrics; OpenMetrics where `Accept` names it.", str, (PLAIN_METRICS, OPEN_METRICS)),),
    ),
    ApiOperation(
        "GET",
        "/metadata",
        "stores",
        "state",
        "The state stores",
        (ResponseSpec(200, "All stores of the program.", list[StateStore]),),
    ),
    ApiOperation(
        "GET",
        "/metadata/<name>",
        "store_rows",
        "state",
        "What a state store holds",
        (
            problem(404, "The program has no store of this name."),
            problem(501, "The store exists; reading it is not supported in this version."),
        ),
        "Reserved: this version always responds with a problem.",
    ),
    ApiOperation(
        "GET",
        "/stream",
        "stream",
        "processor",
        "The processor: program, state, offsets, lag, errors",
        (ResponseSpec(200, "The processor as it is now.", StreamReport),),
    ),
    ApiOperation(
        "GET",
        "/history",
        "history",
        "processor",
        "The last hour: rates, lag and batches in samples of ten seconds",
        (ResponseSpec(200, "The samples.", HistoryReport),),
        "The process keeps it in memory; a new process begins with none.",
    ),
    ApiOperation(
        "POST",
        "/stop",
        "stop",
        "processor",
        "Stop the processor",
        REFUSED,
        "The running batch ends first. Position and state are kept; a restart of the process keeps it stopped.",
    ),
    ApiOperation(
        "POST",
        "/start",
        "start",
        "processor",
        "Start the processor after a stop or a failure",
        REFUSED,
        "It continues at its position.",
    ),
    ApiOperation(
        "GET",
        "/topology",
        "topology",
        "processor",
        "The program as a graph, and its plan",
        (ResponseSpec(200, "The graph; empty until the topics are known.", Topology),),
    ),
    ApiOperation(
        "GET",
        "/openapi.json",
        "openapi",
        "page",
        "This document",
        (ResponseSpec(200, "OpenAPI 3.1.", dict[str, Any]),),
    ),
)
