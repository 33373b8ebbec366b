"""The real app over a fake processor on a real port, and its page in Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

from flask import Flask
from playwright.sync_api import Browser, Page, Response
from werkzeug.serving import WSGIRequestHandler, make_server

from devkit.fake_processor import FakeProcessor
from lsql_runner.api.access import ApiAccess
from lsql_runner.api.app import create_app
from lsql_runner.observe.metrics import Metrics

OPEN = ApiAccess("open")
POLL_MS = 2_000
"""How often the page sends requests."""

WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  violations.push(`${event.violatedDirective} ${event.blockedURI}`);
});
"""
"""A script that collects the violations of the content security policy in `window.violations`."""


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


class Visit:
    """The processor's page in a browser. The page's clock advances only in `poll`."""

    def __init__(self, browser: Browser, processor: FakeProcessor, address: str, **options: Any) -> None:
        self.processor = processor
        self.complaints: list[str] = []
        """Messages of the browser's console, errors of the page, and failed requests."""
        self.requests: list[str] = []
        """The addresses that the page requested."""
        self.answers: dict[str, Response] = {}
        """The last response of the API, by the last part of its path."""
        context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options}
        )
        self.page: Page = context.new_page()
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type != "log" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", lambda request: self.complaints.append(f"failed: {request.url}"))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("response", self._keep)
        self.page.add_init_script(WATCH)
        self.page.clock.install(time=processor.now_ms / 1000)
        with self.page.expect_response("**/topology"):
            self.page.goto(address)

    def poll(self) -> None:
        """Let the page send its requests once and show the responses."""
        with self.page.expect_response("**/metadata") as answer:
            self.page.clock.run_for(POLL_MS)
        answer.value.finished()

    def _keep(self, response: Response) -> None:
        if response.ok and response.headers.get("content-type") == "application/json":
            self.answers[response.url.rsplit("/", 1)[1]] = response

    def text(self, selector: str) -> str:
        """The visible text of an element."""
        return self.page.locator(selector).inner_text()

    def close(self) -> list[str]:
        """Close the page. Returns the errors that the browser reported, including violations of the content policy."""
        complaints = [*self.complaints, *self.page.evaluate("window.violations")]
        self.page.context.close()  # aborts running requests, which is no error of the page
        return complaints
