"""The Flask app of the console: each route of the table, behind the authenticator."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any, Protocol, TypeVar

from flask import Flask, Response, g, request
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from lsql_runner.console import models, openapi
from lsql_runner.console.actions import Operations, Requester
from lsql_runner.console.auth import COOKIE, SESSION_S, Authenticator, Caller, TokenAuthenticator
from lsql_runner.console.cluster import Cluster, ClusterError, Missing, refusal
from lsql_runner.console.document import cut_program
from lsql_runner.console.filters import matching
from lsql_runner.console.history import History
from lsql_runner.console.routes import ROUTES, Route
from lsql_runner.console.runners import UNAVAILABLE_REASONS, RunnerUnavailable
from lsql_runner.console.settings import ACTIONS, ConsoleSettings
from lsql_runner.console.watch import ClusterView, ClusterWatch
from lsql_runner.console.workloads import ProcessorWorkload, read_processor
from lsql_runner.errors import LsqlError
from lsql_runner.events.console import ConsoleListener, RequestEnded
from lsql_runner.reports.model import Model
from lsql_runner.reports.responses import StateStore, Topology
from lsql_runner.web.allowed_hosts import AllowedHosts
from lsql_runner.web.app import bare_app
from lsql_runner.web.openapi import JSON

STATIC = Path(__file__).parent / "static"
REQUEST_LIMIT_BYTES = 16 * 1024
SQL_LIMIT_CHARS = 1024 * 1024
"""The API returns at most this many characters of a program."""
ITEMS = 500
"""The API returns at most this many nodes, edges or stores of a runner."""
T = TypeVar("T")


class RunnerReader(Protocol):
    def get(self, processor: ProcessorWorkload, path: str) -> tuple[int, Any]:
        """Status and JSON of a GET; see Runners.get."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleDependencies:
    """The dependencies of the app."""

    settings: ConsoleSettings
    cluster: Cluster
    runners: RunnerReader
    watch: ClusterWatch
    history: History
    operations: Operations
    authenticator: Authenticator
    hosts: AllowedHosts
    listener: ConsoleListener
    render_metrics: Callable[[str], tuple[bytes, str]]
    """Takes an Accept header; returns the body and its content type."""


def create_app(dependencies: ConsoleDependencies) -> Flask:
    """The console's API and page."""
    app = bare_app("lsql_runner.console", STATIC, REQUEST_LIMIT_BYTES, dependencies.hosts)
    handlers = _Views(dependencies)
    for route in ROUTES:
        view = _require_caller(route, getattr(handlers, route.name), dependencies.authenticator)
        app.add_url_rule(route.path, route.name, view, methods=[route.method])
    _report_requests(app, dependencies.listener)
    return app


def _report_requests(app: Flask, listener: ConsoleListener) -> None:
    """Emit an event for each answered request."""

    def begin() -> None:
        g.began_s = time.monotonic()

    def end(response: Response) -> Response:
        duration_s = time.monotonic() - g.began_s
        listener(RequestEnded(request.endpoint or "unknown", request.method, response.status_code, duration_s))
        return response

    app.before_request_funcs.setdefault(None, []).insert(0, begin)  # before those that refuse a request
    app.after_request(end)


def _require_caller(
    route: Route, view: Callable[..., Response], authenticator: Authenticator
) -> Callable[..., Response]:
    """The view, for authenticated callers only. Operations checks and audits the role of an operator."""
    if route.access == "anyone":
        return view

    def wrapper(**values: Any) -> Response:
        g.caller = authenticator.caller(request)
        return view(**values)

    return wrapper


class _Views:
    """A method for each route, with the name of the route."""

    def __init__(self, dependencies: ConsoleDependencies) -> None:
        self._dependencies = dependencies
        self._html = (STATIC / "index.html").read_bytes()
        self._openapi = to_json(openapi.document())
        # The numbers of views begin at 1 in each process, so a browser may have one of another process.
        self._instance = token_hex(8)

    def page(self) -> Response:
        return Response(self._html, content_type="text/html; charset=utf-8", headers={"Cache-Control": "no-cache"})

    def openapi(self) -> Response:
        return Response(self._openapi, content_type=JSON)

    def metrics(self) -> Response:
        body, content_type = self._dependencies.render_metrics(request.headers.get("Accept", ""))
        return Response(body, content_type=content_type, headers={"Vary": "Accept"})

    def live(self) -> Response:
        return _health(self._dependencies.watch.alive)

    def ready(self) -> Response:
        return _health(self._dependencies.watch.view is not None)

    def session(self) -> Response:
        try:
            caller: Caller | None = self._dependencies.authenticator.caller(request)
            why = ""
        except LsqlError as error:
            caller, why = None, error.message
        return self._session(caller, why)

    def log_in(self) -> Response:
        authenticator = self._token_authenticator()
        try:
            body = models.LoginRequest.model_validate_json(request.get_data())
        except ValidationError:
            raise LsqlError("REQUEST_BODY_INVALID", expected='{"token": "..."}') from None
        session, caller = authenticator.log_in(body.token)
        response = self._session(caller, "")
        response.set_cookie(
            COOKIE,
            session,
            max_age=SESSION_S,
            secure=self._dependencies.settings.auth.token.secure_cookie,
            httponly=True,
            samesite="Strict",
        )
        return response

    def log_out(self) -> Response:
        self._token_authenticator().log_out(request.cookies.get(COOKIE, ""))
        response = self._session(None, "")
        response.delete_cookie(COOKIE, httponly=True, samesite="Strict")
        return response

    def streams(self) -> Response:
        view = self._view()
        # A page polls every few seconds; it gets the rows, which may be a thousand, only when they changed.
        etag = f"{self._instance}-{view.number}"
        if etag in request.if_none_match:
            return Response(status=304, headers={"ETag": f'"{etag}"', "Cache-Control": "private, no-cache"})
        processors = matching(view.document.processors, request.args.to_dict())
        document = view.document
        response = _json(
            models.StreamList(
                at=document.at,
                namespaces=document.namespaces,
                failures=document.failures,
                problem=view.problem,
                streams=tuple(processors),  # each ProcessorEntry is written as a ProcessorSummary
            )
        )
        response.headers["ETag"] = f'"{etag}"'
        response.headers["Cache-Control"] = "private, no-cache"
        return response

    def document(self) -> Response:
        return _json(self._view().document)

    def stream(self, id: str) -> Response:
        entry = self._dependencies.watch.entry(id)
        if entry.deleted_at is None and entry.sql_truncated:
            full_sql = self._read_again(self._dependencies.watch.processor(id)).sql
            sql, cut = cut_program(full_sql, SQL_LIMIT_CHARS)
            entry = entry.model_copy(update={"sql": sql, "sql_truncated": cut})
        return _json(entry)

    def history(self, id: str) -> Response:
        self._dependencies.watch.entry(id)
        return _json(self._dependencies.history.points(id))

    def events(self, id: str) -> Response:
        self._dependencies.watch.entry(id)
        return _json(self._dependencies.history.events(id))

    def topology(self, id: str) -> Response:
        topology = self._from_runner(id, "/topology", TypeAdapter(Topology))
        return _json(topology.model_copy(update={"nodes": topology.nodes[:ITEMS], "edges": topology.edges[:ITEMS]}))

    def stores(self, id: str) -> Response:
        return _json(self._from_runner(id, "/metadata", TypeAdapter(list[StateStore]))[:ITEMS])

    def logs(self, id: str) -> Response:
        settings = self._dependencies.settings.logs
        if not settings.enabled:
            raise LsqlError("ACTION_DISABLED", action="logs", setting="logs.enabled")
        processor = self._dependencies.watch.processor(id)
        cluster, pod = self._dependencies.cluster, ""
        try:
            pod = next(iter(cluster.pods(processor.namespace, dict(processor.pod_labels))), "")
            lines = cluster.log_tail(processor.namespace, pod, processor.container, settings.lines) if pod else []
        except (ClusterError, Missing) as error:
            raise refusal("read", f"pod/{pod}" if pod else "pods", error) from None
        return _json(models.LogTail(pod=pod, lines=tuple(lines)))

    def stop(self, id: str) -> Response:
        return self._accepted_response(self._dependencies.operations.stop(_requester(), id))

    def start(self, id: str) -> Response:
        return self._accepted_response(self._dependencies.operations.start(_requester(), id))

    def scale(self, id: str, workers: int) -> Response:
        processor, result = self._dependencies.operations.scale(_requester(), id, workers)
        accepted = models.ScaleAccepted(
            name=processor.name,
            namespace=processor.namespace,
            workers=result.after,
            workers_before=result.before,
            warnings=result.warnings,
        )
        return _json(accepted, 202)

    def delete(self, id: str) -> Response:
        gone = self._dependencies.operations.delete(_requester(), id)
        if gone.release and gone.created_by != "kubectl":
            rest = f"helm uninstall {gone.release} --namespace {gone.namespace}"
        else:
            rest = f"kubectl get all,pvc --namespace {gone.namespace} --selector app={gone.name}"
        deleted = models.Deleted(name=gone.name, namespace=gone.namespace, deleted=gone.kind, for_the_rest=rest)
        return _json(deleted, 202)

    def _accepted_response(self, processor: ProcessorWorkload) -> Response:
        return _json(models.Accepted(name=processor.name, namespace=processor.namespace), 202)

    def _session(self, caller: Caller | None, why: str) -> Response:
        settings = self._dependencies.settings
        is_operator = caller is not None and caller.role == "operator"
        return _json(
            models.Session(
                mode=settings.auth.mode,
                user=caller.name if caller else None,
                role=caller.role if caller else None,
                why=why,
                actions={action: is_operator and settings.actions.allows(action) for action in ACTIONS},
                logs=settings.logs.enabled,
                poll_seconds=settings.poll_seconds,
            )
        )

    def _token_authenticator(self) -> TokenAuthenticator:
        if not isinstance(self._dependencies.authenticator, TokenAuthenticator):
            raise LsqlError("TOKENS_DISABLED", mode=self._dependencies.settings.auth.mode)
        return self._dependencies.authenticator

    def _view(self) -> ClusterView:
        view = self._dependencies.watch.view
        if view is None:
            raise LsqlError("CONSOLE_STARTING")
        return view

    def _read_again(self, processor: ProcessorWorkload) -> ProcessorWorkload:
        """The processor read from the cluster now, with the full program."""
        try:
            workload = self._dependencies.cluster.workload(processor.namespace, processor.kind, processor.name)
        except Missing:
            raise LsqlError("PROCESSOR_DELETED", name=processor.name) from None
        except ClusterError as error:
            raise refusal("read", f"{processor.kind}/{processor.name}", error) from None
        return read_processor(workload, processor.kind)

    def _from_runner(self, id: str, path: str, kind: TypeAdapter[T]) -> T:
        """The response of a runner, which is checked: a runner may send anything."""
        processor = self._dependencies.watch.processor(id)
        try:
            status, body = self._dependencies.runners.get(processor, path)
            if status != 200:
                raise RunnerUnavailable(UNAVAILABLE_REASONS("STATUS", method="GET", path=path, status=status))
            return kind.validate_python(body, extra="ignore")
        except ValidationError:
            reason = UNAVAILABLE_REASONS("NOT_A_RUNNER")
            raise LsqlError("RUNNER_UNREACHABLE", name=processor.name, reason=reason) from None
        except RunnerUnavailable as error:
            raise LsqlError("RUNNER_UNREACHABLE", name=processor.name, reason=error.reason) from None


def _requester() -> Requester:
    return Requester(g.caller, request.remote_addr or "unknown")


def _json(body: Model | Sequence[Model], status: int = 200) -> Response:
    return Response(to_json(body, by_alias=True), status=status, content_type=JSON)


def _health(ok: bool) -> Response:
    return _json(models.ConsoleHealth(status="ok" if ok else "failing"), 200 if ok else 503)
