"""A page in Chromium whose clock the test advances."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any, ClassVar

from playwright.sync_api import Browser, Page, Request

POLL_DEADLINE_S = 15
WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  violations.push(`${event.violatedDirective} ${event.blockedURI}`);
});
"""
"""A script that collects the violations of the content security policy in `window.violations`."""


class Visit:
    """A page that refreshes itself. Its clock stands, except in `poll_until`: no refresh begins at another time."""

    EVERY_MS: ClassVar[int]
    """The time between two refreshes of the page."""
    REFRESH: ClassVar[tuple[re.Pattern[str], ...]]
    """The addresses of the first and, if there is another one, of the last request of each refresh."""

    def __init__(self, browser: Browser, now_s: float, **options: Any) -> None:
        """
        Args:
            now_s: the time of the page's clock, in seconds since 1970 UTC.
            options: those of a context of the browser.
        """
        self.complaints: list[str] = []
        """Messages of the browser's console, errors of the page, and failed requests."""
        self.requests: list[str] = []
        """The addresses that the page requested."""
        self._finished: list[Request] = []
        self._reloads = False
        self._open: set[Request] = set()
        """The requests that have neither a whole response nor a failure yet."""
        size = {"width": 1280, "height": 900}
        context = browser.new_context(**{"viewport": size, "reduced_motion": "reduce", **options})
        self.page: Page = context.new_page()
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type != "log" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._record)
        self.page.on("requestfailed", self._record_failure)
        self.page.on("requestfinished", self._record_end)
        self.page.add_init_script(WATCH)
        self.page.clock.install(time=now_s - 60)  # it runs until it is paused at a later time
        self.page.clock.pause_at(now_s)

    def poll(self) -> None:
        """Let the page refresh once; returns when a refresh that began after this call has its responses.

        Another refresh may still be running, and the page sets its timer only when that has ended. The clock stands
        while a request is open: the page's time limits for requests follow the same clock.
        """
        called_ms = time.time() * 1000
        self.poll_until(lambda: self._is_refreshed(called_ms))

    def poll_until(self, is_reached: Callable[[], bool]) -> None:
        """Let the page refresh until `is_reached` returns true; refreshes may fail, unlike those of `poll`."""
        deadline = time.monotonic() + POLL_DEADLINE_S
        while not is_reached():
            assert time.monotonic() < deadline, f"not reached; the last requests: {self.requests[-5:]}"
            if not self._open:
                self.page.clock.run_for(self.EVERY_MS)
            self.page.wait_for_timeout(10)  # dispatches requests and responses to the handlers

    def _is_refreshed(self, since_ms: float) -> bool:
        answered = (each.url for each in self._finished if each.timing["startTime"] >= since_ms)
        return all(any(wanted.search(url) for url in answered) for wanted in self.REFRESH)

    def reload(self) -> None:
        """Reload the page. Requests that the reload aborts are no errors of the page.

        Chromium requests the icon of the tab after the page has loaded, so a test cannot wait for it.
        """
        self._reloads = True
        self.page.reload()
        self._reloads = False

    def close(self) -> list[str]:
        """Close the page. Returns the errors that the browser reported, including violations of the content policy."""
        complaints = [*self.complaints, *self.page.evaluate("window.violations")]
        self.page.context.close()  # aborts running requests, which is no error of the page
        return complaints

    def _record(self, request: Request) -> None:
        self.requests.append(request.url)
        self._open.add(request)

    def _record_failure(self, request: Request) -> None:
        self._open.discard(request)
        if not (self._reloads and request.failure == "net::ERR_ABORTED"):
            self.complaints.append(f"failed: {request.url}: {request.failure}")

    def _record_end(self, request: Request) -> None:
        self._finished.append(request)
        self._open.discard(request)
