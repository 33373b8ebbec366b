"""The console's real app over fakes on a real port, and its page in Chromium."""

from __future__ import annotations

import re
import time
from typing import Any

from playwright.sync_api import Browser, Page, Request

from devkit.console_fixtures import BEGIN, TOKENS, FakeConsole
from devkit.fake_cluster import FakePod, workers, workload
from devkit.fake_program import DESCRIPTION, SQL
from devkit.fake_runner_server import STORE, stream
from tests.browser.site import WATCH

POLL_MS = 5_000
POLL_DEADLINE_S = 15
FIRST_REQUEST = re.compile(r"/api/v1/streams(/[^/?]+)?(\?.*)?$")
"""The first request of each refresh: all processors, or one."""
FAILED = {
    "code": "RECORD_MALFORMED",
    "message": "The value of the record at vehicles, partition 3, offset 48130771 is not JSON.",
    "wayOut": "Correct what writes it; then POST /start.",
}


def populate(console: FakeConsole) -> None:
    """Processors in all states that look different, with an hour of history."""
    states = ("running", "running", "waiting", "stopped", "failed", "restarting")
    for number, name in enumerate(("fast-vehicles", "large-payments", "positions", "night-shift", "orders", "alarms")):
        namespace = "streams" if number % 2 == 0 else "more"
        console.cluster.add(workload(name, namespace=namespace, sql=SQL))
        reason = FAILED if states[number] == "failed" else None
        console.runners.streams[name] = stream(state=states[number], reason=reason, lag=number * 1200)
    console.cluster.add(workers("fast-vehicles"))
    console.cluster.add(workload("by-hand", labels={"lenses": "lenses-processor"}, annotations={}))
    console.cluster.add(workload("of-old", namespace="more", labels={"lenses.io/app.type": "sql"}), "StatefulSet")
    console.cluster.add(workload("at-rest", replicas=0))
    gone = console.cluster.add(workload("gone"))
    console.runners.streams["by-hand"] = None
    graph = {**DESCRIPTION.topology, "plan": DESCRIPTION.plan}
    console.runners.others["/topology"] = (200, graph)
    console.runners.others["/metadata"] = (
        200,
        [STORE | {"name": "fast-vehicles-window", "rows": 1204, "bytes": 3_400_000}],
    )
    selector = {"app.kubernetes.io/name": "lsql-runner", "app.kubernetes.io/instance": "fast-vehicles"}
    console.cluster.pods_of["streams", "fast-vehicles-0"] = FakePod(selector, ["batch 1 ended", "batch 2 ended"])
    for minute in range(60):
        console.clock.forward(minutes=1)
        if minute == 50:
            console.cluster.delete_workload("streams", "Deployment", "gone", gone["metadata"]["uid"])
        wave = (minute * 37) % 23
        console.runners.streams["fast-vehicles"] = stream(
            lag=400 + wave * 90, rates={"recordsInPerSecond": 900 + wave * 12, "recordsOutPerSecond": 210 + wave * 4}
        )
        console.refresh()


class Visit:
    """The console's page in a browser. The page's clock advances only in `poll`."""

    def __init__(self, browser: Browser, console: FakeConsole, address: str, path: str = "", **options: Any) -> None:
        self.console = console
        self.complaints: list[str] = []
        """Messages of the browser's console, errors of the page, and failed requests."""
        self.requests: list[str] = []
        self._turns: list[Request] = []
        """The first requests of the refreshes."""
        self._answered: set[Request] = set()
        self._open: set[Request] = set()
        """The requests that have neither a whole response nor a failure yet."""
        context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options}
        )
        self.page: Page = context.new_page()
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type != "log" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._record)
        self.page.on("requestfailed", self._record_failure)
        self.page.on("requestfinished", self._record_response)
        self.page.add_init_script(WATCH)
        self.page.clock.install(time=BEGIN)
        with self.page.expect_response("**/session"):
            self.page.goto(address + path)

    def log_in(self, name: str = "ada") -> None:
        """Log in with a user's token, by keyboard."""
        self.page.get_by_label("Token").fill(TOKENS[name][1])
        self.page.keyboard.press("Enter")
        self.page.locator("#who").get_by_text(name).wait_for()

    def poll(self) -> None:
        """Let the page refresh once; returns when a refresh that began after this call has its response.

        Another refresh may still be running, and the page sets its timer only when that has ended. The clock stands
        while a request is open: the page's time limits for requests follow the same clock.
        """
        before = len(self._turns)
        deadline = time.monotonic() + POLL_DEADLINE_S
        while not self._answered.intersection(self._turns[before:]):
            assert time.monotonic() < deadline, f"no new refresh; the last requests: {self.requests[-5:]}"
            if not self._open:
                self.page.clock.run_for(POLL_MS)
            self.page.wait_for_timeout(10)  # dispatches requests and responses to the handlers

    def _record(self, request: Request) -> None:
        self.requests.append(request.url)
        if FIRST_REQUEST.search(request.url):
            self._turns.append(request)
        self._open.add(request)

    def _record_failure(self, request: Request) -> None:
        self.complaints.append(f"failed: {request.url}")
        self._open.discard(request)

    def _record_response(self, request: Request) -> None:
        self._answered.add(request)
        self._open.discard(request)

    def names(self) -> list[str]:
        """The names in the table, in order."""
        return self.page.locator("#processors tbody th").all_inner_texts()

    def close(self) -> list[str]:
        """Close the page. Returns the errors that the browser reported, including violations of the content policy."""
        complaints = [*self.complaints, *self.page.evaluate("window.violations")]
        self.page.context.close()  # aborts running requests, which is no error of the page
        return complaints
