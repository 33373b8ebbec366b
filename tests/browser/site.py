"""The real app over a fake processor on a real port, and its page in Chromium."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

from flask import Flask
from playwright.sync_api import Browser, Response
from werkzeug.serving import WSGIRequestHandler, make_server

from devkit.fake_processor import FakeProcessor
from lsql_runner.api.access import ApiAccess
from lsql_runner.api.app import create_app
from lsql_runner.observe.metrics import Metrics
from tests.browser import visit

OPEN = ApiAccess("open")


class QuietHandler(WSGIRequestHandler):
    """Logs no requests."""

    def log(self, type: str, message: str, *args: object) -> None:
        return


@contextmanager
def serve_processor(
    processor: FakeProcessor, wrap: Callable[[Flask], Any] = lambda app: app, access: ApiAccess = OPEN
) -> Iterator[str]:
    """The address of the processor's page, within the block. `wrap` may add WSGI middleware."""
    metrics = Metrics(processor.identity, processor.status, lambda: processor.now_ms)
    processor.listeners.append(metrics)
    app = create_app(processor, metrics.render, access, lambda: processor.now_ms)
    with serve_app(wrap(app)) as address:
        yield address


@contextmanager
def serve_app(app: Any) -> Iterator[str]:
    """The address of a WSGI app on a random port, within the block."""
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=QuietHandler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Visit(visit.Visit):
    """The processor's page in a browser."""

    EVERY_MS = 2_000
    REFRESH = (re.compile("/stream$"), re.compile("/metadata$"))

    def __init__(self, browser: Browser, processor: FakeProcessor, address: str, **options: Any) -> None:
        super().__init__(browser, processor.now_ms / 1000, **options)
        self.processor = processor
        self.answers: dict[str, Response] = {}
        """The last response of the API, by the last part of its path."""
        self.page.on("response", self._keep)
        with self.page.expect_response("**/topology"):
            self.page.goto(address)

    def _keep(self, response: Response) -> None:
        if response.ok and response.headers.get("content-type") == "application/json":
            self.answers[response.url.rsplit("/", 1)[1]] = response

    def text(self, selector: str) -> str:
        """The visible text of an element."""
        return self.page.locator(selector).inner_text()
