"""The one table of the console's routes: who may ask for what. The app registers them from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Access = Literal["anyone", "viewer", "operator"]
API = "/api/v1"
_ONE = f"{API}/streams/<id>"


@dataclass(frozen=True, slots=True)
class Route:
    """One operation; `name` is that of the view that answers it."""

    method: str
    path: str
    name: str
    access: Access
    summary: str


ROUTES: tuple[Route, ...] = (
    Route("GET", "/", "page", "anyone", "The page; what it shows it asks for."),
    Route("GET", "/health/live", "live", "anyone", "Does the console work?"),
    Route("GET", "/health/ready", "ready", "anyone", "Has it seen the cluster?"),
    Route("GET", f"{API}/session", "session", "anyone", "Who am I, and what may I do?"),
    Route("POST", f"{API}/session", "log_in", "anyone", "Begin a session with a token: `{token}`."),
    Route("DELETE", f"{API}/session", "log_out", "anyone", "End the session."),
    Route("GET", f"{API}/streams", "streams", "viewer", "All processors, or those that the parameters name."),
    Route("GET", f"{API}/document", "document", "viewer", "The document as the recovery job publishes it, but live."),
    Route("GET", _ONE, "stream", "viewer", "One processor, with its program."),
    Route("GET", f"{_ONE}/history", "history", "viewer", "Lag and rates of the last hour."),
    Route("GET", f"{_ONE}/events", "events", "viewer", "What befell it and who did what, newest first."),
    Route("GET", f"{_ONE}/topology", "topology", "viewer", "The program as a graph, from its runner."),
    Route("GET", f"{_ONE}/stores", "stores", "viewer", "The state stores, from its runner."),
    Route("GET", f"{_ONE}/logs", "logs", "viewer", "The last lines of its pod's log."),
    Route("PUT", f"{_ONE}/stop", "stop", "operator", "Stop it: the batch under way ends, all is kept."),
    Route("PUT", f"{_ONE}/start", "start", "operator", "Start it again where it stopped."),
    Route("PUT", f"{_ONE}/scale/<int:runners>", "scale", "operator", "Scale it; refused until releases have workers."),
    Route("DELETE", _ONE, "delete", "operator", "Delete its workload; volumes and the Helm release stay."),
)

FILTERS = ("namespace", "name", "state", "user", "pipeline", "release", "topic", "created", "violations", "q")
"""The parameters of GET /api/v1/streams."""
