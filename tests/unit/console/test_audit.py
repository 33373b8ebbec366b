"""The audit log of the console has what others change in the cluster: programs, images, replicas, deletions."""

from __future__ import annotations

import copy
import logging
from typing import Any

import pytest

from devkit.console_fixtures import FakeConsole
from devkit.fake_cluster import workload

Lines = list[tuple[Any, ...]]


@pytest.fixture
def console() -> FakeConsole:
    """A console that has seen the processor `a`."""
    console = FakeConsole()
    console.cluster.add(workload("a"))
    console.refresh()
    return console


def changed(console: FakeConsole, manifest: dict[str, Any], caplog: pytest.LogCaptureFixture) -> Lines:
    """The lines after another client has written the manifest: action, processor, user, before, after."""
    console.cluster.add(manifest)
    return refreshed(console, caplog)


def refreshed(console: FakeConsole, caplog: pytest.LogCaptureFixture) -> Lines:
    caplog.clear()
    with caplog.at_level(logging.INFO, "lsql_runner.audit"):
        console.refresh()
    records: list[Any] = [record for record in caplog.records if record.name == "lsql_runner.audit"]
    return [(r.action, r.processor, r.user, r.before, r.after) for r in records]


def managed(manifest: dict[str, Any], *managers: tuple[str, str, str]) -> dict[str, Any]:
    """The manifest with field managers: name, time, subresource."""
    result = copy.deepcopy(manifest)
    result["metadata"]["managedFields"] = [
        {"manager": name, "time": at, **({"subresource": part} if part else {})} for name, at, part in managers
    ]
    return result


def test_scaling_is_logged_with_the_numbers_and_the_last_manager(
    console: FakeConsole, caplog: pytest.LogCaptureFixture
) -> None:
    scaled = managed(
        workload("a", replicas=0),
        ("helm", "2026-11-21T09:00:00Z", ""),
        ("kubectl", "2026-11-21T09:20:00Z", ""),
        ("kube-controller-manager", "2026-11-21T09:22:00Z", "status"),
    )

    assert changed(console, scaled, caplog) == [("scale", "a", "kubectl", {"runners": 1}, {"runners": 0})]
    assert refreshed(console, caplog) == []


def test_another_program_and_another_image_are_deployments(
    console: FakeConsole, caplog: pytest.LogCaptureFixture
) -> None:
    [(action, _, user, before, after)] = changed(console, workload("a", sql="INSERT INTO b SELECT * FROM c"), caplog)

    assert (action, user) == ("deploy", "unknown")
    assert before["image"] == after["image"]
    assert before["program"] != after["program"]
    assert after["program_chars"] == len("INSERT INTO b SELECT * FROM c")


def test_new_and_deleted_processors_are_logged(console: FakeConsole, caplog: pytest.LogCaptureFixture) -> None:
    [(action, name, _, before, after)] = changed(console, workload("new"), caplog)
    assert (action, name, before) == ("deploy", "new", None)

    manifest = next(iter(console.cluster.workloads("streams", "Deployment")))
    uid = manifest["metadata"]["uid"]
    console.cluster.delete_workload("streams", "Deployment", manifest["metadata"]["name"], uid)
    [(action, _, user, before, gone)] = refreshed(console, caplog)
    assert (action, user, gone) == ("delete", "unknown", None)
    assert before["image"] == after["image"]
    assert refreshed(console, caplog) == []


def test_the_first_view_of_a_console_without_a_document_has_no_changes(caplog: pytest.LogCaptureFixture) -> None:
    console = FakeConsole()
    console.cluster.add(workload("a"))

    assert refreshed(console, caplog) == []
