"""The Flask app of a processor: a thin view for each route of the table."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from flask import Flask, Response, request
from pydantic_core import to_json

from lsql_runner.api import openapi, views
from lsql_runner.api.models import HealthReport
from lsql_runner.api.routes import ROUTES
from lsql_runner.runtime.port import Processor
from lsql_runner.web.app import bare_app
from lsql_runner.web.models import Model
from lsql_runner.web.openapi import JSON

STATIC = Path(__file__).parent / "static"
REQUEST_LIMIT_BYTES = 64 * 1024
"""No request of this API needs a body."""

RenderMetrics = Callable[[str], tuple[bytes, str]]
"""Takes an Accept header; returns the body and its content type."""

View = Callable[..., Response]


def _now_ms() -> int:
    return int(time.time() * 1000)


def create_app(processor: Processor, render_metrics: RenderMetrics, now_ms: Callable[[], int] = _now_ms) -> Flask:
    """The REST API and the page of `processor`."""
    app = bare_app("lsql_runner.api", STATIC, REQUEST_LIMIT_BYTES)
    handlers = _views(processor, render_metrics, now_ms)
    for route in ROUTES:
        app.add_url_rule(route.path, route.name, handlers[route.name], methods=[route.method])
    return app


def _views(processor: Processor, render_metrics: RenderMetrics, now_ms: Callable[[], int]) -> dict[str, View]:
    document = json.dumps(openapi.document(), ensure_ascii=False)
    html = (STATIC / "index.html").read_bytes()

    def page() -> Response:
        return Response(html, content_type="text/html; charset=utf-8", headers={"Cache-Control": "no-cache"})

    def metrics() -> Response:
        body, content_type = render_metrics(request.headers.get("Accept", ""))
        return Response(body, content_type=content_type, headers={"Vary": "Accept"})

    def store_rows(name: str) -> Response:
        views.store_rows(processor, name)

    def stop() -> Response:
        processor.stop(_requester())
        return _json(views.state(processor), 202)

    def start() -> Response:
        processor.start(_requester())
        return _json(views.state(processor), 202)

    return {
        "page": page,
        "health": lambda: _health(views.health(processor)),
        "live": lambda: _health(views.live(processor)),
        "ready": lambda: _health(views.ready(processor)),
        "startup": lambda: _health(views.startup(processor)),
        "metrics": metrics,
        "stores": lambda: _json(views.stores(processor)),
        "store_rows": store_rows,
        "stream": lambda: _json(views.stream(processor, now_ms())),
        "history": lambda: _json(views.history(processor, now_ms())),
        "stop": stop,
        "start": start,
        "topology": lambda: _json(views.topology(processor)),
        "openapi": lambda: Response(document, content_type=JSON),
    }


def _json(body: Model | Sequence[Model], status: int = 200) -> Response:
    return Response(to_json(body, by_alias=True), status=status, content_type=JSON)


def _health(report: HealthReport) -> Response:
    return _json(report, 200 if report.status == "ok" else 503)


def _requester() -> str:
    """The sender of the request, for the log: the user in the header of a proxy, else the address."""
    user = request.headers.get("X-Forwarded-User", "").strip()
    if user and len(user) <= 128 and user.isprintable():
        return user
    return request.remote_addr or "unknown"
