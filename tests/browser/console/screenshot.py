"""Takes screenshots of the console over a fake cluster, to review a change of the page.

python -m tests.browser.console.screenshot FILE [--processor] [--dark] [--full]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from devkit.browser import chromium
from devkit.console_fixtures import FakeConsole, token_settings
from tests.browser.console.site import Visit, populate
from tests.browser.site import serve_app


def take_screenshot(file: Path, processor: bool, dark: bool, full: bool) -> None:
    """Write a picture of the table, or of the page of one processor, as an operator sees it."""
    with tempfile.TemporaryDirectory() as folder:
        console = FakeConsole(token_settings(Path(folder)))
        populate(console)
        path = f"#/p/{console.id_of('fast-vehicles')}" if processor else ""
        with serve_app(console.app) as address, chromium() as browser:
            seen = Visit(browser, console, address, path, color_scheme="dark" if dark else "light")
            seen.log_in()
            seen.page.locator("#rate-chart svg" if processor else "#processors tbody tr").first.wait_for()
            seen.page.wait_for_load_state("networkidle")
            file.parent.mkdir(parents=True, exist_ok=True)
            seen.page.screenshot(path=file, full_page=full)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--processor", action="store_true", help="the page of a processor instead of the table")
    parser.add_argument("--dark", action="store_true", help="the dark colour scheme")
    parser.add_argument("--full", action="store_true", help="the whole page, not only the visible part")
    chosen = parser.parse_args()
    take_screenshot(chosen.file, chosen.processor, chosen.dark, chosen.full)
