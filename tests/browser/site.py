"""The real app over a fake processor on a real port, and a Chromium that looks at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

from flask import Flask
from playwright.sync_api import Browser, Page, Response
from werkzeug.serving import WSGIRequestHandler, make_server

from devkit.fake_processor import FakeProcessor
from lsql_runner.api.app import create_app
from lsql_runner.observe.metrics import Metrics

POLL_MS = 2_000
"""How often the page asks."""

WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  violations.push(`${event.violatedDirective} ${event.blockedURI}`);
});
"""


class QuietHandler(WSGIRequestHandler):
    """Says nothing about each request."""

    def log(self, type: str, message: str, *args: object) -> None:
        return


@contextmanager
def served(processor: FakeProcessor, wrap: Callable[[Flask], Any] = lambda app: app) -> Iterator[str]:
    """The address of the processor's page, while the block lasts. `wrap` may put something before the app."""
    metrics = Metrics(processor.identity, processor.status, lambda: processor.now_ms)
    processor.listeners.append(metrics)
    app = create_app(processor, metrics.render, lambda: processor.now_ms)
    with serving(wrap(app)) as address:
        yield address


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """The address of a WSGI app on a port of its own, while the block lasts."""
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
    """The processor's page as somebody sees it. The page's clock stands still until `poll` moves it on."""

    def __init__(self, browser: Browser, processor: FakeProcessor, address: str, **options: Any) -> None:
        self.processor = processor
        self.complaints: list[str] = []
        """What the browser's console said, errors of the page, and requests that failed."""
        self.asked: list[str] = []
        """The addresses the page asked for."""
        self.answers: dict[str, Response] = {}
        """The last answer of the API, by the last part of its address."""
        context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options}
        )
        self.page: Page = context.new_page()
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type != "log" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", lambda request: self.complaints.append(f"failed: {request.url}"))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("response", self._keep)
        self.page.add_init_script(WATCH)
        self.page.clock.install(time=processor.now_ms / 1000)
        with self.page.expect_response("**/topology"):
            self.page.goto(address)

    def poll(self) -> None:
        """Lets the page ask once more and show the answer."""
        with self.page.expect_response("**/metadata") as answer:
            self.page.clock.run_for(POLL_MS)
        answer.value.finished()

    def _keep(self, response: Response) -> None:
        if response.ok and response.headers.get("content-type") == "application/json":
            self.answers[response.url.rsplit("/", 1)[1]] = response

    def text(self, selector: str) -> str:
        """What can be read there now."""
        return self.page.locator(selector).inner_text()

    def close(self) -> list[str]:
        """Leaves; what the browser complained of, violations of the content policy among it."""
        complaints = [*self.complaints, *self.page.evaluate("window.violations")]
        self.page.context.close()  # which aborts requests that are under way: no fault of the page
        return complaints
