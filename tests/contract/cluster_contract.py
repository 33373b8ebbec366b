"""The contract of the console's cluster port: one suite for the fake, and for a real API server.

A subclass defines the fixture `ground`. tests/contract runs the suite on the fake, tests/cluster on a real API server.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Protocol

import pytest

from devkit.fake_cluster import SQL, workload
from lsql_runner.console.cluster import Cluster, Conflict, Missing, WorkloadEvent
from lsql_runner.console.workloads import Kind, read_processor

TRIES = 10


class Ground(Protocol):
    """A cluster with an empty namespace, and methods that prepare it without the port."""

    cluster: Cluster
    namespace: str

    def create(self, manifest: Mapping[str, Any], kind: Kind) -> None:
        """Create a workload."""

    def create_pod(self, name: str, labels: Mapping[str, str]) -> None:
        """Create a pod."""

    def notes(self) -> list[tuple[str, str, str]]:
        """Reason, name of the workload, and text of each Event of the namespace."""


def labelled(ground: Ground, kind: Kind, value: str) -> str:
    """Sets a label at the current version of the workload, and returns that version.

    Tries again if a controller has written the workload's status in between.
    """
    for _ in range(TRIES):
        version = ground.cluster.workload(ground.namespace, kind, "fast-vehicles")["metadata"]["resourceVersion"]
        with suppress(Conflict):
            ground.cluster.label(ground.namespace, kind, "fast-vehicles", version, "lenses-id", value)
            return str(version)
    raise AssertionError(f"the workload changed before each of {TRIES} attempts")


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
class WorkloadContract:
    def made(self, ground: Ground, kind: Kind, name: str = "fast-vehicles", sql: str = SQL) -> None:
        ground.create(workload(name, namespace=ground.namespace, sql=sql), kind)

    def test_lists_all_workloads_of_a_kind_over_several_pages(self, ground: Ground, kind: Kind) -> None:
        other: Kind = "StatefulSet" if kind == "Deployment" else "Deployment"
        names = {f"p-{number}" for number in range(105)}
        for name in names:
            self.made(ground, kind, name)
        self.made(ground, other, "another")

        found = list(ground.cluster.workloads(ground.namespace, kind))

        assert {item["metadata"]["name"] for item in found} == names

    def test_reads_a_workload_as_it_was_created(self, ground: Ground, kind: Kind) -> None:
        sql = "SELECT '$(HOME) $$ {{ x }} \"`' -- ü €\n\tFROM x"
        self.made(ground, kind, sql=sql)

        listed = next(iter(ground.cluster.workloads(ground.namespace, kind)))
        read = ground.cluster.workload(ground.namespace, kind, "fast-vehicles")

        of_list, processor = read_processor(listed, kind), read_processor(read, kind)
        # A controller may have written the status in between.
        assert replace(of_list, version=processor.version) == processor
        assert (processor.sql, processor.app_id, processor.violations) == (sql, "fast-vehicles", ())
        assert processor.uid
        assert processor.version
        assert processor.created_at is not None

    def test_a_label_is_added_to_the_others_and_not_to_the_pods(self, ground: Ground, kind: Kind) -> None:
        self.made(ground, kind)
        before = ground.cluster.workload(ground.namespace, kind, "fast-vehicles")

        labelled(ground, kind, "a-1")

        after = ground.cluster.workload(ground.namespace, kind, "fast-vehicles")
        assert after["metadata"]["labels"] == {**before["metadata"]["labels"], "lenses-id": "a-1"}
        assert after["spec"] == before["spec"]

    def test_setting_a_label_at_an_older_version_is_a_conflict(self, ground: Ground, kind: Kind) -> None:
        self.made(ground, kind)
        version = labelled(ground, kind, "first")

        with pytest.raises(Conflict):
            ground.cluster.label(ground.namespace, kind, "fast-vehicles", version, "lenses-id", "second")

        after = ground.cluster.workload(ground.namespace, kind, "fast-vehicles")
        assert after["metadata"]["labels"]["lenses-id"] == "first"

    def test_deletes_only_the_workload_with_the_uid(self, ground: Ground, kind: Kind) -> None:
        self.made(ground, kind)
        uid = ground.cluster.workload(ground.namespace, kind, "fast-vehicles")["metadata"]["uid"]

        with pytest.raises(Conflict):
            ground.cluster.delete_workload(ground.namespace, kind, "fast-vehicles", "another-uid")
        ground.cluster.delete_workload(ground.namespace, kind, "fast-vehicles", uid)

        assert list(ground.cluster.workloads(ground.namespace, kind)) == []

    def test_requests_for_a_missing_workload_are_refused(self, ground: Ground, kind: Kind) -> None:
        with pytest.raises(Missing):
            ground.cluster.workload(ground.namespace, kind, "nobody")
        with pytest.raises(Missing):
            ground.cluster.label(ground.namespace, kind, "nobody", "1", "lenses-id", "a")
        with pytest.raises(Missing):
            ground.cluster.delete_workload(ground.namespace, kind, "nobody", "a")


class ConfigurationContract:
    def test_a_configuration_is_missing_then_created_then_read(self, ground: Ground) -> None:
        with pytest.raises(Missing):
            ground.cluster.configuration(ground.namespace, "processors")

        ground.cluster.write_configuration(ground.namespace, "processors", None, {"a.gz": b"\x1f\x8b\x00\xff"})

        assert ground.cluster.configuration(ground.namespace, "processors").content == {"a.gz": b"\x1f\x8b\x00\xff"}

    def test_a_write_at_the_current_version_succeeds(self, ground: Ground) -> None:
        ground.cluster.write_configuration(ground.namespace, "processors", None, {"a": b"1"})
        version = ground.cluster.configuration(ground.namespace, "processors").version

        ground.cluster.write_configuration(ground.namespace, "processors", version, {"a": b"2"})

        assert ground.cluster.configuration(ground.namespace, "processors").content == {"a": b"2"}

    def test_a_write_at_an_older_version_is_a_conflict(self, ground: Ground) -> None:
        ground.cluster.write_configuration(ground.namespace, "processors", None, {"a": b"1"})
        version = ground.cluster.configuration(ground.namespace, "processors").version
        ground.cluster.write_configuration(ground.namespace, "processors", version, {"a": b"2"})

        with pytest.raises(Conflict):
            ground.cluster.write_configuration(ground.namespace, "processors", version, {"a": b"3"})

    def test_a_second_creation_is_a_conflict(self, ground: Ground) -> None:
        ground.cluster.write_configuration(ground.namespace, "processors", None, {"a": b"1"})

        with pytest.raises(Conflict):
            ground.cluster.write_configuration(ground.namespace, "processors", None, {"a": b"2"})

    def test_nine_hundred_kilobytes_fit(self, ground: Ground) -> None:
        content = {"a": bytes(range(256)) * 3515}

        ground.cluster.write_configuration(ground.namespace, "processors", None, content)

        assert ground.cluster.configuration(ground.namespace, "processors").content == content


class PodContract:
    def test_an_event_is_written_on_the_workload(self, ground: Ground) -> None:
        note = WorkloadEvent(
            ground.namespace, "Deployment", "fast-vehicles", "u-1", "Normal", "Stopped", "Stop", "ada asked"
        )

        ground.cluster.note(note)

        assert ground.notes() == [("Stopped", "fast-vehicles", "ada asked")]

    def test_pods_are_found_by_all_their_labels(self, ground: Ground) -> None:
        ground.create_pod("one", {"app": "x", "role": "runner"})
        ground.create_pod("two", {"app": "x", "role": "worker"})

        assert ground.cluster.pods(ground.namespace, {"app": "x", "role": "runner"}) == ["one"]
        assert sorted(ground.cluster.pods(ground.namespace, {"app": "x"})) == ["one", "two"]

    def test_the_log_of_a_missing_pod_is_refused(self, ground: Ground) -> None:
        with pytest.raises(Missing):
            ground.cluster.log_tail(ground.namespace, "nobody", "runner", 10)
