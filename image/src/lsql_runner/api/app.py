"""The Flask app of a processor: a thin view for each route of the table."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import TypeVar

from flask import Flask, Response, request
from pydantic import ValidationError
from pydantic_core import to_json

from lsql_runner.api import openapi, views
from lsql_runner.api.access import ApiAccess
from lsql_runner.api.rate_limit import RateLimit
from lsql_runner.api.routes import ROUTES
from lsql_runner.api.store_query import answer, snapshots_to_keep, store_query
from lsql_runner.errors import LsqlError
from lsql_runner.reports.model import Model
from lsql_runner.reports.responses import CloneRequest, ProgramRequest, SnapshotRequest
from lsql_runner.reports.stream import HealthReport
from lsql_runner.runtime.port import Action, Processor
from lsql_runner.web.allowed_hosts import AllowedHosts
from lsql_runner.web.app import bare_app
from lsql_runner.web.openapi import JSON

STATIC = Path(__file__).parent / "static"
REQUEST_LIMIT_BYTES = 64 * 1024
"""A longer program is not judged by POST /verdict: a body is kept in memory until it is complete."""

THIS_MACHINE = AllowedHosts()

RenderMetrics = Callable[[str], tuple[bytes, str]]
"""Takes an Accept header; returns the body and its content type."""

View = Callable[..., Response]

_Body = TypeVar("_Body", bound=Model)


def _now_ms() -> int:
    return int(time.time() * 1000)


def create_app(
    processor: Processor,
    render_metrics: RenderMetrics,
    access: ApiAccess,
    now_ms: Callable[[], int] = _now_ms,
    hosts: AllowedHosts = THIS_MACHINE,
) -> Flask:
    """The REST API and the page of `processor`; `access` decides who may stop and start it."""
    app = bare_app("lsql_runner.api", STATIC, REQUEST_LIMIT_BYTES, hosts)
    handlers = _views(processor, render_metrics, access, now_ms)
    for route in ROUTES:
        app.add_url_rule(route.path, route.name, handlers[route.name], methods=[route.method])

    @app.after_request
    def challenge(response: Response) -> Response:
        if response.status_code == HTTPStatus.UNAUTHORIZED:
            response.headers["WWW-Authenticate"] = "Bearer"
        return response

    return app


def _views(
    processor: Processor, render_metrics: RenderMetrics, access: ApiAccess, now_ms: Callable[[], int]
) -> dict[str, View]:
    document = json.dumps(openapi.document(), ensure_ascii=False)
    html = (STATIC / "index.html").read_bytes()

    def page() -> Response:
        return Response(html, content_type="text/html; charset=utf-8", headers={"Cache-Control": "no-cache"})

    def metrics() -> Response:
        body, content_type = render_metrics(request.headers.get("Accept", ""))
        return Response(body, content_type=content_type, headers={"Vary": "Accept"})

    rate = RateLimit(access.queries_per_second)

    def reader() -> str:
        """The sender of the request, who may read the state."""
        rate.take()
        user = access.requester(request)
        try:
            access.check_query(request)
        except LsqlError as error:
            if access.queries != "none":  # else it is no attempt of a reader
                processor.audit_refusal("query", user, error)
            raise
        return user

    def comparison() -> Response:
        user = reader()
        greens = {query.name for query in processor.status().queries if query.blue is not None}
        for info in processor.description.stores:
            if info.query in greens:
                processor.audit_query(info.name, user)
        return _json(views.comparison(processor))

    def store_rows(name: str) -> Response:
        user = reader()
        query = store_query(name, request.args.to_dict())
        if all(info.name != name for info in processor.description.stores):
            raise LsqlError("NOT_FOUND", path=f"/metadata/{name}")
        processor.audit_query(name, user)
        return Response(answer(processor, query), content_type=JSON)

    def allowed(action: Action) -> str:
        """The sender of the request, who may change the processor."""
        user = access.requester(request)
        try:
            access.check(request, action)
        except LsqlError as error:
            processor.audit_refusal(action, user, error)
            raise
        return user

    def act(action: Action) -> Response:
        user = allowed(action)
        {"stop": processor.stop, "start": processor.start, "switch": processor.switch}[action](user)
        return _json(views.state(processor), 202)

    def verdict() -> Response:
        access.check(request, "judge a program")
        return _json(views.verdict(processor, _body(ProgramRequest, '{"sql": "..."}').sql))

    def take_snapshot() -> Response:
        user = allowed("snapshot")
        name = _body(SnapshotRequest, '{"name": "..."}').name
        return _json(views.snapshot(processor.snapshots.take(name, user)), 201)

    def restore_snapshot(name: str) -> Response:
        return _json(views.snapshot(processor.snapshots.restore(name, allowed("restore"))))

    def clone_snapshot(name: str) -> Response:
        user = allowed("clone")
        app_id = _body(CloneRequest, '{"appId": "..."}').app_id
        return _json(views.snapshot(processor.snapshots.clone(name, app_id, user)), 201)

    def prune_snapshots() -> Response:
        user = allowed("prune")
        deleted = processor.snapshots.prune(snapshots_to_keep(request.args.to_dict()), user)
        return _json([views.snapshot(each) for each in deleted])

    return {
        "page": page,
        "health": lambda: _health(views.health(processor)),
        "live": lambda: _health(views.live(processor)),
        "ready": lambda: _health(views.ready(processor)),
        "startup": lambda: _health(views.startup(processor)),
        "metrics": metrics,
        "stores": lambda: _json(views.stores(processor)),
        "store_rows": store_rows,
        "comparison": comparison,
        "stream": lambda: _json(views.stream(processor, access, now_ms())),
        "history": lambda: _json(views.history(processor, now_ms())),
        "stop": lambda: act("stop"),
        "start": lambda: act("start"),
        "switch": lambda: act("switch"),
        "snapshots": lambda: _json([views.snapshot(each) for each in processor.snapshots.all()]),
        "take_snapshot": take_snapshot,
        "restore_snapshot": restore_snapshot,
        "clone_snapshot": clone_snapshot,
        "prune_snapshots": prune_snapshots,
        "verdict": verdict,
        "topology": lambda: _json(views.topology(processor)),
        "openapi": lambda: Response(document, content_type=JSON),
    }


def _body(model: type[_Body], expected: str) -> _Body:
    """The body of the request. `expected` shows people what it should be."""
    try:
        return model.model_validate_json(request.get_data())
    except ValidationError:
        raise LsqlError("REQUEST_BODY_INVALID", expected=expected) from None


def _json(body: Model | Sequence[Model], status: int = 200) -> Response:
    return Response(to_json(body, by_alias=True), status=status, content_type=JSON)


def _health(report: HealthReport) -> Response:
    return _json(report, 200 if report.status == "ok" else 503)
