"""The one table of the console's routes: who may ask for what, and what is answered.

The app registers them from here and the OpenAPI document is made from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from lsql_runner.console.answers import Deleted, Health, LogIn, LogTail, Session, Streams, Taken
from lsql_runner.console.document import Document, Entry
from lsql_runner.console.history import Happening, Point
from lsql_runner.console.views import FILTERS, Store, Topology
from lsql_runner.web.openapi import Answer, Operation, problem

Access = Literal["anyone", "viewer", "operator"]
API = "/api/v1"
_ONE = f"{API}/streams/<id>"
_SCHEMES = ("token", "session")


@dataclass(frozen=True, slots=True)
class Route(Operation):
    """One operation, and who may ask for it."""

    access: Access = "operator"


WRONG = problem(400, "The request is wrong.")
STRANGER = problem(401, "It is not known who asks.")
FORBIDDEN = problem(403, "The caller may not, it is switched off, or a page of another site asked for it.")
UNKNOWN = problem(404, "There is no processor of this id.")
CONFLICT = problem(409, "It does not go together with the present state.")
SILENT = problem(502, "The cluster or the runner does not answer.")
OF_ONE = (STRANGER, FORBIDDEN, UNKNOWN, CONFLICT, SILENT)
"""How a request about one processor may fail."""


def _open(path: str, name: str, summary: str, *answers: Answer, method: str = "GET", body: Any = None) -> Route:
    """What anyone may ask for."""
    return Route(method, path, name, "console", summary, answers, body=body, access="anyone")


def _all(what: str, name: str, summary: str, model: Any, *faults: Answer, query: tuple[str, ...] = ()) -> Route:
    """What a viewer may see of all processors."""
    answers = (Answer(200, summary, model), *faults, STRANGER, FORBIDDEN, SILENT)
    return Route(
        "GET", f"{API}{what}", name, "processors", summary, answers, query=query, schemes=_SCHEMES, access="viewer"
    )


def _one(what: str, name: str, summary: str, model: Any, method: str = "GET") -> Route:
    """What a viewer may see of one processor; with another method, what an operator may do with it."""
    sees = method == "GET"
    access: Access = "viewer" if sees else "operator"
    answer = Answer(200, summary, model) if sees else Answer(202, "Taken.", model)
    tag = "processor" if sees else "actions"
    return Route(method, f"{_ONE}{what}", name, tag, summary, (answer, *OF_ONE), schemes=_SCHEMES, access=access)


ROUTES: tuple[Route, ...] = (
    _open("/", "page", "The page; what it shows it asks for.", Answer(200, "The page.", str, ("text/html",))),
    _open(
        "/health/live",
        "live",
        "Does the console work?",
        Answer(200, "It does.", Health),
        Answer(503, "It does not.", Health),
    ),
    _open(
        "/health/ready",
        "ready",
        "Has it seen the cluster?",
        Answer(200, "It has.", Health),
        Answer(503, "Not yet.", Health),
    ),
    _open("/openapi.json", "openapi", "This document.", Answer(200, "OpenAPI 3.1.", dict[str, Any])),
    _open(f"{API}/session", "session", "Who am I, and what may I do?", Answer(200, "Who asks.", Session)),
    _open(
        f"{API}/session",
        "log_in",
        "Begin a session with a token.",
        Answer(200, "It has begun; a cookie keeps it.", Session),
        WRONG,
        STRANGER,
        FORBIDDEN,
        method="POST",
        body=LogIn,
    ),
    _open(
        f"{API}/session",
        "log_out",
        "End the session.",
        Answer(200, "There is none now.", Session),
        WRONG,
        FORBIDDEN,
        method="DELETE",
    ),
    _all("/streams", "streams", "All processors, or those that the parameters name.", Streams, WRONG, query=FILTERS),
    _all("/document", "document", "The document as the recovery job publishes it, but live.", Document),
    _one("", "stream", "One processor, with its program.", Entry),
    _one("/history", "history", "Lag and rates of the last hour.", list[Point]),
    _one("/events", "events", "What befell it and who did what, newest first.", list[Happening]),
    _one("/topology", "topology", "The program as a graph, from its runner.", Topology),
    _one("/stores", "stores", "The state stores, from its runner.", list[Store]),
    _one("/logs", "logs", "The last lines of its pod's log.", LogTail),
    _one("/stop", "stop", "Stop it: the batch under way ends, all is kept.", Taken, "PUT"),
    _one("/start", "start", "Start it again where it stopped.", Taken, "PUT"),
    _one("/scale/<int:runners>", "scale", "Scale it; refused until releases have workers.", Taken, "PUT"),
    _one("", "delete", "Delete its workload; volumes and the Helm release stay.", Deleted, "DELETE"),
)
