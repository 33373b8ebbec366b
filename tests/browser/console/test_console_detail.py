"""The page of one processor in a real browser: what it shows, and its actions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from devkit.console_fixtures import FakeConsole, token_settings
from devkit.fake_program import DESCRIPTION, SQL
from devkit.fake_runner_server import stream
from lsql_runner.console.cluster import Autoscaler
from tests.browser.console.conftest import Open
from tests.browser.console.site import FAILED, Visit, populate


def opened(visit: Open, console: FakeConsole, name: str = "fast-vehicles", who: str = "ada") -> Visit:
    """The page of the processor `name`, after the login of the user `who`."""
    seen = visit(console, f"#/p/{console.id_of(name)}")
    seen.log_in(who)
    expect(seen.page.locator("#title")).to_have_text(name)
    return seen


def test_is_opened_and_left_by_keyboard(console: FakeConsole, visit: Open) -> None:
    seen = visit(console)
    seen.log_in()
    link = seen.page.get_by_role("link", name="fast-vehicles")
    link.focus()

    seen.page.keyboard.press("Enter")
    expect(seen.page.locator("#title")).to_have_text("fast-vehicles")
    expect(seen.page.locator("#list")).to_be_hidden()
    expect(seen.page.locator("#main")).to_be_focused()
    seen.page.keyboard.press("Tab")
    expect(seen.page.get_by_role("link", name="All processors")).to_be_focused()
    seen.page.keyboard.press("Enter")

    expect(seen.page.locator("#processors tbody tr")).to_have_count(10)
    expect(seen.page.locator("#title")).to_have_text("LSQL processors")


def test_shows_program_topology_stores_facts_events_and_log(console: FakeConsole, visit: Open) -> None:
    seen = opened(visit, console)

    expect(seen.page.locator("#sql .keyword").first).to_have_text("SET")
    assert seen.page.locator("#sql").evaluate("e => e.textContent") == SQL
    expect(seen.page.locator("#topology .node")).to_have_count(len(DESCRIPTION.topology["nodes"]))
    expect(seen.page.locator("#stores")).to_contain_text("fast-vehicles-window")
    expect(seen.page.locator("#facts")).to_contain_text(console.id_of("fast-vehicles"))
    expect(seen.page.locator("#events")).to_contain_text("State running.")
    expect(seen.page.locator("#logs")).to_have_text("batch 1 ended\nbatch 2 ended")
    expect(seen.page.locator("#violations")).to_have_text("No violations.")


def test_lag_and_rates_of_the_last_hour_are_curves_with_a_description(console: FakeConsole, visit: Open) -> None:
    seen = opened(visit, console)

    lag = seen.page.locator("#lag-chart svg")
    expect(lag).to_have_attribute(
        "aria-label", "Lag over the last hour in records. lag: now 2,290, lowest 400, highest 2,380."
    )
    curve = lag.locator(".curve").get_attribute("d") or ""
    assert curve.count("L") == 59
    expect(seen.page.locator("#rate-chart .curve")).to_have_count(2)


def test_figures_are_refreshed(console: FakeConsole, visit: Open) -> None:
    seen = opened(visit, console)

    console.clock.forward(minutes=1)
    console.runners.streams["fast-vehicles"] = stream(lag=1_000_000)
    console.refresh()
    seen.poll()

    expect(seen.page.locator("#lag-chart svg")).to_have_attribute(
        "aria-label", "Lag over the last hour in records. lag: now 1M, lowest 400, highest 1M."
    )


def test_a_failure_is_reported_with_the_way_out(console: FakeConsole, visit: Open) -> None:
    seen = opened(visit, console, "orders")

    expect(seen.page.locator("#state")).to_have_text("failed")
    expect(seen.page.locator("#reason")).to_contain_text(FAILED["message"])
    expect(seen.page.locator("#reason")).to_contain_text(FAILED["wayOut"])


def test_a_runner_that_does_not_respond_is_shown_and_gets_no_more_requests(console: FakeConsole, visit: Open) -> None:
    seen = opened(visit, console, "by-hand")

    expect(seen.page.locator("#reason")).to_contain_text("had no response within 2 s")
    expect(seen.page.locator("#violations .warning")).to_have_count(1)
    assert not [address for address in seen.requests if address.endswith(("/topology", "/stores"))]


def test_a_deleted_processor_is_shown_without_actions(console: FakeConsole, visit: Open) -> None:
    seen = opened(visit, console, "gone")

    expect(seen.page.locator("#reason")).to_contain_text("first noticed at 2026-11-21 10:14:00 UTC.")
    expect(seen.page.locator(".bar .actions button:visible")).to_have_count(0)


def test_an_unknown_id_is_reported(console: FakeConsole, visit: Open) -> None:
    seen = visit(console, "#/p/nobody")
    seen.log_in()

    expect(seen.page.locator("#connection")).to_contain_text("The processor nobody does not exist.")
    seen.complaints.clear()


def test_the_log_is_fetched_again_on_request(console: FakeConsole, visit: Open) -> None:
    seen = opened(visit, console)
    expect(seen.page.locator("#logs")).to_contain_text("batch 2 ended")

    console.cluster.pods_of["streams", "fast-vehicles-0"].lines.append("batch 3 ended")
    seen.page.get_by_role("button", name="Refresh").click()

    expect(seen.page.locator("#logs")).to_contain_text("batch 3 ended")


class TestActions:
    def test_stop_and_start_by_keyboard_alone(self, console: FakeConsole, visit: Open) -> None:
        seen = opened(visit, console)
        page = seen.page

        expect(page.locator("#stop")).to_be_visible()  # the button appears after all else
        page.locator("#stop").press("Enter")
        expect(page.get_by_role("dialog", name="Stop fast-vehicles?")).to_be_visible()
        page.keyboard.press("Tab")
        with page.expect_response("**/stop"):
            page.keyboard.press("Enter")
        assert console.runners.posted == [("fast-vehicles", "stop", "ada")]
        console.refresh()
        seen.poll()
        expect(page.locator("#state")).to_have_text("stopped")
        expect(page.locator("#events")).to_contain_text("ada requested stop: done.")

        expect(page.locator("#start")).to_be_visible()  # the button appears after all else
        page.locator("#start").press("Enter")
        expect(page.get_by_role("dialog", name="Start fast-vehicles?")).to_be_visible()
        page.keyboard.press("Tab")
        with page.expect_response("**/start"):
            page.keyboard.press("Enter")
        assert console.runners.posted[1:] == [("fast-vehicles", "start", "ada")]

    def test_escape_sends_no_request(self, console: FakeConsole, visit: Open) -> None:
        seen = opened(visit, console)

        seen.page.locator("#stop").click()
        seen.page.keyboard.press("Escape")

        expect(seen.page.get_by_role("dialog")).to_be_hidden()
        expect(seen.page.locator("#stop")).to_be_focused()
        assert console.runners.posted == []

    def test_the_number_of_workers_is_set_in_steps_by_keyboard(self, console: FakeConsole, visit: Open) -> None:
        seen = opened(visit, console)
        page = seen.page
        expect(page.locator("#scale")).to_be_visible()  # the button appears after all else
        page.locator("#scale").press("Enter")
        expect(page.get_by_role("dialog", name="Scale fast-vehicles")).to_be_visible()
        expect(page.get_by_label("Workers", exact=True)).to_have_value("2")

        page.get_by_role("button", name="One more").press("Enter")
        page.get_by_role("button", name="One more").press("Enter")
        page.get_by_role("button", name="One less").press("Enter")
        with page.expect_response("**/scale/3"):
            page.get_by_label("Workers", exact=True).press("Enter")

        expect(page.get_by_role("dialog")).to_be_hidden()
        console.refresh()
        seen.poll()
        expect(page.locator("#facts div", has_text="Workers").locator("dd")).to_have_text("3")
        expect(page.locator("#events")).to_contain_text("ada requested scale: 2 to 3 workers.")

    def test_the_wanted_number_of_workers_and_their_rate_are_shown(self, console: FakeConsole, visit: Open) -> None:
        scaling: dict[str, Any] = {"wanted": 4, "dryRun": True, "reason": "a lag"}
        console.runners.streams["fast-vehicles"] = stream(scaling=scaling)
        console.refresh()
        seen = opened(visit, console)
        facts = seen.page.locator("#facts div", has_text="Workers").locator("dd")
        expect(facts).to_have_text("2, 4 wanted (dry run)")

        console.runners.streams["fast-vehicles"] = stream(scaling=scaling | {"workerRatePerSecond": 1234.5})
        console.refresh()
        seen.poll()
        expect(facts).to_have_text("2, 4 wanted (dry run), 1,235 records/s each")

    def test_a_warning_about_the_number_stays_in_the_dialog(self, console: FakeConsole, visit: Open) -> None:
        seen = opened(visit, console)
        seen.page.locator("#scale").click()
        seen.page.get_by_label("Workers", exact=True).fill("0")
        expect(seen.page.get_by_role("button", name="One less")).to_be_disabled()

        seen.page.get_by_role("button", name="Scale it").click()

        expect(seen.page.get_by_role("alert")).to_contain_text("without workers, fast-vehicles processes no records")
        expect(seen.page.get_by_role("button", name="Scale it")).to_be_hidden()
        seen.page.get_by_role("button", name="Close").click()
        expect(seen.page.get_by_role("dialog")).to_be_hidden()

    def test_scaling_against_an_autoscaler_is_refused_in_the_dialog(self, console: FakeConsole, visit: Open) -> None:
        by_lag = Autoscaler("by-lag", "Deployment", "fast-vehicles-workers", owner="")
        console.cluster.autoscalers_of["streams"] = [by_lag]
        seen = opened(visit, console)
        seen.page.locator("#scale").click()

        seen.page.get_by_role("button", name="Scale it").click()

        expect(seen.page.get_by_role("alert")).to_contain_text("HorizontalPodAutoscaler/by-lag scales its workers")
        assert any("409" in complaint for complaint in seen.complaints)
        seen.complaints.clear()

    def test_a_processor_without_workers_has_no_button_to_scale(self, console: FakeConsole, visit: Open) -> None:
        seen = opened(visit, console, "large-payments")

        expect(seen.page.locator("#stop")).to_be_visible()
        expect(seen.page.locator("#scale")).to_be_hidden()

    def test_delete_needs_the_name(self, console: FakeConsole, visit: Open) -> None:
        seen = opened(visit, console)
        page = seen.page
        page.locator("#delete").click()
        yes = page.get_by_role("button", name="Delete it")
        expect(yes).to_be_disabled()
        page.get_by_label("Name", exact=True).fill("fast-vehicle")
        expect(yes).to_be_disabled()
        page.get_by_label("Name", exact=True).fill("fast-vehicles")

        with page.expect_response(lambda response: response.request.method == "DELETE"):
            page.keyboard.press("Enter")

        expect(page.get_by_role("dialog")).to_be_hidden()
        console.refresh()
        seen.poll()
        expect(page.locator("#state")).to_have_text("deleted")
        # The page may refresh before the view and send a request to the runner of the deleted processor.
        seen.complaints[:] = [complaint for complaint in seen.complaints if "409 (CONFLICT)" not in complaint]

    def test_a_viewer_sees_no_button(self, console: FakeConsole, visit: Open) -> None:
        seen = opened(visit, console, who="eve")

        expect(seen.page.locator("#sql .line").first).to_be_visible()
        expect(seen.page.locator(".bar .actions button:visible")).to_have_count(0)

    @pytest.mark.parametrize("action", ["stop", "scale", "delete"])
    def test_only_enabled_actions_have_buttons(self, visit: Open, tmp_path: Path, action: str) -> None:
        console = FakeConsole(token_settings(tmp_path, actions={action: True}))
        populate(console)
        seen = opened(visit, console)

        expect(seen.page.locator(".bar .actions button:visible")).to_have_count(1)
        expect(seen.page.locator(f"#{action}")).to_be_visible()
