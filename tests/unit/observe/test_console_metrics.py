"""The metrics of the console: the requests and refreshes that change them, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families as parse_text

from devkit.console_fixtures import FakeConsole, token_settings
from devkit.fake_cluster import workload
from devkit.fake_runner_server import stream
from lsql_runner.console.recover import recover
from lsql_runner.observe.metric_table import CONSOLE_METRICS

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture
def console(tmp_path: Path) -> FakeConsole:
    """A console with two processors, of which one is stopped."""
    console = FakeConsole(token_settings(tmp_path))
    console.cluster.add(workload("a"))
    console.cluster.add(workload("b", namespace="more"), "StatefulSet")
    console.runners.streams["b"] = stream(state="stopped")
    console.refresh()
    return console


def scrape(console: FakeConsole) -> Samples:
    response = console.app.test_client().get("/metrics")
    assert response.content_type == "text/plain; version=0.0.4; charset=utf-8"
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in parse_text(response.get_data(as_text=True))
        for sample in family.samples
    }


def value(console: FakeConsole, name: str, **labels: str) -> float:
    return scrape(console).get((name, frozenset(labels.items())), 0)


def run_job(console: FakeConsole) -> None:
    recover(console.cluster, console.runners.fetch_reports, console.settings, console.clock)


def test_the_metrics_of_the_table_and_no_others_are_exposed_without_a_token(console: FakeConsole) -> None:
    run_job(console)
    console.refresh()
    client = console.app.test_client()
    client.put(f"/api/v1/streams/{console.id_of('a')}/stop", headers={"Authorization": "Bearer t-ada"})

    families = {f.name: f for f in parse_text(client.get("/metrics").get_data(as_text=True))}

    own = {name: family for name, family in families.items() if not name.startswith("process_")}
    assert set(own) == {spec.family for spec in CONSOLE_METRICS}
    for spec in CONSOLE_METRICS:
        family = own[spec.family]
        assert (family.type, family.documentation) == (spec.type, spec.help)
        assert {frozenset(sample.labels) - {"le"} for sample in family.samples} == {frozenset(spec.labels)}


def test_processors_are_counted_by_namespace_and_state(console: FakeConsole) -> None:
    assert value(console, "lsql_console_processors", namespace="streams", state="running") == 1
    assert value(console, "lsql_console_processors", namespace="more", state="stopped") == 1

    console.runners.streams["b"] = stream(state="running")
    console.refresh()

    assert value(console, "lsql_console_processors", namespace="more", state="running") == 1
    assert value(console, "lsql_console_processors", namespace="more", state="stopped") == 0


def test_requests_are_counted_by_route_and_status_also_those_that_are_refused(console: FakeConsole) -> None:
    client = console.app.test_client()
    client.get("/api/v1/streams")
    client.get("/api/v1/streams", headers={"Authorization": "Bearer t-eve"})
    client.get("/nowhere/else")

    assert value(console, "lsql_console_requests_total", route="streams", method="GET", status="401") == 1
    assert value(console, "lsql_console_requests_total", route="streams", method="GET", status="200") == 1
    assert value(console, "lsql_console_requests_total", route="unknown", method="GET", status="404") == 1
    assert value(console, "lsql_console_request_duration_seconds_count", route="streams") == 2


def test_actions_are_counted_by_their_result(console: FakeConsole) -> None:
    path = f"/api/v1/streams/{console.id_of('a')}"
    client = console.app.test_client()
    client.put(f"{path}/stop", headers={"Authorization": "Bearer t-ada"})
    client.put(f"{path}/stop", headers={"Authorization": "Bearer t-eve"})

    assert value(console, "lsql_console_actions_total", action="stop", result="done") == 1
    assert value(console, "lsql_console_actions_total", action="stop", result="PERMISSION_DENIED") == 1


def test_refreshes_that_fail_are_counted_and_leave_the_last_view(console: FakeConsole) -> None:
    console.cluster.refused.add(("workloads", "more"))
    console.clock.forward(seconds=10)
    console.refresh()
    read_at = value(console, "lsql_console_last_refresh_timestamp_seconds")
    console.cluster.refused.add(("config_map", "console"))
    console.clock.forward(seconds=10)
    console.refresh()

    assert value(console, "lsql_console_unreadable_namespaces") == 1
    assert value(console, "lsql_console_refreshes_total", result="done") == 2
    assert value(console, "lsql_console_refreshes_total", result="failed") == 1
    assert value(console, "lsql_console_last_refresh_timestamp_seconds") == read_at
    assert read_at == console.clock().timestamp() - 10


def test_runs_of_the_recovery_job_are_counted_when_they_publish(console: FakeConsole) -> None:
    assert ("lsql_recovery_last_run_timestamp_seconds", frozenset()) not in scrape(console)

    for _ in range(2):
        console.clock.forward(minutes=5)
        run_job(console)
        published_at = console.clock().timestamp()
        console.refresh()
        console.refresh()

    assert value(console, "lsql_recovery_runs_total") == 2
    assert value(console, "lsql_recovery_last_run_timestamp_seconds") == published_at


def test_a_run_before_the_start_of_the_console_is_not_counted(tmp_path: Path) -> None:
    console = FakeConsole(token_settings(tmp_path))
    run_job(console)
    console.refresh()

    assert value(console, "lsql_recovery_runs_total") == 0
    assert value(console, "lsql_recovery_last_run_timestamp_seconds") == console.clock().timestamp()


def test_before_the_first_refresh_there_is_no_view(tmp_path: Path) -> None:
    names = {name for name, _ in scrape(FakeConsole(token_settings(tmp_path)))}

    assert names.isdisjoint({"lsql_console_processors", "lsql_console_last_refresh_timestamp_seconds"})
