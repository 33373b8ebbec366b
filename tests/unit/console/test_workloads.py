"""Reading processors from manifests of workloads, and the rules that they violate."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.fake_cluster import SQL, FakeCluster, workload
from lsql_runner.console.manifest import expand
from lsql_runner.console.workloads import ProcessorWorkload, compare, is_processor, read_processor


def read(manifest: dict[str, Any]) -> ProcessorWorkload:
    return read_processor(FakeCluster().add(manifest), "Deployment")


def codes(manifest: dict[str, Any]) -> list[str]:
    return [violation.code for violation in read(manifest).violations]


def container(manifest: dict[str, Any]) -> dict[str, Any]:
    runner: dict[str, Any] = manifest["spec"]["template"]["spec"]["containers"][0]
    return runner


def with_env(name: str, entry: dict[str, Any] | None) -> dict[str, Any]:
    manifest = workload("fast-vehicles")
    rest = [item for item in container(manifest)["env"] if item["name"] != name]
    container(manifest)["env"] = [*rest, *([{"name": name, **entry}] if entry else [])]
    return manifest


def test_a_workload_of_the_chart_has_no_violations() -> None:
    processor = read(workload("fast-vehicles", env={"SQL_PORT": "8083"}))

    assert processor.violations == ()
    assert (processor.name, processor.namespace, processor.kind) == ("fast-vehicles", "streams", "Deployment")
    assert (processor.user, processor.pipeline, processor.release) == ("ada", "traffic", "fast-vehicles")
    assert (processor.chart, processor.chart_version, processor.image_version) == ("lsql-runner", "0.1.0", "0.1.0")
    assert (processor.sql, processor.app_id, processor.bootstrap_servers) == (SQL, "fast-vehicles", "kafka:9092")
    assert (processor.created, processor.created_by, processor.legacy) == ("inside", "lsql-runner", False)
    assert (processor.runners, processor.port, processor.container) == (1, 8083, "runner")


@given(st.text())
def test_doubled_dollars_of_a_program_are_undone(sql: str) -> None:
    assert expand(sql.replace("$", "$$"), {"HOME": "/root", "": "x"}) == sql


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        ("a $(B) c", "a 1 c"),
        ("a $$(B) c", "a $(B) c"),
        ("$(NOT_KNOWN)", "$(NOT_KNOWN)"),
        ("$(B", "$(B"),
        ("5$ and $x", "5$ and $x"),
        ("$$$$", "$$"),
    ],
)
def test_a_value_is_expanded_as_the_kubelet_does(value: str, seen: str) -> None:
    assert expand(value, {"B": "1"}) == seen


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"lenses": "lenses-processor"}, True),
        ({"lenses.io/app.type": "sql"}, True),
        ({"lenses": "something"}, False),
        ({}, False),
    ],
)
def test_a_processor_is_known_by_its_label(labels: dict[str, str], expected: bool) -> None:
    assert is_processor(workload("x", labels=labels)) is expected


def test_an_empty_workload_has_violations() -> None:
    processor = read_processor({"metadata": {"labels": {"lenses": "lenses-processor"}}}, "StatefulSet")

    assert [violation.code for violation in processor.violations] == ["name", "container"]
    assert processor.sql is None


def test_values_of_wrong_types_raise_no_exception() -> None:
    manifest = {
        "metadata": {"name": 7, "labels": {"app": None}, "annotations": "x", "managedFields": "y"},
        "spec": {"replicas": "2", "template": {"spec": {"containers": [{"env": "no", "ports": {"a": 1}}, "x"]}}},
    }

    assert read_processor(manifest, "Deployment").runners == 1


class TestViolations:
    @pytest.mark.parametrize("name", ["my.app", "x" * 64])
    def test_an_invalid_name(self, name: str) -> None:
        assert codes(workload(name)) == ["name"]

    def test_a_container_without_the_port_of_the_api(self) -> None:
        manifest = workload("fast-vehicles")
        container(manifest)["ports"] = [{"containerPort": 80}]

        assert codes(manifest) == ["port"]

    @pytest.mark.parametrize(
        ("entry", "code"),
        [
            ({"valueFrom": {"configMapKeyRef": {"name": "programs", "key": "x"}}}, "sql-elsewhere"),
            ({"valueFrom": {"secretKeyRef": {"name": "programs", "key": "x"}}}, "sql-elsewhere"),
            (None, "sql-missing"),
            ({"value": " "}, "sql-missing"),
        ],
    )
    def test_sql_that_is_not_a_value(self, entry: dict[str, Any] | None, code: str) -> None:
        assert codes(with_env("SQL", entry)) == [code]

    def test_sql_from_a_file(self) -> None:
        manifest = with_env("SQL", None)
        container(manifest)["env"].append({"name": "SQL_FILE", "value": "/etc/program.sql"})

        assert codes(manifest) == ["sql-elsewhere"]

    def test_the_kind_of_the_source_of_sql_is_reported(self) -> None:
        manifest = with_env("SQL", {"valueFrom": {"configMapKeyRef": {"name": "programs", "key": "x"}}})

        assert "configMapKeyRef" in read(manifest).violations[0].text

    @pytest.mark.parametrize("name", ["SQL_BOOTSTRAP_SERVERS", "SQL_APP_ID"])
    def test_a_variable_that_is_not_set(self, name: str) -> None:
        assert codes(with_env(name, None)) == [name.lower().replace("_", "-") + "-missing"]

    def test_a_variable_from_a_secret_is_set(self) -> None:
        entry = {"valueFrom": {"secretKeyRef": {"name": "kafka", "key": "brokers"}}}

        assert codes(with_env("SQL_BOOTSTRAP_SERVERS", entry)) == []

    def test_an_app_label_that_is_not_the_name(self) -> None:
        assert codes(workload("fast-vehicles", labels={"lenses": "lenses-processor", "app": "another"})) == [
            "label-app"
        ]

    def test_user_and_pipeline_may_be_missing(self) -> None:
        manifest = workload("a", labels={"lenses": "lenses-processor", "app": "a"})
        manifest["spec"]["template"]["metadata"]["labels"] = {}

        processor = read(manifest)

        assert (processor.user, processor.pipeline, processor.violations) == ("", "", ())

    def test_more_than_one_replica(self) -> None:
        assert codes(workload("fast-vehicles", replicas=2)) == ["replicas"]

    def test_pods_with_a_lease_do_not_do_everything_twice(self) -> None:
        assert codes(workload("fast-vehicles", replicas=2, env={"LSQL_LEASE": "fleet/fast-vehicles"})) == []

    def test_an_id_that_is_not_a_valid_label(self) -> None:
        manifest = workload("fast-vehicles")
        manifest["metadata"]["labels"]["lenses-id"] = "no/id"

        assert codes(manifest) == ["id"]


class TestCreation:
    def test_by_another_chart(self) -> None:
        manifest = workload("x")
        manifest["metadata"]["labels"]["helm.sh/chart"] = "our-streams-2.3.4"

        processor = read(manifest)

        assert (processor.created, processor.created_by, processor.chart, processor.chart_version) == (
            "outside",
            "helm",
            "our-streams",
            "2.3.4",
        )

    def test_by_this_chart_under_an_alias(self) -> None:
        manifest = workload("x")
        manifest["metadata"]["labels"] |= {"helm.sh/chart": "orders-0.1.0", "app.kubernetes.io/component": "processor"}

        assert read(manifest).created == "inside"

    def test_by_kubectl_apply(self) -> None:
        labels = {"lenses": "lenses-processor"}
        annotations = {"kubectl.kubernetes.io/last-applied-configuration": "{}"}

        assert read(workload("x", labels=labels, annotations=annotations)).created_by == "kubectl"

    def test_by_kubectl_create(self) -> None:
        manifest = workload("x", labels={"lenses": "lenses-processor"}, annotations={})
        manifest["metadata"]["managedFields"] = [{"manager": "kubectl-create"}]

        assert read(manifest).created_by == "kubectl"

    def test_by_an_unknown_tool(self) -> None:
        processor = read(workload("x", labels={"lenses": "lenses-processor"}, annotations={}))

        assert (processor.created, processor.created_by) == ("outside", "unknown")

    def test_the_old_public_chart_is_legacy_and_its_labels_are_no_violation(self) -> None:
        processor = read(workload("x", labels={"lenses.io/app.type": "sql", "lenses.io/lenses-user": "eve"}))

        assert (processor.legacy, processor.user, processor.violations) == (True, "eve", ())


class TestImage:
    @pytest.mark.parametrize(
        ("image", "version"),
        [
            ("lsql-runner:0.1.0", "0.1.0"),
            ("registry.example:5000/team/lsql-runner:1.2-rc1", "1.2-rc1"),
            ("registry.example:5000/team/lsql-runner", ""),
            ("lsql-runner@sha256:abc", "sha256:abc"),
            ("lsql-runner:0.1.0@sha256:abc", "0.1.0"),
        ],
    )
    def test_the_version_is_the_tag_or_else_the_digest(self, image: str, version: str) -> None:
        manifest = workload("x")
        container(manifest)["image"] = image

        assert read(manifest).image_version == version

    def test_the_runner_is_found_among_sidecars(self) -> None:
        manifest = workload("x")
        manifest["spec"]["template"]["spec"]["containers"].insert(0, {"name": "proxy", "image": "proxy:9"})

        assert read(manifest).container == "runner"


class TestCompare:
    def test_a_copy_of_a_workload_has_the_same_id(self) -> None:
        first, copy = workload("first"), workload("second")
        for manifest in (first, copy):
            manifest["metadata"]["labels"]["lenses-id"] = "a-1"

        processors = compare([read(first), read(copy)])

        assert [[violation.code for violation in p.violations] for p in processors] == [["id-shared"], ["id-shared"]]
        assert "streams/second" in processors[0].violations[0].text

    def test_workloads_with_one_app_id_on_the_same_brokers_share_a_group(self) -> None:
        same = {"SQL_APP_ID": "group"}
        other = {**same, "SQL_BOOTSTRAP_SERVERS": "elsewhere:9092"}
        manifests = [workload("a", env=same), workload("b", env=same), workload("c", env=other)]

        processors = compare(map(read, manifests))

        assert [[violation.code for violation in p.violations] for p in processors] == [
            ["app-id-shared"],
            ["app-id-shared"],
            [],
        ]

    def test_a_workload_without_replicas_shares_no_group(self) -> None:
        same = {"SQL_APP_ID": "group"}

        processors = compare([read(workload("a", env=same)), read(workload("b", env=same, replicas=0))])

        assert [p.violations for p in processors] == [(), ()]
