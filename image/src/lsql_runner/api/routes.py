"""The one table of routes: the app registers them from here and the OpenAPI document is made from it."""

from __future__ import annotations

from typing import Any

from lsql_runner.api.models import HealthReport, HistoryReport, StateReport, Store, StreamReport, Topology
from lsql_runner.web.openapi import Answer, Operation, problem

PLAIN_METRICS = "text/plain"
OPEN_METRICS = "application/openmetrics-text"


def _health(healthy: str) -> tuple[Answer, ...]:
    return Answer(200, healthy, HealthReport), Answer(503, "It is not; the reasons say why.", HealthReport)


REFUSED = (
    Answer(202, "Taken. It is carried out in the background.", StateReport),
    problem(403, "A page of another site asked for it."),
    problem(409, "It does not go together with the present state."),
)

ROUTES: tuple[Operation, ...] = (
    Operation("GET", "/", "page", "page", "The processor's page", (Answer(200, "The page.", str, ("text/html",)),)),
    Operation("GET", "/health", "health", "health", "Is the processor well?", _health("It is.")),
    Operation(
        "GET",
        "/health/live",
        "live",
        "health",
        "Do the process and its JVM live?",
        _health("They do."),
        "For a liveness probe: fails only where nothing but a new process helps.",
    ),
    Operation(
        "GET",
        "/health/ready",
        "ready",
        "health",
        "Is the processor well and past its start?",
        _health("It is."),
        "For a readiness probe. One that a person stopped, or that waits for a first record, is ready.",
    ),
    Operation(
        "GET",
        "/health/startup",
        "startup",
        "health",
        "Has the processor once come past its start?",
        _health("It has."),
        "For a startup probe.",
    ),
    Operation(
        "GET",
        "/metrics",
        "metrics",
        "metrics",
        "Metrics for Prometheus",
        (Answer(200, "The metrics; OpenMetrics where `Accept` names it.", str, (PLAIN_METRICS, OPEN_METRICS)),),
    ),
    Operation(
        "GET",
        "/metadata",
        "stores",
        "state",
        "The state stores",
        (Answer(200, "All stores of the program.", list[Store]),),
    ),
    Operation(
        "GET",
        "/metadata/<name>",
        "store_rows",
        "state",
        "What a state store holds",
        (
            problem(404, "The program has no store of this name."),
            problem(501, "The store exists; reading it is not supported in this version."),
        ),
        "Reserved: this version always answers with a problem.",
    ),
    Operation(
        "GET",
        "/stream",
        "stream",
        "processor",
        "The processor: program, state, offsets, lag, errors",
        (Answer(200, "The processor as it is now.", StreamReport),),
    ),
    Operation(
        "GET",
        "/history",
        "history",
        "processor",
        "The last hour: rates, lag and batches in samples of ten seconds",
        (Answer(200, "The samples.", HistoryReport),),
        "The process keeps it in memory; a new process begins with none.",
    ),
    Operation(
        "POST",
        "/stop",
        "stop",
        "processor",
        "Stop the processor",
        REFUSED,
        "The batch under way ends; position and state are kept, also over a restart of the process.",
    ),
    Operation(
        "POST",
        "/start",
        "start",
        "processor",
        "Start the processor after a stop or a failure",
        REFUSED,
        "It goes on at the position it has kept.",
    ),
    Operation(
        "GET",
        "/topology",
        "topology",
        "processor",
        "The program as a graph, and its plan",
        (Answer(200, "The graph; empty until the topics are known.", Topology),),
    ),
    Operation(
        "GET",
        "/openapi.json",
        "openapi",
        "page",
        "This document",
        (Answer(200, "OpenAPI 3.1.", dict[str, Any]),),
    ),
)
