"""The table of the console's routes: the role that each requires, and its responses.

The app registers its routes from this table, and the OpenAPI document is made from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lsql_runner.console.document import Document, ProcessorEntry
from lsql_runner.console.filters import FILTERS
from lsql_runner.console.history import HistoryEvent, Point
from lsql_runner.console.models import (
    Accepted,
    ConsoleHealth,
    Deleted,
    LoginRequest,
    LogTail,
    ScaleAccepted,
    Session,
    StreamList,
)
from lsql_runner.reports.responses import StateStore, Topology
from lsql_runner.web.openapi import METRICS_TYPES, ApiOperation, ResponseSpec, problem

Access = Literal["anyone", "viewer", "operator"]
API = "/api/v1"
_PROCESSOR = f"{API}/streams/<id>"
_SCHEMES = ("token", "session")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route(ApiOperation):
    """An operation of the API, and the role that it requires."""

    access: Access = "operator"


BAD_REQUEST = problem(400, "The request is wrong.")
UNAUTHENTICATED = problem(401, "The request is not authenticated.")
FORBIDDEN = problem(
    403,
    "The caller lacks the role, the action is not enabled, the request came from a page of another site, or the host "
    "name in the URL is not allowed.",
)
UNKNOWN = problem(404, "No processor has this id.")
CONFLICT = problem(409, "The current state does not allow the request.")
UNAVAILABLE = problem(502, "The cluster or the runner does not respond.")
PROCESSOR_ERRORS = (UNAUTHENTICATED, FORBIDDEN, UNKNOWN, CONFLICT, UNAVAILABLE)
"""The errors of a request about one processor."""


def _open_route(
    path: str, name: str, summary: str, *responses: ResponseSpec, method: str = "GET", body: Any = None
) -> Route:
    """A route without authentication."""
    return Route(
        method, path, name=name, tag="console", summary=summary, responses=responses, body=body, access="anyone"
    )


def _list_route(
    path: str, name: str, summary: str, model: Any, *faults: ResponseSpec, query: Sequence[str] = ()
) -> Route:
    """A route about all processors, for viewers."""
    responses = (ResponseSpec(200, summary, model), *faults, UNAUTHENTICATED, FORBIDDEN, UNAVAILABLE)
    return Route(
        "GET",
        f"{API}{path}",
        name=name,
        tag="processors",
        summary=summary,
        responses=responses,
        query={name: {} for name in query},
        schemes=_SCHEMES,
        access="viewer",
    )


def _processor_route(path: str, name: str, summary: str, model: Any, method: str = "GET") -> Route:
    """A route about one processor: GET for viewers, other methods for operators."""
    reads = method == "GET"
    access: Access = "viewer" if reads else "operator"
    success = ResponseSpec(200, summary, model) if reads else ResponseSpec(202, "Accepted.", model)
    tag = "processor" if reads else "actions"
    responses = (success, *PROCESSOR_ERRORS)
    return Route(
        method,
        f"{_PROCESSOR}{path}",
        name=name,
        tag=tag,
        summary=summary,
        responses=responses,
        schemes=_SCHEMES,
        access=access,
    )


ROUTES: tuple[Route, ...] = (
    _open_route(
        "/", "page", "The page; it reads all data from this API.", ResponseSpec(200, "The page.", str, ("text/html",))
    ),
    _open_route(
        "/health/live",
        "live",
        "Does the console still refresh its view?",
        ResponseSpec(200, "The console refreshes its view.", ConsoleHealth),
        ResponseSpec(503, "The console is stuck.", ConsoleHealth),
    ),
    _open_route(
        "/health/ready",
        "ready",
        "Has the console read the cluster?",
        ResponseSpec(200, "The console has read the cluster.", ConsoleHealth),
        ResponseSpec(503, "The console has not read the cluster yet.", ConsoleHealth),
    ),
    _open_route(
        "/metrics",
        "metrics",
        "Metrics of the console for Prometheus.",
        ResponseSpec(200, "The metrics, as OpenMetrics if `Accept` has it.", str, METRICS_TYPES),
    ),
    _open_route("/openapi.json", "openapi", "This document.", ResponseSpec(200, "OpenAPI 3.1.", dict[str, Any])),
    _open_route(
        f"{API}/session",
        "session",
        "The caller, and the actions that the caller may take.",
        ResponseSpec(200, "The session.", Session),
    ),
    _open_route(
        f"{API}/session",
        "log_in",
        "Begin a session with a token.",
        ResponseSpec(200, "The session has begun; the response sets its cookie.", Session),
        BAD_REQUEST,
        UNAUTHENTICATED,
        FORBIDDEN,
        method="POST",
        body=LoginRequest,
    ),
    _open_route(
        f"{API}/session",
        "log_out",
        "End the session.",
        ResponseSpec(200, "The session has ended.", Session),
        BAD_REQUEST,
        FORBIDDEN,
        method="DELETE",
    ),
    _list_route(
        "/streams", "streams", "The processors that match all parameters.", StreamList, BAD_REQUEST, query=FILTERS
    ),
    _list_route(
        "/document", "document", "The document in the format that the recovery job publishes, but live.", Document
    ),
    _processor_route("", "stream", "One processor, with its program.", ProcessorEntry),
    _processor_route("/history", "history", "Lag and rates of the last hour.", list[Point]),
    _processor_route("/events", "events", "Changes of state and actions of users, newest first.", list[HistoryEvent]),
    _processor_route("/topology", "topology", "The program as a graph, from its runner.", Topology),
    _processor_route("/stores", "stores", "The state stores, from its runner.", list[StateStore]),
    _processor_route("/logs", "logs", "The last lines of the pod's log.", LogTail),
    _processor_route(
        "/stop", "stop", "Stop the processor after the running batch; position and state stay.", Accepted, "PUT"
    ),
    _processor_route("/start", "start", "Start the processor at the position where it stopped.", Accepted, "PUT"),
    _processor_route(
        "/scale/<int:workers>",
        "scale",
        "Set the number of workers; refused if the processor has none, or if an autoscaler sets it.",
        ScaleAccepted,
        "PUT",
    ),
    _processor_route("", "delete", "Delete the workload; volumes and the Helm release stay.", Deleted, "DELETE"),
)
