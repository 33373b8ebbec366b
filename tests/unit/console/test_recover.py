"""The recovery job on a fake cluster: ids, races, the published document, failures."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from devkit.console_fixtures import Clock, FakeRunners, settings
from devkit.fake_cluster import FakeCluster, workload
from devkit.fake_runner_server import Answers, runners
from lsql_runner.console.cluster import Conflict
from lsql_runner.console.document import Document
from lsql_runner.console.recover import RecoveryResult, recover, summary
from lsql_runner.console.runners import Limits, Runners
from lsql_runner.console.storage import FILE, decode
from lsql_runner.console.workloads import Kind
from lsql_runner.errors import LsqlError

NAME = settings().document.name


class Interrupted(FakeCluster):
    """A cluster that another client changes before each write.

    Args:
        do: called with the cluster and the number of earlier writes of this kind.
    """

    def __init__(self, do: Callable[[FakeCluster, int], None]) -> None:
        super().__init__()
        self._do = do

    def label(self, namespace: str, kind: Kind, name: str, version: str, key: str, value: str) -> None:
        self._do(self, self.call_count("label"))
        super().label(namespace, kind, name, version, key, value)

    def write_config_map(self, namespace: str, name: str, version: str | None, content: Mapping[str, bytes]) -> None:
        self._do(self, self.call_count("write_config_map"))
        super().write_config_map(namespace, name, version, content)


def run_job(
    cluster: FakeCluster, fakes: FakeRunners | None = None, clock: Clock | None = None, **options: Any
) -> RecoveryResult:
    """The result of the job. `options` are settings of the console."""
    return recover(cluster, (fakes or FakeRunners()).fetch_reports, settings(**options), clock or Clock())


def published(cluster: FakeCluster) -> Document:
    document = decode(cluster.config_map("console", NAME).content)
    assert document is not None
    return document


def test_publishes_all_processors() -> None:
    cluster = FakeCluster()
    cluster.add(workload("a"))
    cluster.add(workload("b", namespace="more"), "StatefulSet")
    cluster.add(workload("no-processor", labels={"app": "x"}))

    outcome = run_job(cluster)

    assert [(entry.namespace, entry.name, entry.kind) for entry in published(cluster).processors] == [
        ("more", "b", "StatefulSet"),
        ("streams", "a", "Deployment"),
    ]
    assert (outcome.adopted, outcome.complete) == (2, True)
    assert summary(outcome.document) == {"running": 2}


def test_lists_once_for_each_namespace_and_kind() -> None:
    cluster = FakeCluster()

    run_job(cluster, namespaces=["streams", "more", "streams"])

    assert cluster.call_count("workloads") == 4


class TestIds:
    def test_a_workload_without_an_id_gets_one_in_its_own_labels_only(self) -> None:
        cluster = FakeCluster()
        before = cluster.add(workload("a"))

        run_job(cluster)

        after = cluster.workload("streams", "Deployment", "a")
        assert after["metadata"]["labels"] == {**before["metadata"]["labels"], "lenses-id": before["metadata"]["uid"]}
        assert after["spec"] == before["spec"]

    def test_an_id_is_never_changed(self) -> None:
        cluster = FakeCluster()
        labels = {"lenses": "lenses-processor", "lenses-id": "by hand"}
        cluster.add(workload("a", labels=labels))

        run_job(cluster)

        assert cluster.labels("streams", "Deployment", "a") == labels
        assert cluster.call_count("label") == 0

    def test_a_second_run_writes_no_label(self) -> None:
        cluster = FakeCluster()
        cluster.add(workload("a"))
        run_job(cluster)

        assert run_job(cluster).adopted == 0
        assert cluster.call_count("label") == 1

    def test_processors_of_the_old_chart_get_an_id_too(self) -> None:
        cluster = FakeCluster()
        cluster.add(workload("old", labels={"lenses.io/app.type": "sql"}))

        outcome = run_job(cluster)

        assert outcome.document.processors[0].legacy
        assert "lenses-id" in cluster.labels("streams", "Deployment", "old")

    def test_an_id_that_another_job_set_first_is_kept(self) -> None:
        def other_job(cluster: FakeCluster, call: int) -> None:
            if call == 0:
                cluster.touch("streams", "Deployment", "a", {"lenses-id": "of the other job"})

        cluster = Interrupted(other_job)
        cluster.add(workload("a"))

        outcome = run_job(cluster)

        assert cluster.labels("streams", "Deployment", "a")["lenses-id"] == "of the other job"
        assert outcome.document.processors[0].id == "of the other job"

    def test_the_id_is_set_after_a_conflict(self) -> None:
        def upgrade(cluster: FakeCluster, call: int) -> None:
            if call < 3:
                cluster.touch("streams", "Deployment", "a")

        cluster = Interrupted(upgrade)
        cluster.add(workload("a"))

        assert run_job(cluster).complete
        assert "lenses-id" in cluster.labels("streams", "Deployment", "a")

    def test_a_workload_that_changes_constantly_is_reported_and_the_others_get_ids(self) -> None:
        cluster = Interrupted(lambda cluster, call: cluster.touch("streams", "Deployment", "a"))
        cluster.add(workload("a"))
        cluster.add(workload("b", namespace="more"))

        outcome = run_job(cluster)

        assert (outcome.adopted, outcome.unassigned, outcome.complete) == (1, 1, False)
        codes = {entry.name: [v.code for v in entry.violations] for entry in outcome.document.processors}
        assert codes == {"a": ["id-unassigned"], "b": []}

    def test_a_workload_deleted_during_the_run_is_left_out(self) -> None:
        def uninstall(cluster: FakeCluster, call: int) -> None:
            if call == 0 and cluster.call_count("delete_workload") == 0:
                uid = cluster.workload("streams", "Deployment", "a")["metadata"]["uid"]
                cluster.delete_workload("streams", "Deployment", "a", uid)

        cluster = Interrupted(uninstall)
        cluster.add(workload("a"))

        assert run_job(cluster).document.processors == ()

    def test_a_workload_that_is_created_again_has_its_former_id(self) -> None:
        cluster = FakeCluster()
        first = cluster.add(workload("a"))
        run_job(cluster)
        cluster.delete_workload("streams", "Deployment", "a", first["metadata"]["uid"])
        run_job(cluster)
        cluster.add(workload("a"))

        run_job(cluster)

        assert cluster.labels("streams", "Deployment", "a")["lenses-id"] == first["metadata"]["uid"]


class TestFailures:
    def test_a_namespace_that_may_not_be_read_is_reported_and_the_rest_is_published(self) -> None:
        cluster = FakeCluster()
        cluster.add(workload("a"))
        cluster.refused.add(("workloads", "more"))

        outcome = run_job(cluster)

        assert [(f.namespace, f.text) for f in published(cluster).failures] == [("more", "forbidden")]
        assert [entry.name for entry in outcome.document.processors] == ["a"]
        assert not outcome.complete

    def test_labels_that_may_not_be_set_are_reported(self) -> None:
        cluster = FakeCluster()
        cluster.add(workload("a"))
        cluster.refused.add(("label", "streams"))

        assert run_job(cluster).unassigned == 1

    def test_runners_that_do_not_respond_are_reported(self) -> None:
        cluster = FakeCluster()
        cluster.add(workload("a"))
        cluster.add(workload("b"))

        outcome = run_job(cluster, FakeRunners({"a": None}))

        assert {entry.name: entry.state for entry in outcome.document.processors} == {
            "a": "unreachable",
            "b": "running",
        }
        assert outcome.complete

    def test_an_unreachable_api_server_is_an_error(self) -> None:
        cluster = FakeCluster()
        cluster.down = True

        with pytest.raises(LsqlError) as caught:
            run_job(cluster)

        assert caught.value.code == "CLUSTER_REFUSED"
        assert caught.value.exit_code == 3

    def test_a_document_that_may_not_be_written_is_an_error(self) -> None:
        cluster = FakeCluster()
        cluster.refused.add(("write_config_map", "console"))

        with pytest.raises(LsqlError) as caught:
            run_job(cluster)

        assert caught.value.params == {
            "action": "write",
            "resource": "ConfigMap/lsql-processors",
            "reason": "forbidden",
        }

    def test_a_former_document_that_cannot_be_read_is_replaced(self) -> None:
        cluster = FakeCluster()
        cluster.add(workload("a"))
        cluster.write_config_map("console", NAME, None, {FILE: b"rubbish"})

        run_job(cluster)

        assert len(published(cluster).processors) == 1

    def test_a_document_that_another_job_wrote_first_is_merged(self) -> None:
        clock = Clock()
        others = FakeCluster()
        others.add(workload("vanished"))
        run_job(others, clock=clock)
        theirs = others.config_map("console", NAME).content

        def other_job(cluster: FakeCluster, call: int) -> None:
            if call == 0 and ("console", NAME) not in cluster._config_maps:
                FakeCluster.write_config_map(cluster, "console", NAME, None, theirs)

        cluster = Interrupted(other_job)
        cluster.add(workload("a"))

        run_job(cluster, clock=clock)

        assert {entry.name: entry.state for entry in published(cluster).processors} == {
            "a": "running",
            "vanished": "deleted",
        }

    def test_a_document_that_changes_constantly_is_an_error(self) -> None:
        class Busy(FakeCluster):
            def write_config_map(self, *_args: object, **_options: object) -> None:
                raise Conflict("again")

        with pytest.raises(LsqlError) as caught:
            run_job(Busy())

        assert caught.value.code == "DOCUMENT_CONFLICT"


class Large(FakeCluster):
    """A cluster of a thousand processors with programs of 100 kB, of which it holds one at a time."""

    def workloads(self, namespace: str, kind: Kind) -> Iterator[Mapping[str, Any]]:
        self.calls.append(("workloads", namespace, kind))
        if (namespace, kind) == ("streams", "Deployment"):
            for number in range(1000):
                manifest = workload(f"p-{number:04}", sql=f"SELECT {number} -- " + "x" * 100_000)
                manifest["metadata"] |= {"uid": f"u-{number}", "resourceVersion": "1"}
                manifest["metadata"]["labels"]["lenses-id"] = f"u-{number}"
                yield manifest


class TestThousandReleases:
    def test_silent_runners_delay_the_job_by_a_bounded_time(self) -> None:
        cluster = Large()
        answers = Answers(silent=lambda name: name.endswith(("03", "23", "43", "63", "83")))
        with runners(answers) as address_of:
            asking = Runners(Limits(timeout_s=4, parallel=32, pass_s=40), address_of)
            begun = time.monotonic()

            outcome = recover(cluster, asking.fetch_reports, settings(), Clock())

            took_s = time.monotonic() - begun
            asking.close()
        assert summary(outcome.document) == {"running": 950, "unreachable": 50}
        assert took_s < 45
        assert cluster.call_count("workloads") == 4
        assert len(published(cluster).processors) == 1000

    def test_memory_is_bounded_whatever_the_programs_are(self) -> None:
        cluster = Large()
        tracemalloc.start()

        run_job(cluster)

        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        # The programs alone have 100 MB as text; the document keeps 16 MB of them.
        assert peak_bytes < 90_000_000
