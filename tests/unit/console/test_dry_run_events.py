"""Events about the number of workers that a processor in dry run wants: one for each change of the number."""

from __future__ import annotations

from typing import Any

import pytest

from devkit.console_fixtures import FakeConsole
from devkit.fake_cluster import workers, workload
from devkit.fake_runner_server import stream
from lsql_runner.console.dry_run_events import DryRunEvents


@pytest.fixture
def console() -> FakeConsole:
    """A console with a processor with two workers."""
    console = FakeConsole()
    console.cluster.add(workload("a"))
    console.cluster.add(workers("a", replicas=2))
    return console


def texts(console: FakeConsole, *reports: dict[str, Any] | None) -> list[str]:
    """The texts of the Events after these reports, with a refresh after each."""
    announce = DryRunEvents(console.cluster)
    for report in reports:
        console.runners.streams["a"] = None if report is None else stream(scaling=report)
        console.refresh()
        assert console.watch.view is not None
        announce(console.watch.view)
    return [event.text for event in console.cluster.events]


def wanted(number: int | None, dry_run: bool = True) -> dict[str, Any]:
    return {"wanted": number, "dryRun": dry_run, "reason": "arriving records and lag need 3.7 workers"}


def test_a_number_that_differs_from_the_replicas_is_an_event_on_their_deployment(console: FakeConsole) -> None:
    [text] = texts(console, wanted(4))

    assert text == "4 workers are wanted instead of 2: arriving records and lag need 3.7 workers. Dry run."
    [event] = console.cluster.events
    deployment = console.cluster.workload("streams", "Deployment", "a-workers")
    assert (event.kind, event.name, event.uid) == ("Deployment", "a-workers", deployment["metadata"]["uid"])
    assert (event.type, event.reason) == ("Normal", "WorkersWanted")


def test_there_is_one_event_for_each_change_of_the_number(console: FakeConsole) -> None:
    messages = texts(console, wanted(4), wanted(4), wanted(5), wanted(None), None, wanted(5), wanted(2), wanted(5))

    assert [text.partition(" ")[0] for text in messages] == ["4", "5", "5"]


@pytest.mark.parametrize("report", [wanted(2), wanted(4, dry_run=False), wanted(None), None])
def test_nothing_else_is_an_event(console: FakeConsole, report: dict[str, Any] | None) -> None:
    assert texts(console, report) == []


def test_an_event_that_is_refused_does_not_stop_the_console(console: FakeConsole) -> None:
    console.cluster.refused.add(("create_event", "streams"))

    assert texts(console, wanted(4), wanted(4)) == []
    assert console.cluster.call_count("create_event") == 1
