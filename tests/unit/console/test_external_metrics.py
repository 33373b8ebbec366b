"""The API of external metrics: which processor has which number, and when there is none."""

from __future__ import annotations

from typing import Any

import pytest

from devkit.console_fixtures import FakeConsole
from devkit.fake_cluster import workload
from devkit.fake_runner_server import stream
from lsql_runner.console.document import RunnerReport
from lsql_runner.console.external_metrics import CACHE_S, METRICS, ExternalMetrics, quantity
from lsql_runner.console.workloads import WorkloadKey
from lsql_runner.events.console import MetricRequested

API = "/apis/external.metrics.k8s.io/v1beta1"
SCALING = {
    "wanted": 3,
    "current": 2,
    "lagRecords": 120_000,
    "arrivingPerSecond": 950.5,
    "catchUpSeconds": 12.3456,
    "dryRun": False,
    "minimum": 1,
    "maximum": 8,
    "reason": "arriving records and lag need 2.7 workers",
}


class Api:
    """The API over a console with the processors `a` and `b`, in two namespaces. Its clock moves only in a test."""

    def __init__(self) -> None:
        self.console = FakeConsole()
        self.console.cluster.add(workload("a"))
        self.console.cluster.add(workload("b", namespace="more"))
        self.says("a")
        self.console.refresh()
        self.now_s = 1000.0
        self.fetches: list[list[str]] = []
        self.events: list[Any] = []
        self.api = ExternalMetrics(self.console.watch, self.fetch, self.events.append, lambda: self.now_s)

    def says(self, name: str, **scaling: Any) -> None:
        """What a processor reports from now on."""
        self.console.runners.streams[name] = stream(scaling={**SCALING, **scaling})

    def fetch(self, processors: Any) -> dict[WorkloadKey, RunnerReport]:
        known = list(processors)
        self.fetches.append([processor.name for processor in known])
        return self.console.runners.fetch_reports(known)

    def get(
        self, metric: str = "lsql_workers_wanted", selector: str = "app=a", namespace: str = "streams"
    ) -> tuple[int, Any]:
        return self.api.respond(f"{API}/namespaces/{namespace}/{metric}", selector)

    def values(self, metric: str = "lsql_workers_wanted", selector: str = "app=a") -> list[str]:
        status, body = self.get(metric, selector)
        assert status == 200, body
        return [item["value"] for item in body["items"]]


@pytest.fixture
def api() -> Api:
    return Api()


class TestDiscovery:
    def test_the_group_has_one_version(self, api: Api) -> None:
        status, body = api.api.respond("/apis/external.metrics.k8s.io", "")

        assert (status, body["kind"], body["name"]) == (200, "APIGroup", "external.metrics.k8s.io")
        assert [each["groupVersion"] for each in body["versions"]] == ["external.metrics.k8s.io/v1beta1"]

    def test_the_version_has_every_metric(self, api: Api) -> None:
        status, body = api.api.respond(API, "")

        assert (status, body["kind"], body["groupVersion"]) == (
            200,
            "APIResourceList",
            "external.metrics.k8s.io/v1beta1",
        )
        assert {each["name"] for each in body["resources"]} == set(METRICS)
        assert all(each["namespaced"] and each["verbs"] == ["get"] for each in body["resources"])

    @pytest.mark.parametrize("path", ["/", "/apis", "/openapi/v2", f"{API}/namespaces", f"{API}/namespaces/a/b/c"])
    def test_other_paths_do_not_exist(self, api: Api, path: str) -> None:
        status, body = api.api.respond(path, "")

        assert (status, body["kind"], body["code"], body["reason"]) == (404, "Status", 404, "NotFound")


class TestValues:
    def test_a_value_has_the_labels_of_its_processor_and_a_time(self, api: Api) -> None:
        status, body = api.get(selector="app.kubernetes.io/instance=a")

        [item] = body.pop("items")
        assert (status, body) == (
            200,
            {"kind": "ExternalMetricValueList", "apiVersion": "external.metrics.k8s.io/v1beta1", "metadata": {}},
        )
        assert (item["metricName"], item["value"]) == ("lsql_workers_wanted", "3")
        assert item["metricLabels"].items() >= {"app": "a", "app.kubernetes.io/instance": "a"}.items()
        assert item["timestamp"].endswith("Z")

    def test_each_metric_is_a_field_of_the_report(self, api: Api) -> None:
        assert api.values("lsql_lag_records") == ["120000"]
        assert api.values("lsql_catch_up_seconds") == ["12346m"]

    def test_a_selector_chooses_among_the_processors_of_the_namespace(self, api: Api) -> None:
        api.console.cluster.add(workload("c"))
        api.says("c", wanted=7, lagRecords=5)
        api.console.refresh()

        assert api.values(selector="app.kubernetes.io/instance in (c,b)") == ["7"]
        assert sorted(api.values("lsql_lag_records", selector="")) == ["120000", "5"]

    def test_numbers_of_several_processors_are_never_added(self, api: Api) -> None:
        api.console.cluster.add(workload("c"))
        api.says("c")
        api.console.refresh()

        status, body = api.get(selector="app.kubernetes.io/name=lsql-runner")

        assert (status, body["reason"]) == (409, "Conflict")
        assert "a, c" in body["message"]

    def test_the_wanted_number_may_be_zero(self, api: Api) -> None:
        api.says("a", wanted=0, lagRecords=0)

        assert (api.values(), api.values("lsql_lag_records")) == (["0"], ["0"])


class TestNoValue:
    @pytest.mark.parametrize(
        ("scaling", "reason"),
        [
            ({"wanted": None, "reason": "its brokers do not respond"}, "its brokers do not respond"),
            ({"dryRun": True}, "dry run"),
        ],
    )
    def test_an_unknown_number_and_a_dry_run_have_none(self, api: Api, scaling: dict[str, Any], reason: str) -> None:
        api.says("a", **scaling)

        status, body = api.get()

        assert (status, body["reason"]) == (404, "NotFound")
        assert reason in body["message"]

    def test_a_processor_without_autoscaling_has_none(self, api: Api) -> None:
        api.console.runners.streams["a"] = stream(scaling=None)

        status, body = api.get()

        assert status == 404
        assert "autoscaling is off" in body["message"]

    def test_a_processor_that_does_not_answer_has_none_and_never_its_last_number(self, api: Api) -> None:
        assert api.values() == ["3"]
        api.console.runners.streams["a"] = None
        api.now_s += CACHE_S + 0.1

        status, body = api.get()

        assert status == 404
        assert "does not answer" in body["message"]

    def test_a_lag_that_is_not_known_is_not_zero(self, api: Api) -> None:
        api.says("a", lagRecords=None, catchUpSeconds=None)

        assert api.get("lsql_lag_records")[0] == 404
        assert api.get("lsql_catch_up_seconds")[0] == 404
        assert api.values() == ["3"]

    @pytest.mark.parametrize("wrong", [-1, "three", 2.5, float("inf")])
    def test_a_number_that_cannot_be_one_is_no_number(self, api: Api, wrong: Any) -> None:
        api.says("a", wanted=wrong)

        assert api.get()[0] == 404

    def test_a_processor_that_does_not_exist_is_named_with_its_selector(self, api: Api) -> None:
        status, body = api.get(selector="app=nobody")

        assert status == 404
        assert "app=nobody" in body["message"]
        assert api.get(selector="app=b")[0] == 404  # of another namespace

    def test_a_metric_that_does_not_exist_is_answered_with_those_that_do(self, api: Api) -> None:
        status, body = api.get("lsql_lag")

        assert status == 404
        assert "lsql_lag_records" in body["message"]

    def test_an_invalid_selector_is_a_bad_request(self, api: Api) -> None:
        status, body = api.get(selector="app=a b")

        assert (status, body["reason"]) == (400, "BadRequest")

    def test_before_the_first_refresh_there_is_no_number(self) -> None:
        console = FakeConsole()
        api = ExternalMetrics(console.watch, console.runners.fetch_reports, lambda event: None)

        status, body = api.respond(f"{API}/namespaces/streams/lsql_workers_wanted", "app=a")

        assert (status, body["reason"]) == (502, "ServiceUnavailable")


class TestCache:
    def test_the_metrics_of_a_processor_share_one_report(self, api: Api) -> None:
        for metric in METRICS:
            api.get(metric)

        assert api.fetches == [["a"]]

    def test_a_report_is_fetched_again_after_two_seconds(self, api: Api) -> None:
        api.get()
        api.now_s += CACHE_S + 0.1
        api.says("a", wanted=5)

        assert api.values() == ["5"]
        assert api.fetches == [["a"], ["a"]]


def test_requests_are_counted_by_metric_and_result(api: Api) -> None:
    api.get()
    api.get("lsql_lag")
    api.get(selector="app=nobody")

    assert api.events == [
        MetricRequested("lsql_workers_wanted", "done"),
        MetricRequested("other", "METRIC_UNKNOWN"),
        MetricRequested("lsql_workers_wanted", "METRIC_WITHOUT_PROCESSOR"),
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (3, "3"),
        (0.0, "0"),
        (2.0, "2"),
        (0.0004, "1m"),
        (1.5, "1500m"),
        (12.3456, "12346m"),
        (10**12, "1" + "0" * 12),
    ],
)
def test_numbers_are_quantities_rounded_up_to_a_thousandth(value: float, text: str) -> None:
    assert quantity(value) == text
