"""Workers of a processor: how the console finds them, and who may change their number."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from devkit.console_fixtures import TOKENS, FakeConsole, token_settings
from devkit.fake_cluster import workers, workload
from devkit.fake_runner_server import stream
from lsql_runner.console.cluster import Autoscaler

NAME = "fast-vehicles"
WORKERS = f"{NAME}-workers"


@pytest.fixture
def console(tmp_path: Path) -> FakeConsole:
    """A console with tokens, and a processor with two workers that reads a topic with four partitions."""
    console = FakeConsole(token_settings(tmp_path, workers={"maximum": 9}))
    console.cluster.add(workload(NAME))
    console.cluster.add(workers(NAME))
    source = {"topic": "vehicles", "role": "source", "partitions": 4}
    target = {"topic": "fast", "role": "target", "partitions": 50}
    console.runners.others["/stream"] = (200, stream(topics=[source, target]))
    console.refresh()
    return console


def scaled(console: FakeConsole, number: int, user: str = "ada") -> tuple[int, Any]:
    """Status and body of the response to a user who asks for so many workers."""
    response = console.app.test_client().put(
        f"/api/v1/streams/{console.id_of(NAME)}/scale/{number}",
        headers={"Authorization": f"Bearer {TOKENS[user][1]}"},
    )
    return response.status_code, response.get_json(force=True)


def replicas(console: FakeConsole, name: str = WORKERS) -> int:
    return int(console.cluster.workload("streams", "Deployment", name)["spec"]["replicas"])


def listed(console: FakeConsole) -> dict[str, int | None]:
    """The number of workers that the list shows, by processor."""
    assert console.watch.view is not None
    return {entry.name: entry.workers for entry in console.watch.view.document.processors}


class TestFindingWorkers:
    def test_workers_are_found_by_the_labels_of_their_processor(self, console: FakeConsole) -> None:
        console.cluster.add(workload("alone"))
        console.cluster.add(workload(NAME, namespace="more"))
        console.cluster.add(workers("of-nobody"))
        console.refresh()

        assert listed(console) == {NAME: 2, "alone": None}  # by name; `more` has none
        assert {(e.namespace, e.workers) for e in view(console) if e.name == NAME} == {("streams", 2), ("more", None)}

    def test_two_processors_of_one_release_have_their_own_workers(self, console: FakeConsole) -> None:
        for name, count in (("one", 1), ("other", 5)):
            for manifest in (workload(name), workers(name, replicas=count)):
                spec = manifest["spec"]
                for labels in (spec["selector"]["matchLabels"], spec["template"]["metadata"]["labels"]):
                    labels |= {"app.kubernetes.io/instance": "umbrella", "app": name}
                console.cluster.add(manifest)
        console.refresh()

        assert (listed(console)["one"], listed(console)["other"]) == (1, 5)

    @pytest.mark.parametrize("missing", ["app.kubernetes.io/component", "app.kubernetes.io/instance"])
    def test_another_deployment_is_not_taken_for_workers(self, console: FakeConsole, missing: str) -> None:
        manifest = workers(NAME)
        del manifest["spec"]["selector"]["matchLabels"][missing]
        console.cluster.add(manifest)
        console.refresh()

        assert listed(console) == {NAME: None}

    def test_the_list_calls_are_those_of_processors(self, console: FakeConsole) -> None:
        before = console.cluster.call_count("workloads")

        console.refresh()

        assert console.cluster.call_count("workloads") == before + 4  # two namespaces, two kinds


def view(console: FakeConsole) -> Any:
    assert console.watch.view is not None
    return console.watch.view.document.processors


class TestScaling:
    def test_an_operator_sets_the_number_of_workers(self, console: FakeConsole) -> None:
        status, body = scaled(console, 4)

        assert (status, body) == (
            202,
            {"name": NAME, "namespace": "streams", "workers": 4, "workersBefore": 2, "warnings": []},
        )
        assert (replicas(console), replicas(console, NAME)) == (4, 1)

    def test_more_workers_than_partitions_are_accepted_with_a_warning(self, console: FakeConsole) -> None:
        status, body = scaled(console, 6)

        assert (status, replicas(console)) == (202, 6)
        assert len(body["warnings"]) == 1
        assert "has 4 partitions, so of 6 workers at least 2 read nothing" in body["warnings"][0]

    def test_no_workers_are_accepted_with_a_warning(self, console: FakeConsole) -> None:
        status, body = scaled(console, 0)

        assert (status, replicas(console)) == (202, 0)
        assert body["warnings"] == [f"without workers, {NAME} processes no records"]

    def test_the_processor_need_not_respond(self, console: FakeConsole) -> None:
        console.runners.others["/stream"] = (503, {"code": "STARTING"})

        assert scaled(console, 6)[1]["warnings"] == []
        assert replicas(console) == 6

    def test_a_processor_without_workers_is_refused_with_the_way_to_have_some(self, console: FakeConsole) -> None:
        console.cluster.delete_workload(
            "streams",
            "Deployment",
            WORKERS,
            console.cluster.workload("streams", "Deployment", WORKERS)["metadata"]["uid"],
        )
        known = scaled(console, 3)  # the view still has the workers
        console.refresh()
        unknown = scaled(console, 3)

        for status, body in (known, unknown):
            assert (status, body["code"]) == (409, "SCALE_REFUSED")
            assert "workers.replicas" in body["wayOut"]

    def test_a_number_above_the_maximum_is_refused(self, console: FakeConsole) -> None:
        assert scaled(console, 9)[0] == 202
        status, body = scaled(console, 10)

        assert (status, body["code"], "from 0 to 9" in body["wayOut"]) == (409, "SCALE_OUT_OF_RANGE", True)
        assert replicas(console) == 9

    @pytest.mark.parametrize(
        ("owner", "named"),
        [
            ("", "HorizontalPodAutoscaler/by-lag"),
            ("ScaledObject/by-keda", "ScaledObject/by-keda"),
            ("Umbrella/mine", "HorizontalPodAutoscaler/by-lag"),
        ],
    )
    def test_workers_that_an_autoscaler_scales_are_left_to_it(
        self, console: FakeConsole, owner: str, named: str
    ) -> None:
        console.cluster.autoscalers_of["streams"] = [
            Autoscaler("other", "Deployment", "another", owner=""),
            Autoscaler("by-lag", "Deployment", WORKERS, owner),
        ]

        status, body = scaled(console, 3)

        assert (status, body["code"]) == (409, "SCALED_BY_AUTOSCALER")
        assert f"{named} scales its workers" in body["detail"]
        assert replicas(console) == 2

    def test_autoscalers_of_others_do_not_count(self, console: FakeConsole) -> None:
        console.cluster.autoscalers_of["streams"] = [Autoscaler("by-cpu", "StatefulSet", WORKERS, owner="")]
        console.cluster.autoscalers_of["more"] = [Autoscaler("by-cpu", "Deployment", WORKERS, owner="")]

        assert scaled(console, 3)[0] == 202

    @pytest.mark.parametrize("refused", ["autoscalers", "scale_deployment"])
    def test_without_the_right_nothing_is_scaled(self, console: FakeConsole, refused: str) -> None:
        console.cluster.refused.add((refused, "streams"))

        status, body = scaled(console, 3)

        assert (status, body["code"]) == (502, "CLUSTER_REFUSED")
        assert replicas(console) == 2

    def test_workers_that_were_replaced_are_spared(self, console: FakeConsole) -> None:
        console.cluster.add(workers(NAME))

        status, body = scaled(console, 3)

        assert (status, body["code"], replicas(console)) == (502, "CLUSTER_REFUSED", 2)


class TestAudit:
    def test_the_audit_log_has_the_user_and_both_numbers(
        self, console: FakeConsole, caplog: pytest.LogCaptureFixture
    ) -> None:
        console.cluster.add(workers(NAME, replicas=3))
        console.refresh()
        with caplog.at_level(logging.INFO, "lsql_runner.audit"):
            caplog.clear()  # the log also has the new number of the release, from the cluster
            scaled(console, 4)
            scaled(console, 10)
            scaled(console, 1, "eve")

        told: list[Any] = [record for record in caplog.records if record.name == "lsql_runner.audit"]
        assert [(r.user, r.action, r.result, r.before, r.after) for r in told] == [
            ("ada", "scale", "done", {"workers": 3}, {"workers": 4}),
            ("ada", "scale", "SCALE_OUT_OF_RANGE", {"workers": 3}, None),
            ("eve", "scale", "PERMISSION_DENIED", None, None),
        ]

    def test_the_event_names_the_numbers(self, console: FakeConsole) -> None:
        scaled(console, 4)

        [event] = console.cluster.events
        assert (event.name, event.type, event.reason) == (NAME, "Normal", "Scaled")
        assert event.text == "ada requested scale: 2 to 4 workers."

    @pytest.mark.parametrize(
        ("manager", "user"),
        [("kubectl", "kubectl"), ("lsql-console", None), ("", "unknown")],
        ids=["kubectl", "the console", "an autoscaler"],
    )
    def test_only_the_scalings_of_others_are_found_in_the_cluster(
        self, console: FakeConsole, caplog: pytest.LogCaptureFixture, manager: str, user: str | None
    ) -> None:
        replicas_field: dict[str, Any] = {"f:spec": {"f:replicas": {}}}
        manifest = workers(NAME, replicas=3)
        manifest["metadata"]["managedFields"] = [
            {"manager": "helm", "time": "2026-11-21T09:00:00Z", "fieldsV1": {"f:spec": {"f:template": {}}}},
            {"manager": "status", "time": "2026-11-21T09:21:00Z", "subresource": "status"},
        ]
        if manager:  # Kubernetes records no manager of the replicas that an autoscaler sets
            manifest["metadata"]["managedFields"].append(
                {
                    "manager": manager,
                    "time": "2026-11-21T09:20:00Z",
                    "subresource": "scale",
                    "fieldsV1": replicas_field,
                }
            )
        console.cluster.add(manifest)
        with caplog.at_level(logging.INFO, "lsql_runner.audit"):
            console.refresh()

        told: list[Any] = [record for record in caplog.records if record.name == "lsql_runner.audit"]
        expected = [("scale", user, {"workers": 2}, {"workers": 3})] if user else []
        assert [(r.action, r.user, r.before, r.after) for r in told] == expected
