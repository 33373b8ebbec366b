"""The table of processors in a real browser: content, filter, sorting, many rows, login."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import CDPSession, Route, expect

from devkit.console_fixtures import FakeConsole, token_settings
from devkit.fake_cluster import workload
from devkit.fake_runner_server import stream
from tests.browser.console.conftest import Open

BY_STATE = [
    "orders",
    "by-hand",
    "alarms",
    "positions",
    "large-payments",
    "of-old",
    "fast-vehicles",
    "night-shift",
    "at-rest",
    "gone",
]


def test_all_processors_are_shown_the_most_severe_first(console: FakeConsole, visit: Open) -> None:
    seen = visit(console)
    seen.log_in()

    expect(seen.page.locator("#processors tbody tr")).to_have_count(10)
    assert seen.names() == BY_STATE
    expect(seen.page.locator("#processors .pill").first).to_have_text("failed")
    expect(seen.page.locator("#count")).to_have_text("10 processors")


def test_violations_and_the_creator_are_noted(console: FakeConsole, visit: Open) -> None:
    seen = visit(console)
    seen.log_in()

    expect(seen.page.get_by_role("row", name="by-hand")).to_contain_text("1 violation, by hand")
    expect(seen.page.get_by_role("row", name="of-old")).to_contain_text("legacy")


def test_rows_are_updated_in_place(console: FakeConsole, visit: Open) -> None:
    seen = visit(console)
    seen.log_in()
    row = seen.page.get_by_role("row", name="fast-vehicles")
    expect(row).to_be_visible()
    seen.page.evaluate("window.row = [...document.querySelectorAll('#processors tr')].at(-1)")

    console.runners.streams["fast-vehicles"] = stream(lag=987_654)
    console.refresh()
    seen.poll()

    expect(row).to_contain_text("987,654")
    assert seen.page.evaluate("window.row.isConnected")


class TestFilter:
    @pytest.mark.parametrize(
        ("typed", "expected"),
        [("large", ["large-payments"]), ("STREAMS gone", ["gone"]), ("vehicles orders", ["orders"]), ("nothing", [])],
    )
    def test_by_words(self, console: FakeConsole, visit: Open, typed: str, expected: list[str]) -> None:
        seen = visit(console)
        seen.log_in()

        seen.page.get_by_label("Filter").fill(typed)

        expect(seen.page.locator("#processors tbody tr")).to_have_count(len(expected))
        assert seen.names() == expected
        expect(seen.page.locator("#count")).to_have_text(f"{len(expected)} of 10")

    def test_by_state_and_namespace_and_violations(self, console: FakeConsole, visit: Open) -> None:
        seen = visit(console)
        seen.log_in()
        page = seen.page

        page.get_by_label("State", exact=True).select_option("running")
        expect(page.locator("#processors tbody tr")).to_have_count(3)
        page.get_by_label("Namespace", exact=True).select_option("more")
        assert seen.names() == ["large-payments", "of-old"]
        page.get_by_label("State", exact=True).select_option("")
        page.get_by_label("Namespace", exact=True).select_option("")
        page.get_by_label("Violations only").check()
        assert seen.names() == ["by-hand"]

    def test_a_filter_applies_to_new_rows(self, console: FakeConsole, visit: Open) -> None:
        seen = visit(console)
        seen.log_in()
        seen.page.get_by_label("Filter").fill("new")
        expect(seen.page.locator("#nothing")).to_have_text("No processor matches the filter.")

        console.cluster.add(workload("new-one"))
        console.refresh()
        seen.poll()

        expect(seen.page.locator("#processors tbody th")).to_have_text("new-one")


class TestSort:
    def test_by_a_column_and_back_by_keyboard(self, console: FakeConsole, visit: Open) -> None:
        seen = visit(console)
        seen.log_in()
        lag = seen.page.get_by_role("columnheader", name="Lag")

        lag.get_by_role("button").press("Enter")
        expect(lag).to_have_attribute("aria-sort", "ascending")
        assert seen.names()[-1] == "alarms"
        lag.get_by_role("button").press("Enter")
        expect(lag).to_have_attribute("aria-sort", "descending")
        assert seen.names()[0] == "alarms"

    def test_numbers_as_numbers_and_names_as_names(self, console: FakeConsole, visit: Open) -> None:
        seen = visit(console)
        seen.log_in()

        seen.page.get_by_role("button", name="Processor").click()
        assert seen.names() == sorted(BY_STATE)


def processor_time_s(devtools: CDPSession) -> float:
    """The time for which the page's thread has computed, which other processes do not change."""
    metrics = devtools.send("Performance.getMetrics")["metrics"]
    return next(float(each["value"]) for each in metrics if each["name"] == "TaskDuration")


class TestMany:
    @pytest.fixture
    def console(self) -> FakeConsole:
        console = FakeConsole()
        for number in range(1000):
            console.cluster.add(workload(f"p-{number:04}", namespace="streams" if number % 2 else "more"))
            console.runners.streams[f"p-{number:04}"] = stream(lag=number)
        console.refresh()
        return console

    def test_a_thousand_rows_stay_usable(self, console: FakeConsole, visit: Open) -> None:
        seen = visit(console)
        expect(seen.page.locator("#processors tbody tr")).to_have_count(1000)

        devtools = seen.page.context.new_cdp_session(seen.page)
        devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        begun = processor_time_s(devtools)
        seen.page.get_by_label("Filter").fill("p-0999")
        expect(seen.page.locator("#processors tbody tr")).to_have_count(1)
        seen.page.get_by_label("Filter").fill("")
        seen.page.get_by_role("button", name="Lag").click()
        seen.page.get_by_role("button", name="Lag").click()
        expect(seen.page.locator("#processors tbody tr").first).to_contain_text("p-0999")

        assert processor_time_s(devtools) - begun < 4

    def test_a_refresh_changes_only_cells_that_differ(self, console: FakeConsole, visit: Open) -> None:
        seen = visit(console)
        expect(seen.page.locator("#processors tbody tr")).to_have_count(1000)
        seen.page.evaluate(
            """window.changed = 0;
            new MutationObserver((all) => { window.changed += all.length; }).observe(
              document.querySelector("#processors tbody"), {childList: true, subtree: true, characterData: true});"""
        )

        console.runners.streams["p-0500"] = stream(lag=77_777)
        console.refresh()
        seen.poll()

        expect(seen.page.get_by_role("row", name="p-0500")).to_contain_text("77,777")
        assert 1 <= seen.page.evaluate("window.changed") <= 4


class TestSession:
    def test_without_authentication_the_table_is_shown_at_once(self, visit: Open) -> None:
        console = FakeConsole()
        console.refresh()

        seen = visit(console)

        expect(seen.page.locator("#nothing")).to_have_text("There are no processors in these namespaces yet.")
        expect(seen.page.locator("#account")).to_be_hidden()

    def test_nothing_is_shown_before_the_login(self, console: FakeConsole, visit: Open) -> None:
        seen = visit(console)

        expect(seen.page.get_by_label("Token")).to_be_focused()
        expect(seen.page.locator("#list")).to_be_hidden()
        assert not [address for address in seen.requests if "/streams" in address]

    def test_a_wrong_token_is_reported(self, console: FakeConsole, visit: Open) -> None:
        seen = visit(console)

        seen.page.get_by_label("Token").fill("wrong")
        seen.page.get_by_role("button", name="Log in").click()

        expect(seen.page.get_by_role("alert")).to_have_text("The token is not valid.")
        assert any("401" in complaint for complaint in seen.complaints)
        seen.complaints.clear()

    def test_the_user_is_shown_until_the_logout(self, console: FakeConsole, visit: Open) -> None:
        seen = visit(console)
        seen.log_in("eve")
        expect(seen.page.locator("#who")).to_have_text("eve · viewer")

        seen.page.get_by_role("button", name="Log out").click()

        expect(seen.page.get_by_label("Token")).to_be_visible()
        expect(seen.page.locator("#list")).to_be_hidden()

    def test_a_logout_waits_for_the_running_request(self, console: FakeConsole, visit: Open) -> None:
        """A concurrent logout would end the session of the request, and the page would report an error."""
        seen = visit(console)
        seen.log_in("eve")
        held: list[Route] = []
        asked: list[str] = []

        def hold(route: Route) -> None:
            held.append(route)

        seen.page.route("**/api/v1/streams", hold)
        with seen.page.expect_request("**/api/v1/streams"):
            seen.page.evaluate("window.dispatchEvent(new HashChangeEvent('hashchange'))")
        seen.page.on("request", lambda request: asked.append(request.method))

        seen.page.get_by_role("button", name="Log out").click()
        seen.page.evaluate("fetch('health/live')")  # by the time of this response, all earlier requests were recorded
        expect(seen.page.locator("#list")).to_be_visible()
        before = list(asked)
        held[0].continue_()

        expect(seen.page.get_by_label("Token")).to_be_visible()
        assert before == ["GET"]
        assert asked[-1] == "DELETE"

    def test_a_reload_keeps_the_session_and_scripts_do_not_see_it(self, console: FakeConsole, visit: Open) -> None:
        seen = visit(console)
        seen.log_in()

        assert seen.page.evaluate("document.cookie") == ""
        expect(seen.page.locator("#processors tbody tr")).to_have_count(10)
        seen.reload()

        expect(seen.page.locator("#processors tbody tr")).to_have_count(10)

    def test_the_end_of_a_session_shows_the_login(self, console: FakeConsole, visit: Open, tmp_path: Path) -> None:
        seen = visit(console)
        seen.log_in()
        expect(seen.page.locator("#processors tbody tr")).to_have_count(10)

        (tmp_path / "tokens").write_text("")
        console.refresh()
        seen.poll()

        expect(seen.page.get_by_label("Token")).to_be_visible()
        expect(seen.page.locator("#list")).to_be_hidden()
        seen.complaints.clear()


def test_a_namespace_that_cannot_be_read_is_reported(console: FakeConsole, visit: Open) -> None:
    console.cluster.refused.add(("workloads", "more"))
    console.refresh()
    seen = visit(console)
    seen.log_in()

    expect(seen.page.locator("#failures")).to_contain_text("more cannot be read: forbidden.")
    expect(seen.page.locator("#processors tbody tr")).to_have_count(10)


def test_external_values_are_text_and_never_markup(visit: Open, tmp_path: Path) -> None:
    evil = "<img src=x onerror=alert(1)>"
    console = FakeConsole(token_settings(tmp_path))
    manifest = workload("x", sql=f"-- {evil}")
    manifest["metadata"]["labels"] |= {"lenses-user": evil, "lenses-id": "'\"><script>"}
    console.cluster.add(manifest)
    topics = [{"topic": evil, "role": "source"}]
    console.runners.streams["x"] = stream(topics=topics, state="failed", reason={"message": evil})
    nodes = [{"id": "n", "kind": evil, "label": evil, "detail": evil}]
    console.runners.others["/topology"] = (200, {"nodes": nodes, "edges": [], "plan": evil})
    console.refresh()
    seen = visit(console)
    seen.log_in()

    expect(seen.page.locator("#processors tbody tr")).to_contain_text(evil)
    seen.page.get_by_role("link", name="x", exact=True).click()
    expect(seen.page.locator("#sql")).to_contain_text(evil)
    expect(seen.page.locator("#topology .node")).to_have_count(1)
    assert seen.page.locator("main img, main script").count() == 0


@pytest.mark.parametrize("width", [360, 800, 1920])
def test_the_page_never_scrolls_horizontally(console: FakeConsole, visit: Open, width: int) -> None:
    seen = visit(console, viewport={"width": width, "height": 800})
    seen.log_in()
    expect(seen.page.locator("#processors tbody tr")).to_have_count(10)

    assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_it_uses_no_other_host(console: FakeConsole, visit: Open) -> None:
    seen = visit(console)
    seen.log_in()
    seen.poll()

    assert all(re.match(r"http://127\.0\.0\.1:\d+/", address) for address in seen.requests)
