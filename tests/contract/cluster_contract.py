"""The contract of console.cluster.Cluster: one suite for the fake, and for a real API server.

A subclass defines the fixture `subject`. tests/contract runs the suite on the fake, tests/cluster on a real API server.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Protocol

import pytest

from devkit.fake_cluster import SQL, workers, workload
from lsql_runner.console.cluster import Autoscaler, Cluster, Conflict, Missing, WorkloadEvent
from lsql_runner.console.workloads import Kind, read_processor

ATTEMPTS = 10


class ClusterUnderTest(Protocol):
    """A cluster with an empty namespace, and operations on it that do not use the port."""

    cluster: Cluster
    namespace: str

    def create(self, manifest: Mapping[str, Any], kind: Kind) -> None:
        """Create a workload."""

    def create_pod(self, name: str, labels: Mapping[str, str]) -> None:
        """Create a pod."""

    def create_secret(self, name: str, values: Mapping[str, str]) -> None:
        """Create a Secret."""

    def create_autoscaler(self, name: str, kind: Kind, target: str) -> None:
        """Create a HorizontalPodAutoscaler of a workload."""

    def events(self) -> list[tuple[str, str, str]]:
        """Reason, name of the workload, and text of each Event of the namespace."""


def set_id(subject: ClusterUnderTest, kind: Kind, value: str) -> str:
    """Set the workload's id; returns the resourceVersion that it had. A controller may write the status first."""
    for _ in range(ATTEMPTS):
        version = subject.cluster.workload(subject.namespace, kind, "fast-vehicles")["metadata"]["resourceVersion"]
        with suppress(Conflict):
            subject.cluster.label(subject.namespace, kind, "fast-vehicles", version, "lenses-id", value)
            return str(version)
    raise AssertionError(f"another client wrote first {ATTEMPTS} times")


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
class WorkloadContract:
    def create_workload(
        self, subject: ClusterUnderTest, kind: Kind, name: str = "fast-vehicles", sql: str = SQL
    ) -> None:
        subject.create(workload(name, namespace=subject.namespace, sql=sql), kind)

    def test_lists_all_pages_of_a_kind(self, subject: ClusterUnderTest, kind: Kind) -> None:
        other: Kind = "StatefulSet" if kind == "Deployment" else "Deployment"
        names = {f"p-{number}" for number in range(105)}
        for name in names:
            self.create_workload(subject, kind, name)
        self.create_workload(subject, other, "another")

        workloads = list(subject.cluster.workloads(subject.namespace, kind))

        assert {item["metadata"]["name"] for item in workloads} == names

    def test_returns_the_created_workload(self, subject: ClusterUnderTest, kind: Kind) -> None:
        sql = "SELECT '$(HOME) $$ {{ x }} \"`' -- ü €\n\tFROM x"
        self.create_workload(subject, kind, sql=sql)

        listed = next(iter(subject.cluster.workloads(subject.namespace, kind)))
        got = subject.cluster.workload(subject.namespace, kind, "fast-vehicles")

        one, other = read_processor(listed, kind), read_processor(got, kind)
        assert replace(one, version=other.version) == other  # a controller may have written the status in the meantime
        seen = read_processor(got, kind)
        assert (seen.sql, seen.app_id, seen.violations) == (sql, "fast-vehicles", ())
        assert seen.uid
        assert seen.version
        assert seen.created_at is not None

    def test_a_label_is_added_to_the_workload_and_not_to_its_pods(self, subject: ClusterUnderTest, kind: Kind) -> None:
        self.create_workload(subject, kind)
        before = subject.cluster.workload(subject.namespace, kind, "fast-vehicles")

        set_id(subject, kind, "a-1")

        after = subject.cluster.workload(subject.namespace, kind, "fast-vehicles")
        assert after["metadata"]["labels"] == {**before["metadata"]["labels"], "lenses-id": "a-1"}
        assert after["spec"] == before["spec"]

    def test_a_label_at_an_older_version_is_a_conflict(self, subject: ClusterUnderTest, kind: Kind) -> None:
        self.create_workload(subject, kind)
        version = set_id(subject, kind, "first")

        with pytest.raises(Conflict):
            subject.cluster.label(subject.namespace, kind, "fast-vehicles", version, "lenses-id", "second")

        after = subject.cluster.workload(subject.namespace, kind, "fast-vehicles")
        assert after["metadata"]["labels"]["lenses-id"] == "first"

    def test_deletes_only_the_workload_with_the_uid(self, subject: ClusterUnderTest, kind: Kind) -> None:
        self.create_workload(subject, kind)
        uid = subject.cluster.workload(subject.namespace, kind, "fast-vehicles")["metadata"]["uid"]

        with pytest.raises(Conflict):
            subject.cluster.delete_workload(subject.namespace, kind, "fast-vehicles", "another-uid")
        subject.cluster.delete_workload(subject.namespace, kind, "fast-vehicles", uid)

        assert list(subject.cluster.workloads(subject.namespace, kind)) == []

    def test_an_object_that_does_not_exist_is_missing(self, subject: ClusterUnderTest, kind: Kind) -> None:
        with pytest.raises(Missing):
            subject.cluster.workload(subject.namespace, kind, "nobody")
        with pytest.raises(Missing):
            subject.cluster.label(subject.namespace, kind, "nobody", "1", "lenses-id", "a")
        with pytest.raises(Missing):
            subject.cluster.delete_workload(subject.namespace, kind, "nobody", "a")


class ScaleContract:
    def test_a_deployment_is_scaled_and_nothing_else_of_it_changes(self, subject: ClusterUnderTest) -> None:
        subject.create(workers("fast-vehicles", namespace=subject.namespace, replicas=0), "Deployment")
        before = subject.cluster.workload(subject.namespace, "Deployment", "fast-vehicles-workers")

        subject.cluster.scale_deployment(
            subject.namespace, "fast-vehicles-workers", before["metadata"]["uid"], replicas=3
        )

        after = subject.cluster.workload(subject.namespace, "Deployment", "fast-vehicles-workers")
        assert after["spec"] == {**before["spec"], "replicas": 3}
        assert after["metadata"].get("labels") == before["metadata"]["labels"]

    def test_only_the_deployment_with_the_uid_is_scaled(self, subject: ClusterUnderTest) -> None:
        subject.create(workers("fast-vehicles", namespace=subject.namespace, replicas=0), "Deployment")

        with pytest.raises(Conflict):
            subject.cluster.scale_deployment(subject.namespace, "fast-vehicles-workers", "another-uid", replicas=3)
        with pytest.raises(Missing):
            subject.cluster.scale_deployment(subject.namespace, "nobody", "another-uid", replicas=3)

        after = subject.cluster.workload(subject.namespace, "Deployment", "fast-vehicles-workers")
        assert after["spec"]["replicas"] == 0

    def test_autoscalers_are_listed_with_what_they_scale(self, subject: ClusterUnderTest) -> None:
        assert subject.cluster.autoscalers(subject.namespace) == []

        subject.create_autoscaler("one", "Deployment", "fast-vehicles-workers")

        assert subject.cluster.autoscalers(subject.namespace) == [
            Autoscaler("one", "Deployment", "fast-vehicles-workers", owner="")
        ]


class ConfigMapContract:
    def test_is_missing_then_created_then_read(self, subject: ClusterUnderTest) -> None:
        with pytest.raises(Missing):
            subject.cluster.config_map(subject.namespace, "processors")

        subject.cluster.write_config_map(subject.namespace, "processors", None, {"a.gz": b"\x1f\x8b\x00\xff"})

        assert subject.cluster.config_map(subject.namespace, "processors").content == {"a.gz": b"\x1f\x8b\x00\xff"}

    def test_a_write_to_the_version_that_was_read_succeeds(self, subject: ClusterUnderTest) -> None:
        subject.cluster.write_config_map(subject.namespace, "processors", None, {"a": b"1"})
        version = subject.cluster.config_map(subject.namespace, "processors").version

        subject.cluster.write_config_map(subject.namespace, "processors", version, {"a": b"2"})

        assert subject.cluster.config_map(subject.namespace, "processors").content == {"a": b"2"}

    def test_a_write_to_an_older_version_is_a_conflict(self, subject: ClusterUnderTest) -> None:
        subject.cluster.write_config_map(subject.namespace, "processors", None, {"a": b"1"})
        version = subject.cluster.config_map(subject.namespace, "processors").version
        subject.cluster.write_config_map(subject.namespace, "processors", version, {"a": b"2"})

        with pytest.raises(Conflict):
            subject.cluster.write_config_map(subject.namespace, "processors", version, {"a": b"3"})

    def test_a_second_creation_is_a_conflict(self, subject: ClusterUnderTest) -> None:
        subject.cluster.write_config_map(subject.namespace, "processors", None, {"a": b"1"})

        with pytest.raises(Conflict):
            subject.cluster.write_config_map(subject.namespace, "processors", None, {"a": b"2"})

    def test_a_value_of_nine_hundred_kilobytes_is_stored(self, subject: ClusterUnderTest) -> None:
        content = {"a": bytes(range(256)) * 3515}

        subject.cluster.write_config_map(subject.namespace, "processors", None, content)

        assert subject.cluster.config_map(subject.namespace, "processors").content == content


class SecretContract:
    def test_a_value_is_read_without_white_space_around_it(self, subject: ClusterUnderTest) -> None:
        subject.create_secret("fast-vehicles-api", {"token": "t-1\n", "other": "x"})

        assert subject.cluster.secret_value(subject.namespace, "fast-vehicles-api", "token") == "t-1"

    def test_a_secret_or_a_key_that_does_not_exist_is_missing(self, subject: ClusterUnderTest) -> None:
        subject.create_secret("fast-vehicles-api", {"token": "t-1"})

        with pytest.raises(Missing):
            subject.cluster.secret_value(subject.namespace, "nothing", "token")
        with pytest.raises(Missing):
            subject.cluster.secret_value(subject.namespace, "fast-vehicles-api", "nothing")


class PodContract:
    def test_an_event_is_created_on_the_workload(self, subject: ClusterUnderTest) -> None:
        event = WorkloadEvent(
            namespace=subject.namespace,
            kind="Deployment",
            name="fast-vehicles",
            uid="u-1",
            type="Normal",
            reason="Stopped",
            action="Stop",
            text="ada requested stop",
        )

        subject.cluster.create_event(event)

        assert subject.events() == [("Stopped", "fast-vehicles", "ada requested stop")]

    def test_pods_are_found_by_all_their_labels(self, subject: ClusterUnderTest) -> None:
        subject.create_pod("one", {"app": "x", "role": "runner"})
        subject.create_pod("two", {"app": "x", "role": "worker"})

        assert subject.cluster.pods(subject.namespace, {"app": "x", "role": "runner"}) == ["one"]
        assert sorted(subject.cluster.pods(subject.namespace, {"app": "x"})) == ["one", "two"]

    def test_the_log_of_a_missing_pod_is_missing(self, subject: ClusterUnderTest) -> None:
        with pytest.raises(Missing):
            subject.cluster.log_tail(subject.namespace, "nobody", "runner", 10)
