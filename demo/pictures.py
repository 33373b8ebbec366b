"""`python -m demo.pictures`: takes the picture of the processor's page for the docs, from the running demo.

It also writes the responses of the API that the page showed. A test compares them with the current program and
guarantee, to detect an outdated picture.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from demo.processor import DemoProcessor
from demo.system import new_system, read_program
from devkit.browser import chromium
from devkit.page import expected, shown

PICTURE = Path(__file__).parents[1] / "docs/images/processor-page.png"
WIDTH, HEIGHT = 1000, 800
PIXELS = 2
"""Pixels of the picture per pixel of the page, for screens with a high resolution."""
HISTORY_S = 130
"""How long records are processed before the picture is taken: the curves have a sample for each ten seconds."""
OUTPUT_DEADLINE_S = 120
POLL_S = 0.25


def main() -> int:
    """The exit code: 0 if the picture was taken, 1 if there were no records or the page shows other values than the
    API.
    """
    parser = argparse.ArgumentParser(prog="make pictures", description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", default=PICTURE)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--history-s", type=float, default=HISTORY_S)
    options = parser.parse_args()
    with ExitStack() as stack:
        system = new_system(read_program())
        system.start(stack, say)
        if not _has_output(system.processor):
            say(f"no record was written:\n{system.processor.why_it_ended()}")
            return 1
        say(f"records are written; the picture is taken in {options.history_s:.0f} s")
        time.sleep(options.history_s)
        browser = stack.enter_context(chromium())
        return take(browser, system.processor.url, options.file, dark=options.dark)


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def _has_output(processor: DemoProcessor) -> bool:
    """Wait for the first output records; False after the deadline, or if the processor ends."""
    deadline = time.monotonic() + OUTPUT_DEADLINE_S
    while processor.process.running and time.monotonic() < deadline:
        if processor.read().out_per_s > 0:
            return True
        time.sleep(POLL_S)
    return False


def take(browser: Browser, url: str, file: Path, dark: bool = False) -> int:
    """Open the page, compare it with the responses that it got, and take the picture. Returns the exit code."""
    context = browser.new_context(
        viewport={"width": WIDTH, "height": HEIGHT},
        device_scale_factor=PIXELS,
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.clock.install(time=time.time())  # the page sends its requests once and does not change afterwards
    with (
        page.expect_response("**/stream") as stream,
        page.expect_response("**/metadata") as stores,
        page.expect_response("**/topology"),
    ):
        page.goto(url)
    page.locator("#topology .node").first.wait_for()
    answers: dict[str, Any] = {"stream": stream.value.json(), "metadata": stores.value.json()}
    displayed, wanted = shown(page), expected(answers["stream"], answers["metadata"])
    for name in wanted:
        if displayed[name] != wanted[name]:
            say(f"{name}: the page shows {displayed[name]!r}, the API has {wanted[name]!r}")
    if displayed != wanted:
        return 1
    file.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=file)
    file.with_suffix(".json").write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    say(f"wrote {file} and {file.with_suffix('.json').name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
