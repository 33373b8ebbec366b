"""axe-core reports no violations on the page, in light and dark, in the states that look different."""

from importlib.resources import files
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect

from devkit.fake_processor import SCENARIOS, running
from lsql_runner.api.access import ApiAccess
from tests.browser.conftest import Open

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def violations(page: Page) -> list[str]:
    """The violations that axe reports in light and in dark, with their elements."""
    page.evaluate(AXE)
    page.clock.resume()  # axe uses timers of the page
    breaches: list[dict[str, Any]] = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        breaches += page.evaluate("axe.run().then((result) => result.violations)")
    return [f"{v['impact']} {v['id']}: {[n['html'][:120] for n in v['nodes']]}" for v in breaches]


@pytest.mark.parametrize("scenario", ["running", "waiting", "restarting", "failed", "stopped"])
def test_the_page_has_no_violations_in_any_state(visit: Open, scenario: str) -> None:
    seen = visit(SCENARIOS[scenario]())
    expect(seen.page.locator("#state")).to_have_text(scenario)

    assert violations(seen.page) == []


def test_the_confirmation_of_a_stop_has_no_violations(visit: Open) -> None:
    seen = visit(running(), access=ApiAccess("token", "0123456789abcdef"))
    seen.page.locator("#stop").click()
    expect(seen.page.locator("#confirm").get_by_label("Token")).to_be_visible()

    assert violations(seen.page) == []


def test_the_page_with_the_plan_on_a_narrow_screen_has_no_violations(visit: Open) -> None:
    seen = visit(running(), viewport={"width": 400, "height": 800})
    seen.page.get_by_text("Plan", exact=True).click()

    assert violations(seen.page) == []
