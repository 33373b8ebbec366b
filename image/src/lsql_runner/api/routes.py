"""The table of routes: the app registers its routes from this table, and the OpenAPI document is made from it."""

from __future__ import annotations

from typing import Any

from lsql_runner.api.models import HealthReport, HistoryReport, StateReport, StateStore, StreamReport, Topology
from lsql_runner.web.openapi import ApiOperation, ResponseSpec, problem

PLAIN_METRICS = "text/plain"
OPEN_METRICS = "application/openmetrics-text"


HEALTH_RESPONSES = (
    ResponseSpec(200, "Yes.", HealthReport),
    ResponseSpec(503, "No: `reasons` lists why.", HealthReport),
)
ACTION_RESPONSES = (
    ResponseSpec(202, "Accepted; the processor changes its state in the background.", StateReport),
    problem(403, "The request came from a page of another site."),
    problem(409, "The current state does not allow the request."),
)

ROUTES: tuple[ApiOperation, ...] = (
    ApiOperation(
        "GET", "/", "page", "page", "The processor's page", (ResponseSpec(200, "The page.", str, ("text/html",)),)
    ),
    ApiOperation("GET", "/health", "health", "health", "Is the processor healthy?", HEALTH_RESPONSES),
    ApiOperation(
        "GET",
        "/health/live",
        "live",
        "health",
        "Are the process and its JVM alive?",
        HEALTH_RESPONSES,
        "For a liveness probe: fails only when a new process is needed.",
    ),
    ApiOperation(
        "GET",
        "/health/ready",
        "ready",
        "health",
        "Is the processor healthy and has it started?",
        HEALTH_RESPONSES,
        "For a readiness probe. A processor that was stopped, or that waits for a first record, is ready.",
    ),
    ApiOperation(
        "GET",
        "/health/startup",
        "startup",
        "health",
        "Has the processor started once?",
        HEALTH_RESPONSES,
        "For a startup probe.",
    ),
    ApiOperation(
        "GET",
        "/metrics",
        "metrics",
        "metrics",
        "Metrics for Prometheus",
        (ResponseSpec(200, "The metrics, as OpenMetrics if `Accept` has it.", str, (PLAIN_METRICS, OPEN_METRICS)),),
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
        "The rows of a state store",
        (
            problem(404, "The program has no store of this name."),
            problem(501, "The store exists, but this version cannot read it."),
        ),
        "Reserved: this version always responds with a problem.",
    ),
    ApiOperation(
        "GET",
        "/stream",
        "stream",
        "processor",
        "The processor: program, state, offsets, lag, errors",
        (ResponseSpec(200, "The current status of the processor.", StreamReport),),
    ),
    ApiOperation(
        "GET",
        "/history",
        "history",
        "processor",
        "The last hour: rates, lag and batches in samples of ten seconds",
        (ResponseSpec(200, "The samples.", HistoryReport),),
        "The samples are in the memory of the process; a new process begins without samples.",
    ),
    ApiOperation(
        "POST",
        "/stop",
        "stop",
        "processor",
        "Stop the processor",
        ACTION_RESPONSES,
        "The running batch ends first. Position and state are kept. A restarted process stays stopped.",
    ),
    ApiOperation(
        "POST",
        "/start",
        "start",
        "processor",
        "Start the processor after a stop or a failure",
        ACTION_RESPONSES,
        "The processor continues at its position.",
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
