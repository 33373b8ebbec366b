"""The table of routes: the app registers its routes from this table, and the OpenAPI document is made from it."""

from __future__ import annotations

from typing import Any

from lsql_runner.api.store_query import PARAMETERS, PRUNE_PARAMETERS
from lsql_runner.reports.responses import (
    ComparisonReport,
    HistoryReport,
    ProgramRequest,
    SnapshotReport,
    SnapshotRequest,
    StateReport,
    StateStore,
    StoreRows,
    Topology,
    VerdictReport,
)
from lsql_runner.reports.stream import HealthReport, StreamReport
from lsql_runner.web.openapi import METRICS_TYPES, ApiOperation, ResponseSpec, problem

HEALTH_RESPONSES = (
    ResponseSpec(200, "Yes.", HealthReport),
    ResponseSpec(503, "No: `reasons` lists why.", HealthReport),
)
REFUSED = (
    problem(401, "The request has no token, or another one."),
    problem(
        403,
        "The processor accepts no such requests, the request came from a page of another site, or the host name in the "
        "URL is not allowed.",
    ),
)
STATE_UNREACHABLE = problem(503, "The store with the state does not answer, or the processor has no state to show.")
ACTION_RESPONSES = (
    ResponseSpec(202, "Accepted; the processor changes its state in the background.", StateReport),
    *REFUSED,
    problem(409, "The current state does not allow the request."),
)

ROUTES: tuple[ApiOperation, ...] = (
    ApiOperation(
        "GET",
        "/",
        name="page",
        tag="page",
        summary="The processor's page",
        responses=(ResponseSpec(200, "The page.", str, ("text/html",)),),
    ),
    ApiOperation(
        "GET", "/health", name="health", tag="health", summary="Is the processor healthy?", responses=HEALTH_RESPONSES
    ),
    ApiOperation(
        "GET",
        "/health/live",
        name="live",
        tag="health",
        summary="Are the process and its JVM alive?",
        responses=HEALTH_RESPONSES,
        description="For a liveness probe: fails only when a new process is needed.",
    ),
    ApiOperation(
        "GET",
        "/health/ready",
        name="ready",
        tag="health",
        summary="Is the processor healthy and has it started?",
        responses=HEALTH_RESPONSES,
        description="For a readiness probe. A processor that was stopped, or that waits for a first record, is ready.",
    ),
    ApiOperation(
        "GET",
        "/health/startup",
        name="startup",
        tag="health",
        summary="Has the processor started once?",
        responses=HEALTH_RESPONSES,
        description="For a startup probe.",
    ),
    ApiOperation(
        "GET",
        "/metrics",
        name="metrics",
        tag="metrics",
        summary="Metrics for Prometheus",
        responses=(ResponseSpec(200, "The metrics, as OpenMetrics if `Accept` has it.", str, METRICS_TYPES),),
    ),
    ApiOperation(
        "GET",
        "/metadata",
        name="stores",
        tag="state",
        summary="The state stores",
        responses=(ResponseSpec(200, "All stores of the program.", list[StateStore]),),
    ),
    ApiOperation(
        "GET",
        "/metadata/<name>",
        name="store_rows",
        tag="state",
        summary="The rows of a state store",
        responses=(
            ResponseSpec(200, "The rows, and what the state contains.", StoreRows),
            problem(400, "A parameter, the key or the cursor is invalid."),
            problem(401, "The request has no token, or another one."),
            problem(403, "The processor does not show rows, or the host name in the URL is not allowed."),
            problem(404, "The program has no store of this name."),
            problem(429, "There are more requests than LSQL_API_QUERIES_PER_SECOND."),
            problem(501, "Stores of this kind cannot be read."),
            problem(503, "The state is not in memory, or not as new as the request wants it."),
        ),
        description="The rows of a key, or a page of all rows, as the last batch has left them. The open batch of a "
        "query in real time is added when it ends: after 30 s at the latest, or as soon as a request waits for it.",
        query=PARAMETERS,
        schemes=("read_token",),
    ),
    ApiOperation(
        "GET",
        "/comparison",
        name="comparison",
        tag="state",
        summary="A changed INSERT beside the earlier one",
        responses=(
            ResponseSpec(200, "For each changed INSERT that is built beside an earlier one.", list[ComparisonReport]),
            problem(401, "The request has no token, or another one."),
            problem(403, "The processor does not show rows, or the host name in the URL is not allowed."),
            problem(409, "No changed INSERT is built beside an earlier one."),
            problem(429, "There are more requests than LSQL_API_QUERIES_PER_SECOND."),
            problem(501, "Stores of this kind cannot be read."),
            problem(503, "The state is not in memory."),
        ),
        description="The first 10,000 groups are compared after the same records, in the fields that both have.",
        schemes=("read_token",),
    ),
    ApiOperation(
        "GET",
        "/stream",
        name="stream",
        tag="processor",
        summary="The processor: program, state, offsets, lag, errors",
        responses=(ResponseSpec(200, "The current status of the processor.", StreamReport),),
    ),
    ApiOperation(
        "GET",
        "/history",
        name="history",
        tag="processor",
        summary="The last hour: rates, lag and batches in samples of ten seconds",
        responses=(ResponseSpec(200, "The samples.", HistoryReport),),
        description="The samples are in the memory of the process; a new process begins without samples.",
    ),
    ApiOperation(
        "POST",
        "/stop",
        name="stop",
        tag="processor",
        summary="Stop the processor",
        responses=ACTION_RESPONSES,
        description="The running batch ends first. Position and state are kept. A restarted process stays stopped.",
        schemes=("token",),
    ),
    ApiOperation(
        "POST",
        "/start",
        name="start",
        tag="processor",
        summary="Start the processor after a stop or a failure",
        responses=ACTION_RESPONSES,
        description="The processor continues at its position.",
        schemes=("token",),
    ),
    ApiOperation(
        "POST",
        "/switch",
        name="switch",
        tag="processor",
        summary="Let a changed INSERT take over from the earlier one",
        responses=ACTION_RESPONSES,
        description="Of a change with LSQL_STATE_ON_CHANGE=blue_green and LSQL_STATE_SWITCH=manual, while "
        "`blueGreen.phase` in /stream is `ready`.",
        schemes=("token",),
    ),
    ApiOperation(
        "GET",
        "/snapshots",
        name="snapshots",
        tag="state",
        summary="The snapshots of the state",
        responses=(ResponseSpec(200, "The snapshots, the oldest first.", list[SnapshotReport]), STATE_UNREACHABLE),
    ),
    ApiOperation(
        "POST",
        "/snapshots",
        name="take_snapshot",
        tag="state",
        summary="Take a snapshot of the state",
        responses=(
            ResponseSpec(201, "The snapshot.", SnapshotReport),
            problem(400, "The body has no name that a snapshot can have."),
            *REFUSED,
            problem(409, "There is a snapshot of this name, or no state yet."),
            STATE_UNREACHABLE,
        ),
        description="The processor runs on. The response is sent when the snapshot is complete.",
        body=SnapshotRequest,
        schemes=("token",),
    ),
    ApiOperation(
        "POST",
        "/snapshots/<name>/restore",
        name="restore_snapshot",
        tag="state",
        summary="Let the next start continue from a snapshot",
        responses=(
            ResponseSpec(200, "The snapshot.", SnapshotReport),
            *REFUSED,
            problem(404, "There is no snapshot of this name."),
            problem(409, "The processor is neither stopped nor failed."),
            STATE_UNREACHABLE,
        ),
        description="Results after the snapshot are written again.",
        schemes=("token",),
    ),
    ApiOperation(
        "POST",
        "/snapshots/prune",
        name="prune_snapshots",
        tag="state",
        summary="Delete all snapshots but the newest ones",
        responses=(
            ResponseSpec(200, "The deleted snapshots.", list[SnapshotReport]),
            problem(400, "A parameter is invalid."),
            *REFUSED,
            STATE_UNREACHABLE,
        ),
        query=PRUNE_PARAMETERS,
        schemes=("token",),
    ),
    ApiOperation(
        "POST",
        "/verdict",
        name="verdict",
        tag="processor",
        summary="What would happen to the state with another program?",
        responses=(
            ResponseSpec(200, "The verdict on each INSERT, and whether a start would be refused.", VerdictReport),
            problem(400, "The body is not a program."),
            problem(401, "The request has no token, or another one."),
            problem(403, "The processor accepts no such requests, or not from this page or host name."),
            problem(413, "The program is too long."),
        ),
        description="The program is bound to the present topics, and compared with the state, as a start does. Nothing "
        "changes.",
        body=ProgramRequest,
        schemes=("token",),
    ),
    ApiOperation(
        "GET",
        "/topology",
        name="topology",
        tag="processor",
        summary="The program as a graph, and its plan",
        responses=(ResponseSpec(200, "The graph; empty until the topics are known.", Topology),),
    ),
    ApiOperation(
        "GET",
        "/openapi.json",
        name="openapi",
        tag="page",
        summary="This document",
        responses=(ResponseSpec(200, "OpenAPI 3.1.", dict[str, Any]),),
    ),
)
