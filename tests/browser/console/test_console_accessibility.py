"""axe-core reports no violations on the console's page, in light and dark."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from devkit.console_fixtures import FakeConsole
from tests.browser.console.conftest import Open
from tests.browser.test_accessibility import violations


def test_the_login_form_has_no_violations(console: FakeConsole, visit: Open) -> None:
    seen = visit(console)
    expect(seen.page.get_by_label("Token")).to_be_visible()

    assert violations(seen.page) == []


def test_the_table_has_no_violations(console: FakeConsole, visit: Open) -> None:
    seen = visit(console)
    seen.log_in()
    expect(seen.page.locator("#processors tbody tr")).to_have_count(10)

    assert violations(seen.page) == []


@pytest.mark.parametrize("name", ["fast-vehicles", "orders", "by-hand", "gone"])
def test_the_page_of_a_processor_has_no_violations(console: FakeConsole, visit: Open, name: str) -> None:
    seen = visit(console, f"#/p/{console.id_of(name)}")
    seen.log_in()
    expect(seen.page.locator("#facts dd").first).to_be_visible()

    assert violations(seen.page) == []


@pytest.mark.parametrize("action", ["stop", "scale", "delete"])
def test_the_confirmation_dialog_has_no_violations(console: FakeConsole, visit: Open, action: str) -> None:
    seen = visit(console, f"#/p/{console.id_of('fast-vehicles')}")
    seen.log_in()
    seen.page.locator(f"#{action}").click()
    expect(seen.page.get_by_role("dialog")).to_be_visible()

    assert violations(seen.page) == []


def test_the_table_on_a_narrow_screen_has_no_violations(console: FakeConsole, visit: Open) -> None:
    seen = visit(console, viewport={"width": 400, "height": 800})
    seen.log_in()
    expect(seen.page.locator("#processors tbody tr")).to_have_count(10)

    assert violations(seen.page) == []
