"""The live view of the cluster, and its history."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from devkit.console_fixtures import BEGIN, FakeConsole, settings
from devkit.fake_cluster import workload
from devkit.fake_runner_server import stream
from lsql_runner.console.document import ProcessorEntry
from lsql_runner.console.history import EVENTS, POINTS, HistoryEvent
from lsql_runner.console.recover import recover
from lsql_runner.errors import LsqlError


@pytest.fixture
def console() -> FakeConsole:
    console = FakeConsole()
    console.cluster.add(workload("a"))
    console.refresh()
    return console


def entry(console: FakeConsole, name: str) -> ProcessorEntry:
    return console.watch.entry(console.id_of(name))


def test_a_new_workload_appears_at_the_next_refresh(console: FakeConsole) -> None:
    console.cluster.add(workload("b", namespace="more"), "StatefulSet")

    console.refresh()

    assert console.watch.view is not None
    assert console.watch.view.number == 2
    assert entry(console, "b").kind == "StatefulSet"


def test_a_refresh_writes_nothing(console: FakeConsole) -> None:
    assert console.cluster.call_count("label") == console.cluster.call_count("write_config_map") == 0


def test_ids_do_not_change_when_the_job_assigns_them(console: FakeConsole) -> None:
    before = console.id_of("a")

    recover(console.cluster, console.runners.fetch_reports, console.settings, console.clock)
    console.refresh()

    assert console.id_of("a") == before == console.cluster.labels("streams", "Deployment", "a")["lenses-id"]


def test_a_missing_processor_is_shown_as_deleted(console: FakeConsole) -> None:
    recover(console.cluster, console.runners.fetch_reports, console.settings, console.clock)
    identifier = console.id_of("a")
    uid = console.cluster.workload("streams", "Deployment", "a")["metadata"]["uid"]
    console.cluster.delete_workload("streams", "Deployment", "a", uid)

    for _ in range(2):
        console.clock.forward(minutes=1)
        console.refresh()

    processor = console.watch.entry(identifier)
    assert processor.state == "deleted"
    assert processor.deleted_at is not None
    assert (processor.deleted_at - BEGIN).total_seconds() == 60
    with pytest.raises(LsqlError) as caught:
        console.watch.processor(identifier)
    assert caught.value.code == "PROCESSOR_DELETED"


def test_a_workload_deleted_before_the_job_saw_it_is_shown(console: FakeConsole) -> None:
    identifier = console.id_of("a")
    console.cluster.delete_workload("streams", "Deployment", "a", identifier)

    console.refresh()

    assert console.watch.entry(identifier).state == "deleted"


def test_while_the_api_server_is_unreachable_the_last_view_has_a_problem(console: FakeConsole) -> None:
    console.cluster.down = True

    console.refresh()

    assert console.watch.view is not None
    assert (console.watch.view.number, console.watch.view.problem) == (2, "connection refused")
    assert entry(console, "a").state == "running"

    console.cluster.down = False
    console.refresh()
    assert console.watch.view.problem is None


def test_of_two_workloads_with_one_id_the_older_is_shown() -> None:
    console = FakeConsole()
    for name, created in (("copy", "2026-11-22T00:00:00Z"), ("original", "2026-11-21T00:00:00Z")):
        manifest = workload(name)
        manifest["metadata"] |= {"creationTimestamp": created}
        manifest["metadata"]["labels"]["lenses-id"] = "a-1"
        console.cluster.add(manifest)

    console.refresh()

    assert console.watch.entry("a-1").name == "original"
    assert console.watch.view is not None
    assert len(console.watch.view.document.processors) == 2


def test_an_unknown_id_is_reported(console: FakeConsole) -> None:
    with pytest.raises(LsqlError) as caught:
        console.watch.entry("nobody")

    assert caught.value.code == "PROCESSOR_UNKNOWN"


def test_the_thread_refreshes_periodically_and_at_once_after_an_action() -> None:
    console = FakeConsole(settings(pollSeconds=600))
    console.watch.start()
    _until(lambda: console.watch.view is not None and console.watch.view.number == 1)

    console.watch.refresh_soon()

    _until(lambda: console.watch.view is not None and console.watch.view.number == 2)
    assert console.watch.alive
    console.watch.close()


class TestHistory:
    def test_keeps_lag_and_rates_of_the_last_hour(self, console: FakeConsole) -> None:
        identifier = console.id_of("a")
        for minute in range(90):
            console.clock.forward(minutes=1)
            console.runners.streams["a"] = stream(lag=minute)
            console.refresh()

        points = console.history.points(identifier)

        assert [points[0].lag, points[-1].lag] == [29, 89]
        assert points[-1].at_ms - points[0].at_ms == 3_600_000
        assert points[-1].records_in_per_second == 12.5

    def test_a_missing_value_is_a_gap(self, console: FakeConsole) -> None:
        console.runners.streams["a"] = None
        console.refresh()

        assert [point.lag for point in console.history.points(console.id_of("a"))] == [7, None]

    def test_is_bounded_after_many_refreshes(self, console: FakeConsole) -> None:
        assert console.watch.view is not None
        for _ in range(POINTS + 50):
            console.history.add_document(console.watch.view.document)

        assert len(console.history.points(console.id_of("a"))) == POINTS

    def test_reports_changes_of_state_with_the_reason_newest_first(self, console: FakeConsole) -> None:
        reason = {"code": "QUERY_FAILED", "message": "The query stopped."}
        console.runners.streams["a"] = stream(state="failed", reason=reason)
        console.refresh()
        console.refresh()

        events = console.history.events(console.id_of("a"))

        assert [event.text for event in events] == ["From running to failed. The query stopped.", "State running."]

    def test_keeps_the_last_events_only(self, console: FakeConsole) -> None:
        identifier = console.id_of("a")
        for number in range(EVENTS + 5):
            console.history.add_event(identifier, HistoryEvent(at=BEGIN, kind="stop", text=str(number)))

        events = console.history.events(identifier)

        assert (len(events), events[0].text, events[-1].text) == (EVENTS, str(EVENTS + 4), "5")

    def test_forgets_what_the_document_forgets(self) -> None:
        console = FakeConsole(settings(deletedKeepHours=1))
        console.cluster.add(workload("a"))
        console.refresh()
        identifier = console.id_of("a")
        console.cluster.delete_workload("streams", "Deployment", "a", identifier)

        console.refresh()
        assert console.history.points(identifier)
        console.clock.forward(hours=2)
        console.refresh()

        assert (console.history.points(identifier), console.history.events(identifier)) == ([], [])


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
