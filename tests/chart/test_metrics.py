"""Alerts and dashboard use only metrics of the runner, with labels that these metrics have."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from devkit.helm import CHART, ROOT, only_object, render
from lsql_runner.observe.metric_table import METRICS

HISTOGRAM_PARTS = ("_bucket", "_sum", "_count")
TARGET_LABELS = {"namespace", "app", "le"}
"""Labels that the scrape adds, and the label of a histogram's buckets."""
PROCESS_METRICS = {"process_start_time_seconds", "process_cpu_seconds_total"}
"""Metrics of the client library of Prometheus that alerts and dashboard use; they have no labels."""
AUTOSCALED: dict[str, Any] = {
    "sql": "x",
    "kafka": {"bootstrapServers": "k:1"},
    "persistence": {"accessModes": ["ReadWriteMany"]},
    "workers": {"replicas": 1},
    "autoscaling": {"enabled": True, "kind": "HorizontalPodAutoscaler"},
}
SERIES = re.compile(r"((?:lsql|process)_\w+)\{([^}]*)\}")


def alerts() -> Iterator[str]:
    values = {"sql": "x", "kafka": {"bootstrapServers": "k:1"}, "metrics": {"prometheusRule": {"enabled": True}}}
    for rule in only_object(render(values), "PrometheusRule")["spec"]["groups"][0]["rules"]:
        yield rule["expr"]


def dashboard_queries() -> Iterator[str]:
    dashboard = json.loads((CHART / "files/dashboard.json").read_text(encoding="utf-8"))
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield target["expr"]


@pytest.fixture(params=[alerts, dashboard_queries], ids=["alerts", "dashboard"])
def queries(request: pytest.FixtureRequest) -> list[str]:
    expressions = list(request.param())
    assert expressions
    return expressions


def test_each_metric_exists_and_has_the_labels(queries: list[str]) -> None:
    known: dict[str, Any] = {metric.name: set(metric.labels) for metric in METRICS}
    known |= {name: set() for name in PROCESS_METRICS}
    for query in queries:
        series = SERIES.findall(query)
        assert series, query
        for name, matchers in series:
            family = next((name.removesuffix(part) for part in HISTOGRAM_PARTS if name.endswith(part)), name)
            assert family in known, name
            labels = set(re.findall(r"(\w+)=", matchers))
            assert labels <= known[family] | TARGET_LABELS, query


def adapter_rule() -> dict[str, Any]:
    """The rule for prometheus-adapter in docs/guides/scaling.md."""
    text = (ROOT / "docs/guides/scaling.md").read_text(encoding="utf-8")
    documents = [yaml.safe_load(body) for body in re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)]
    [rule] = [rule for document in documents for rule in document.get("rules", {}).get("external", [])]
    return dict(rule)


def test_the_rule_for_prometheus_adapter_has_the_metric_that_the_hpa_asks_for() -> None:
    rule, objects = adapter_rule(), render(AUTOSCALED)
    asked = only_object(objects, "HorizontalPodAutoscaler")["spec"]["metrics"][0]["external"]["metric"]
    # The adapter adds the namespace and the labels of the selector to LabelMatchers.
    [series] = re.findall(r"(\w+)\{", rule["seriesQuery"])
    required = set(re.findall(r'(\w+)!=""', rule["seriesQuery"]))

    assert series == asked["name"]
    assert series in {metric.name for metric in METRICS if not metric.labels}
    assert rule["resources"] == {"overrides": {"namespace": {"resource": "namespace"}}}
    assert required == asked["selector"]["matchLabels"].keys() | {"namespace"}
    assert rule["metricsQuery"] == "max(<<.Series>>{<<.LabelMatchers>>}) by (app)"


@pytest.mark.parametrize("monitor", ["ServiceMonitor", "PodMonitor"])
def test_the_labels_that_the_hpa_asks_for_are_those_of_the_samples(monitor: str) -> None:
    metrics = {f"{monitor[0].lower()}{monitor[1:]}": {"enabled": True}}
    objects = render({**AUTOSCALED, "metrics": metrics})
    selector = only_object(objects, "HorizontalPodAutoscaler")["spec"]["metrics"][0]["external"]["metric"]["selector"]
    labels = only_object(objects, "StatefulSet")["spec"]["template"]["metadata"]["labels"]

    copied = only_object(objects, monitor)["spec"]["podTargetLabels"]
    assert selector["matchLabels"] == {label: labels[label] for label in copied}


def test_the_service_monitor_selects_one_service() -> None:
    objects = render({}, f"--values={CHART / 'ci-render/prometheus-operator-values.yaml'}")
    selector = only_object(objects, "ServiceMonitor")["spec"]["selector"]["matchLabels"]
    services = [manifest for manifest in objects if manifest["kind"] == "Service"]
    assert sum(selector.items() <= manifest["metadata"]["labels"].items() for manifest in services) == 1


def test_the_panels_of_the_dashboard_have_different_titles() -> None:
    panels = json.loads((CHART / "files/dashboard.json").read_text(encoding="utf-8"))["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len({panel["title"] for panel in panels}) == len(panels)


def test_the_panels_of_the_dashboard_do_not_overlap() -> None:
    cells: set[tuple[int, int]] = set()
    for panel in json.loads((CHART / "files/dashboard.json").read_text(encoding="utf-8"))["panels"]:
        place = panel["gridPos"]
        own = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not own & cells, panel["title"]
        assert all(x < 24 for x, _ in own)
        cells |= own
