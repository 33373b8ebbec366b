"""Takes the picture of the processor's page for the docs.

python -m tests.browser.screenshot [FILE] [--scenario NAME] [--dark] [--full]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from devkit.fake_processor import SCENARIOS
from tests.browser.site import Visit, chromium, served

HISTORY_POLLS = 149
"""Five minutes of the page's clock: as much as the curves show."""


def take(file: Path, scenario: str, dark: bool, full: bool) -> None:
    """Lets processor and page run through five minutes, then takes the picture."""
    processor = SCENARIOS[scenario]()
    with served(processor) as address, chromium() as browser:
        seen = Visit(browser, processor, address, color_scheme="dark" if dark else "light")
        for _ in range(HISTORY_POLLS):
            if scenario == "running":
                processor.batch()
            else:
                processor.pass_time(2)
            seen.poll()
        file.parent.mkdir(parents=True, exist_ok=True)
        seen.page.screenshot(path=file, full_page=full)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", default=Path("docs/images/processor-page.png"))
    parser.add_argument("--scenario", choices=sorted(SCENARIOS), default="running")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--full", action="store_true")
    chosen = parser.parse_args()
    take(chosen.file, chosen.scenario, chosen.dark, chosen.full)
