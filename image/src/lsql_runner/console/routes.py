"""The one table of the console's routes: the role that each needs, and its responses.

The app registers them from here and the OpenAPI document is made from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from lsql_runner.console.document import Document, ProcessorEntry
from lsql_runner.console.history import HistoryEvent, Point
from lsql_runner.console.models import Accepted, ConsoleHealth, Deleted, LoginRequest, LogTail, Session, StreamList
from lsql_runner.console.views import FILTERS, ConsoleStore, ConsoleTopology
from lsql_runner.web.openapi import ApiOperation, ResponseSpec, problem

Access = Literal["anyone", "viewer", "operator"]
API = "/api/v1"
_ONE = f"{API}/streams/<id>"
_SCHEMES = ("token", "session")


@dataclass(frozen=True, slots=True)
class Route(ApiOperation):
    """One operation, and the role that it needs."""

    access: Access = "operator"


WRONG = problem(400, "The request is wrong.")
UNAUTHENTICATED = problem(401, "The request is not authenticated.")
FORBIDDEN = problem(
    403, "The caller lacks the role, the action is switched off, or the request came from a page of another site."
)
UNKNOWN = problem(404, "No processor has this id.")
CONFLICT = problem(409, "The present state does not allow it.")
UNAVAILABLE = problem(502, "The cluster or the runner does not respond.")
OF_ONE = (UNAUTHENTICATED, FORBIDDEN, UNKNOWN, CONFLICT, UNAVAILABLE)
"""The errors of a request about one processor."""


def _open(path: str, name: str, summary: str, *responses: ResponseSpec, method: str = "GET", body: Any = None) -> Route:
    """A route without authentication."""
    return Route(method, path, name, "console", summary, responses, body=body, access="anyone")


def _all(what: str, name: str, summary: str, model: Any, *faults: ResponseSpec, query: tuple[str, ...] = ()) -> Route:
    """A route of viewers about all processors."""
    responses = (ResponseSpec(200, summary, model), *faults, UNAUTHENTICATED, FORBIDDEN, UNAVAILABLE)
    return Route(
        "GET", f"{API}{what}", name, "processors", summary, responses, query=query, schemes=_SCHEMES, access="viewer"
    )


def _one(what: str, name: str, summary: str, model: Any, method: str = "GET") -> Route:
    """A route about one processor: GET for viewers, other methods for operators."""
    sees = method == "GET"
    access: Access = "viewer" if sees else "operator"
    success = ResponseSpec(200, summary, model) if sees else ResponseSpec(202, "Accepted.", model)
    tag = "processor" if sees else "actions"
    return Route(method, f"{_ONE}{what}", name, tag, summary, (success, *OF_ONE), schemes=_SCHEMES, access=access)


ROUTES: tuple[Route, ...] = (
    _open(
        "/", "page", "The page; it reads all data from this API.", ResponseSpec(200, "The page.", str, ("text/html",))
    ),
    _open(
        "/health/live",
        "live",
        "Does the console work?",
        ResponseSpec(200, "It does.", ConsoleHealth),
        ResponseSpec(503, "It does not.", ConsoleHealth),
    ),
    _open(
        "/health/ready",
        "ready",
        "Has it seen the cluster?",
        ResponseSpec(200, "It has.", ConsoleHealth),
        ResponseSpec(503, "Not yet.", ConsoleHealth),
    ),
    _open("/openapi.json", "openapi", "This document.", ResponseSpec(200, "OpenAPI 3.1.", dict[str, Any])),
    _open(f"{API}/session", "session", "Who am I, and what may I do?", ResponseSpec(200, "The session.", Session)),
    _open(
        f"{API}/session",
        "log_in",
        "Begin a session with a token.",
        ResponseSpec(200, "It has begun; a cookie keeps it.", Session),
        WRONG,
        UNAUTHENTICATED,
        FORBIDDEN,
        method="POST",
        body=LoginRequest,
    ),
    _open(
        f"{API}/session",
        "log_out",
        "End the session.",
        ResponseSpec(200, "There is none now.", Session),
        WRONG,
        FORBIDDEN,
        method="DELETE",
    ),
    _all("/streams", "streams", "All processors, or those that the parameters name.", StreamList, WRONG, query=FILTERS),
    _all("/document", "document", "The document as the recovery job publishes it, but live.", Document),
    _one("", "stream", "One processor, with its program.", ProcessorEntry),
    _one("/history", "history", "Lag and rates of the last hour.", list[Point]),
    _one("/events", "events", "Changes of state and actions of users, newest first.", list[HistoryEvent]),
    _one("/topology", "topology", "The program as a graph, from its runner.", ConsoleTopology),
    _one("/stores", "stores", "The state stores, from its runner.", list[ConsoleStore]),
    _one("/logs", "logs", "The last lines of its pod's log.", LogTail),
    _one("/stop", "stop", "Stop it: the running batch ends first, position and state are kept.", Accepted, "PUT"),
    _one("/start", "start", "Start it again where it stopped.", Accepted, "PUT"),
    _one("/scale/<int:runners>", "scale", "Scale it; refused until releases have workers.", Accepted, "PUT"),
    _one("", "delete", "Delete its workload; volumes and the Helm release stay.", Deleted, "DELETE"),
)
