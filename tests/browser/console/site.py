"""The console's real app over fakes on a real port, and its page in Chromium."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Browser

from devkit.console_fixtures import BEGIN, TOKENS, FakeConsole
from devkit.fake_cluster import FakePod, workers, workload
from devkit.fake_program import DESCRIPTION, SQL
from devkit.fake_runner_server import STORE, stream
from tests.browser import visit

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


class Visit(visit.Visit):
    """The console's page in a browser."""

    EVERY_MS = 5_000
    REFRESH = (re.compile(r"/api/v1/streams(/[^/?]+)?(\?.*)?$"),)

    def __init__(self, browser: Browser, console: FakeConsole, address: str, path: str = "", **options: Any) -> None:
        super().__init__(browser, BEGIN.timestamp(), **options)
        self.console = console
        with self.page.expect_response("**/session"):
            self.page.goto(address + path)

    def log_in(self, name: str = "ada") -> None:
        """Log in with a user's token, by keyboard."""
        self.page.get_by_label("Token").fill(TOKENS[name][1])
        self.page.keyboard.press("Enter")
        self.page.locator("#who").get_by_text(name).wait_for()

    def names(self) -> list[str]:
        """The names in the table, in order."""
        return self.page.locator("#processors tbody th").all_inner_texts()
