"""The processor's page in a real browser: what it shows, how it refreshes, and its actions."""

import re
from dataclasses import replace

import pytest
from playwright.sync_api import expect
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.wrappers import Response

from devkit.fake_engine import MEMORY
from devkit.fake_processor import SCENARIOS, FakeProcessor, failed, running, starting, stopped
from devkit.fake_program import DESCRIPTION, PLAN, SQL
from devkit.page import NONE, expected, shown
from lsql_runner.api.access import ApiAccess
from lsql_runner.container.budget import budget
from lsql_runner.engine.port import StoredRows
from lsql_runner.errors import LsqlError
from lsql_runner.events.processor import MemoryMeasured, ScalingDecided, WorkersChanged
from lsql_runner.events.state import State
from lsql_runner.events.workers import JoinedWorker
from lsql_runner.spans import Span
from lsql_runner.status.lifecycle import Cause
from tests.browser.conftest import Open

TOKEN = "0123456789abcdef"
HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_state_is_shown_with_its_problem_and_the_way_out(visit: Open, scenario: str) -> None:
    processor = SCENARIOS[scenario]()
    seen = visit(processor)
    status = processor.status()

    expect(seen.page.locator("#state")).to_have_text(status.state.value)
    expect(seen.page.locator("#reason")).to_be_visible(visible=status.reason is not None or not processor.health().ok)
    if status.reason:
        expect(seen.page.locator("#reason")).to_contain_text(status.reason.message)
        expect(seen.page.locator("#reason")).to_contain_text(status.reason.way_out)


def test_the_countdown_to_a_restart_is_outside_of_live_regions(visit: Open) -> None:
    processor = SCENARIOS["restarting"]()
    seen = visit(processor)

    processor.advance_s(9)
    seen.poll()

    expect(seen.page.locator("#since")).to_have_text("for 9 s, next try in 21 s")


def test_figures_partitions_and_stores_are_refreshed(visit: Open) -> None:
    processor = running()
    seen = visit(processor)

    for _ in range(3):
        processor.batch()
        seen.poll()

    status = processor.status()
    assert seen.text("#tiles .tile:nth-child(1) strong") == f"{status.records_in_per_s:,.0f}"
    assert seen.text("#tiles .tile:nth-child(3) strong") == f"{status.lag:,}"
    assert f"{status.committed[next(iter(status.committed))]:,}" in seen.text("#offsets")
    assert f"{status.stores['fast-vehicles']['fast-vehicles-window'].rows:,}" in seen.text("#stores")


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_page_shows_exactly_what_the_api_reports(visit: Open, scenario: str) -> None:
    processor = SCENARIOS[scenario]()
    seen = visit(processor)
    for _ in range(3):
        if processor.status().state is State.RUNNING:
            processor.batch(seconds=7.3)
        seen.poll()
        stream, stores = seen.answers["stream"].json(), seen.answers["metadata"].json()
        wanted = expected(stream, stores)
        expect(seen.page.locator("#since")).to_have_text(wanted["since"])
        assert shown(seen.page) == wanted


ROWS = StoredRows(
    rows='[{"key":"v-1","window":null,"value":{"n":12345678901234567890,"mean":0.10},"error":null},'
    '{"key":"v-2","window":{"start":"2026-11-30T10:00:00Z","end":"2026-11-30T10:01:00Z"},"value":null,"error":"DIVIDE_BY_ZERO"}]',
    cursor="0.AA",
    batch=7,
    positions={},
    watermark_ms=None,
    planned_ms=0,
)


def test_rows_of_the_state_are_looked_up_with_all_their_digits(visit: Open) -> None:
    processor = running()
    processor.stored = [ROWS]
    page = visit(processor, access=ApiAccess("open", queries="token", read_token=TOKEN)).page
    page.locator("#lookup-store").select_option("vehicles-latest")
    page.get_by_label("Key", exact=True).fill("v-1 & 2")
    page.locator("#lookup-token").fill(TOKEN)
    page.locator("#lookup-token").press("Enter")

    expect(page.locator("#lookup-note")).to_have_text("The first 2 rows")
    cells = page.locator("#rows tbody tr").evaluate_all(
        "rows => rows.map((row) => [...row.cells].map((c) => c.innerText))"
    )
    assert cells[0] == ['"v-1"', NONE, '{"n":12345678901234567890,"mean":0.10}']
    assert cells[1][2] == "DIVIDE_BY_ZERO"
    expect(page.locator("#lookup-token")).to_be_hidden()
    [read] = processor.reads
    assert (read.store, read.key) == ("vehicles-latest", "v-1 & 2")


def test_a_processor_that_shows_no_rows_has_no_look_up(visit: Open) -> None:
    expect(visit(running()).page.locator("#lookup")).to_be_hidden()


@pytest.mark.parametrize(
    ("wanted", "dry_run", "text"),
    [(3, False, "2, 3 wanted"), (None, False, "2, wanted number not known"), (3, True, "2, 3 wanted, dry run")],
)
def test_workers_and_their_wanted_number_are_shown(visit: Open, wanted: int | None, dry_run: bool, text: str) -> None:
    processor = running()
    processor.emit(
        WorkersChanged(processor.now_ms, (JoinedWorker("10.0.0.1:4000", 2), JoinedWorker("10.0.0.2:4000", 2)))
    )
    processor.emit(
        ScalingDecided(
            at_ms=processor.now_ms, wanted=wanted, current=2, minimum=1, maximum=6, dry_run=dry_run, reason="a reason"
        )
    )
    seen = visit(processor)

    assert shown(seen.page)["facts"]["Workers"] == text
    assert shown(seen.page) == expected(seen.answers["stream"].json(), seen.answers["metadata"].json())


def test_bars_show_what_is_used_of_each_part_of_the_memory(visit: Open) -> None:
    processor = running()
    full = replace(MEMORY, code_cache_used_bytes=81 << 20, heap_used_bytes=0)
    processor.emit(MemoryMeasured(processor.now_ms, full, python_bytes=60 << 20))
    seen = visit(processor)

    bars = seen.page.locator("#memory td.used").evaluate_all("cells => cells.map((cell) => cell.dataset.share)")

    # Heap, state stores with 11 of 50 MB, compiled code above its budget, JVM with 165 of 208 MiB, Python with 60 of
    # 104 MiB, kernel.
    assert bars == ["0", "3", "10", "8", "6", "0"]
    expect(seen.page.locator("#memory-note")).to_have_text("440 MiB of 768 MiB")


def test_memory_without_a_limit_is_shown(visit: Open) -> None:
    processor = running()
    processor.identity = replace(processor.identity, memory=budget(None))
    seen = visit(processor)

    expect(seen.page.locator("#memory-note")).to_have_text("492 MiB, no limit")
    assert shown(seen.page)["memory"] == expected(seen.answers["stream"].json(), [])["memory"]


def test_a_new_page_shows_the_last_hour_of_the_processor(visit: Open) -> None:
    processor = running()
    for _ in range(240):
        processor.batch(seconds=20.0)
    seen = visit(processor)
    samples = seen.answers["history"].json()["samples"]
    tile = seen.page.locator("#tiles .tile").first

    line = tile.locator(".line").get_attribute("d") or ""

    assert len(samples) == 360
    assert line.count("M") == 1
    assert line.count("L") == 360  # the samples, then the current value
    assert "over the last 1 h" in (tile.locator(".spark").get_attribute("aria-label") or "")


def test_curves_continue_with_each_new_sample(visit: Open) -> None:
    processor = starting()
    processor.plan()
    processor.transition(Cause.RUN)
    processor.batch()
    seen = visit(processor)
    assert seen.answers["history"].json()["samples"] == []

    for _ in range(10):
        processor.batch()
        seen.poll()

    assert len(seen.answers["history"].json()["samples"]) == 2
    assert sum(address.endswith("/history") for address in seen.requests) == 3
    line = seen.page.locator("#tiles .tile:nth-child(1) .line").get_attribute("d") or ""
    assert line.count("L") == 2


def test_rows_are_updated_in_place_so_that_a_selection_survives(visit: Open) -> None:
    processor = running()
    seen = visit(processor)
    seen.page.evaluate("window.row = document.querySelector('#offsets tbody tr')")

    processor.batch()
    seen.poll()

    assert seen.page.evaluate("window.row === document.querySelector('#offsets tbody tr')")


def test_a_hidden_page_sends_no_requests_until_it_is_shown(visit: Open) -> None:
    seen = visit(running())
    seen.poll()

    seen.page.evaluate(HIDE, True)
    seen.requests.clear()
    seen.page.clock.run_for(60_000)
    assert seen.requests == []

    with seen.page.expect_response("**/metadata"):
        seen.page.evaluate(HIDE, False)


def test_topology_has_all_nodes_and_edges_and_the_plan_opens(visit: Open) -> None:
    seen = visit(running())

    expect(seen.page.locator("#topology .node")).to_have_count(len(DESCRIPTION.topology["nodes"]))
    expect(seen.page.locator("#topology .edge")).to_have_count(len(DESCRIPTION.topology["edges"]))
    seen.page.get_by_text("Plan", exact=True).press("Enter")
    expect(seen.page.locator("#plan-text")).to_have_text(PLAN, use_inner_text=True)


def test_long_names_and_details_stay_within_the_boxes_of_the_topology(visit: Open) -> None:
    processor = running()
    label, detail = "MonthlyRecommendations" * 3, "{Speed: Speed, MMSI: MMSI, " * 3
    long = {"id": "a", "kind": "project", "label": label, "detail": detail}
    processor.description = replace(DESCRIPTION, topology={"nodes": [long], "edges": []})
    seen = visit(processor)

    expect(seen.page.locator("#topology .node")).to_have_count(1)
    box = seen.page.locator("#topology .node rect").bounding_box()
    assert box is not None
    for text in seen.page.locator("#topology .node text").all():
        inner = text.bounding_box()
        assert inner is not None
        assert inner["x"] + inner["width"] < box["x"] + box["width"]


def test_topology_appears_when_the_topics_are_known(visit: Open) -> None:
    processor = starting()
    seen = visit(processor)
    expect(seen.page.locator("#topology-note")).to_have_text("not known yet")

    processor.plan()
    seen.poll()

    expect(seen.page.locator("#topology .node")).to_have_count(len(DESCRIPTION.topology["nodes"]))


def test_the_program_is_shown_unchanged_and_highlighted(visit: Open) -> None:
    seen = visit(running())

    assert seen.page.locator("#sql").evaluate("e => e.textContent") == SQL
    assert seen.page.locator("#sql .keyword").first.inner_text() == "SET"
    assert seen.page.locator("#sql .function").all_inner_texts() == ["COUNT", "AVG", "MAX", "AVG"]
    assert "-- Parked vehicles are left out." in seen.text("#sql .comment >> nth=0")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 'it''s -- no comment' // but this",
        'SELECT "open',
        "/* never ends",
        "`a`.b-c.1m + 1.5e3ms <> 'x\\'y'",
        "LEFT JOIN x; SELECT LEFT(y, 1) 😀 ü",
        "",
    ],
)
def test_highlighting_keeps_every_character(visit: Open, text: str) -> None:
    seen = visit(running())

    pieces = seen.page.evaluate("async (text) => (await import('/static/sql.js')).tokens(text)", text)

    assert "".join(piece["text"] for piece in pieces) == text


def test_the_line_of_an_error_is_highlighted(visit: Open) -> None:
    processor = starting()
    start = SQL.index("v.model")
    processor.transition(
        Cause.FAILED_PERMANENTLY,
        LsqlError("FIELD_UNKNOWN", Span(start, start + 7), source="v", name="model", known="year"),
    )
    seen = visit(processor)

    expect(seen.page.locator("#sql .marked")).to_have_text("  v.model,", use_inner_text=True)
    expect(seen.page.locator("#reason")).to_contain_text("Line 13, column 3.")


def test_external_values_are_text_and_never_markup(visit: Open) -> None:
    processor = running()
    evil = "<img src=x onerror=alert(1)><script>alert(1)</script>"
    processor.identity = replace(processor.identity, app_id=evil, sql=f"-- {evil}", user=evil)
    nodes = [{"id": "n", "kind": evil, "label": evil, "detail": evil}]
    processor.description = replace(DESCRIPTION, topology={"nodes": nodes, "edges": []}, plan=evil)
    seen = visit(processor)

    expect(seen.page.locator("#app-id")).to_have_text(evil)
    expect(seen.page.locator("#topology .node")).to_have_count(1)
    assert seen.page.locator("main img, main script").count() == 0


class TestStopAndStart:
    def test_by_keyboard_alone(self, visit: Open) -> None:
        processor = running()
        seen = visit(processor)
        page = seen.page

        page.keyboard.press("Tab")  # skip link
        page.keyboard.press("Tab")
        expect(page.locator("#stop")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog", name="Stop fast-vehicles?")).to_be_visible()
        page.keyboard.press("Tab")
        with page.expect_response("**/stop"), page.expect_response("**/metadata"):
            page.keyboard.press("Enter")
        assert processor.requests == [("stop", "127.0.0.1")]
        expect(page.locator("#state")).to_have_text("stopping")

        processor.end_transition()
        seen.poll()
        expect(page.locator("#state")).to_have_text("stopped")
        page.locator("#start").press("Enter")
        page.keyboard.press("Tab")
        with page.expect_response("**/start"), page.expect_response("**/metadata"):
            page.keyboard.press("Enter")
        assert processor.requests[1:] == [("start", "127.0.0.1")]
        expect(page.locator("#state")).to_have_text("starting")

    def test_the_token_is_asked_for_once(self, visit: Open) -> None:
        processor = running()
        seen = visit(processor, access=ApiAccess("token", TOKEN))
        page = seen.page

        page.locator("#stop").press("Enter")
        expect(page.locator("#confirm").get_by_label("Token")).to_be_focused()
        page.keyboard.type(TOKEN)
        with page.expect_response("**/stop"), page.expect_response("**/metadata"):
            page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_be_hidden()
        processor.end_transition()
        seen.poll()
        page.locator("#start").press("Enter")
        expect(page.locator("#confirm").get_by_label("Token")).to_be_hidden()
        with page.expect_response("**/start"), page.expect_response("**/metadata"):
            page.locator("#confirm-yes").click()

        assert processor.requests == [("stop", "127.0.0.1"), ("start", "127.0.0.1")]

    def test_a_wrong_token_is_reported_and_asked_for_again(self, visit: Open) -> None:
        processor = running()
        seen = visit(processor, access=ApiAccess("token", TOKEN))
        page = seen.page

        page.locator("#stop").click()
        page.locator("#confirm").get_by_label("Token").fill("wrong")
        with page.expect_response("**/stop"), page.expect_response("**/metadata"):
            page.locator("#confirm-yes").click()
        expect(page.get_by_role("alert")).to_contain_text(
            "The token of the request to stop is not the processor's token."
        )
        expect(page.locator("#confirm").get_by_label("Token")).to_be_focused()
        expect(page.locator("#confirm").get_by_label("Token")).to_have_value("")
        assert [complaint for complaint in seen.complaints if "401" not in complaint] == []
        seen.complaints.clear()  # the browser reports the response as an error

        page.locator("#confirm").get_by_label("Token").fill(TOKEN)
        with page.expect_response("**/stop"), page.expect_response("**/metadata"):
            page.locator("#confirm-yes").click()
        assert processor.requests == [("stop", "127.0.0.1")]

    def test_there_are_no_buttons_if_nobody_may_act(self, visit: Open) -> None:
        seen = visit(running(), access=ApiAccess("none"))

        expect(seen.page.locator("#state")).to_have_text("running")
        expect(seen.page.locator("#stop")).to_be_hidden()
        expect(seen.page.locator("#start")).to_be_hidden()

    def test_a_changed_insert_takes_over(self, visit: Open) -> None:
        processor = SCENARIOS["changing"]()
        seen = visit(processor)
        expect(seen.page.locator("#change")).to_contain_text("can take over")

        seen.page.locator("#switch").click()
        with seen.page.expect_response("**/switch"), seen.page.expect_response("**/metadata"):
            seen.page.locator("#confirm-yes").click()

        assert processor.requests == [("switch", "127.0.0.1")]
        expect(seen.page.locator("#change")).to_be_hidden()
        expect(seen.page.locator("#switch")).to_be_hidden()

    def test_focus_moves_to_the_button_that_appears(self, visit: Open) -> None:
        processor = running()
        seen = visit(processor)
        seen.page.locator("#stop").focus()

        processor.stop("somebody else")
        processor.end_transition()
        seen.poll()

        expect(seen.page.locator("#start")).to_be_focused()

    def test_escape_sends_no_request(self, visit: Open) -> None:
        processor = running()
        seen = visit(processor)

        seen.page.locator("#stop").click()
        seen.page.keyboard.press("Escape")

        expect(seen.page.get_by_role("dialog")).to_be_hidden()
        expect(seen.page.locator("#stop")).to_be_focused()
        assert processor.requests == []

    def test_a_refusal_is_reported_in_the_dialog(self, visit: Open) -> None:
        processor = stopped()
        seen = visit(processor)
        seen.page.locator("#start").click()
        processor.transition(Cause.END)

        seen.page.locator("#confirm-yes").click()

        expect(seen.page.get_by_role("alert")).to_contain_text("The processor cannot start while it is ended.")
        assert any("409" in complaint for complaint in seen.complaints)
        seen.complaints.clear()

    def test_after_a_failure_both_are_offered(self, visit: Open) -> None:
        seen = visit(failed())

        expect(seen.page.locator("#start")).to_be_visible()
        expect(seen.page.locator("#stop")).to_be_visible()


class TestConnection:
    def test_a_processor_that_does_not_respond_is_reported_and_retried(self, visit: Open) -> None:
        seen = visit(running())
        page = seen.page
        page.route("**/stream", lambda route: route.abort())

        seen.poll_until(page.locator("#connection").is_visible)
        expect(page.locator("#connection")).to_contain_text("The server cannot be reached.")
        expect(page.locator("#state")).to_have_text("unknown")

        page.unroute("**/stream")
        seen.poll()
        expect(page.locator("#connection")).to_be_hidden()
        expect(page.locator("#state")).to_have_text("running")
        seen.complaints.clear()

    def test_the_error_of_a_proxy_is_reported(self, visit: Open) -> None:
        seen = visit(running())
        seen.page.route("**/stream", lambda route: route.fulfill(status=502, body="<html>bad gateway"))

        seen.poll_until(seen.page.locator("#connection").is_visible)

        expect(seen.page.locator("#connection")).to_contain_text("The server returned HTTP 502.")
        seen.complaints.clear()

    def test_it_works_behind_a_path_of_a_proxy_and_uses_no_other_host(self, visit: Open) -> None:
        seen = visit(
            running(),
            lambda app: DispatcherMiddleware(Response("not here", status=404), {"/ns/fast-vehicles": app}),
            path="ns/fast-vehicles/",
        )

        expect(seen.page.locator("#state")).to_have_text("running")
        assert all(re.match(r"http://127\.0\.0\.1:\d+/ns/fast-vehicles/", address) for address in seen.requests)


@pytest.mark.parametrize("width", [360, 800, 1920])
def test_the_page_never_scrolls_horizontally(visit: Open, width: int) -> None:
    seen = visit(failed(), viewport={"width": width, "height": 800})

    expect(seen.page.locator("#topology .node").first).to_be_attached()
    assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_pointer_on_a_curve_shows_time_and_value(visit: Open) -> None:
    processor: FakeProcessor = running()
    seen = visit(processor)
    for _ in range(5):
        processor.batch()
        seen.poll()

    seen.page.locator("#tiles .tile:nth-child(1) .spark").hover(position={"x": 260, "y": 20})
    assert re.search(r"\d\d:\d\d:\d\d UTC: [\d,]+ /s", seen.text("#tiles .tile:nth-child(1) .foot-line"))

    seen.page.mouse.move(5, 880)
    assert "since start" in seen.text("#tiles .tile:nth-child(1) .foot-line")
