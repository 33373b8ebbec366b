"""The program of a release with state is changed: its state is continued, or the pod says why it is not.

Only a cluster restarts pods, and rolls a release back whose pod is not ready.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from devkit.broker import Broker
from devkit.cluster_release import HelmFailed
from devkit.cluster_traffic import LONGEST_GAP_S, LongestPause
from devkit.kubectl import Kubectl, KubectlFailed
from devkit.release_with_traffic import ReleaseWithTraffic, counting, merged
from tests.cluster.conftest import HelmFactory, fresh_namespace


@pytest.fixture(scope="module")
def release(kubectl: Kubectl, kafka: Broker, image: str, newest_helm: HelmFactory) -> Iterator[ReleaseWithTraffic]:
    """A release that counts the records of each id in windows."""
    with fresh_namespace(kubectl) as namespace:
        release = ReleaseWithTraffic(newest_helm(namespace), kafka, image)
        release.install(sql=counting(release.source, release.target))
        release.await_records()
        yield release


def test_a_filter_is_added_and_the_state_is_continued(release: ReleaseWithTraffic) -> None:
    with release.traffic:
        release.upgrade(sql=release.values["sql"].replace("WINDOW BY", "WHERE COALESCE(id, 0) >= 0\nWINDOW BY"))

    assert release.await_records().duplicates == 0
    stream = release.processor.stream()
    assert stream["generation"] == 1
    assert any("has a different filter" in warning for warning in stream["warnings"])


def with_other_windows(release: ReleaseWithTraffic, **values: object) -> dict[str, Any]:
    """The values of a program that does not fit the state."""
    return merged(release.values, {"sql": release.values["sql"].replace("TUMBLE 1s", "TUMBLE 5s"), **values})


def test_a_program_that_does_not_fit_the_state_is_refused_before_anything_changes(release: ReleaseWithTraffic) -> None:
    """The validation asks the running processor."""
    pod, restarts = release.processor.uid(), release.processor.restarts()

    with release.traffic, pytest.raises(HelmFailed):
        release.helm.upgrade(release.name, with_other_windows(release))

    log = release.helm.kubectl.run("logs", f"job/{release.name}-validate")
    assert f"INSERT INTO {release.target}: new generation" in log
    assert "to build its state again" in log
    assert "STATE_INCOMPATIBLE" in log
    assert (release.processor.uid(), release.processor.restarts()) == (pod, restarts)
    assert release.await_records().duplicates == 0


def test_without_the_validation_its_pod_fails_without_restarts_and_is_rolled_back(release: ReleaseWithTraffic) -> None:
    old = release.processor.uid()
    history = json.loads(release.helm.run("history", release.name, "--output=json"))
    [deployed] = [int(each["revision"]) for each in history if each["status"] == "deployed"]
    other = with_other_windows(release, validation={"enabled": False}, api={"queries": "open"})

    with release.traffic:
        release.helm.upgrade_without_wait(release.name, other)
        release.helm.kubectl.wait_until(lambda: _has_failed(release, old), 120, "the new pod has failed")
        stream = release.processor.stream()
        assert (stream["reason"]["code"], release.processor.restarts()) == ("STATE_INCOMPATIBLE", 0)
        assert "has a different window" in stream["reason"]["message"]
        assert not release.processor.is_ready()
        stored = release.processor.get("/metadata/aggregate-0")
        assert {row["value"]["n"] for row in stored["rows"]} == {1}
        assert sum(stored["contains"]["positions"][release.source].values()) > 0
        release.helm.rollback(release.name, deployed)

    assert release.await_records().duplicates == 0


def test_new_state_is_built_without_a_repeated_result_and_a_rollback_returns_to_the_old_one(
    release: ReleaseWithTraffic,
) -> None:
    history = json.loads(release.helm.run("history", release.name, "--output=json"))
    [deployed] = [int(each["revision"]) for each in history if each["status"] == "deployed"]
    rebuilt = with_other_windows(release, upgrade={"onIncompatible": "newGeneration"})

    with release.traffic:
        release.helm.upgrade(release.name, rebuilt)
    assert release.await_records().duplicates == 0
    stream = release.processor.stream()
    assert (stream["state"], release.processor.restarts()) == ("running", 0)
    assert any("Their results are not written again" in warning for warning in stream["warnings"])

    with release.traffic:
        release.helm.rollback(release.name, deployed)
    release.await_records()
    assert any("returns to the state" in warning for warning in release.processor.stream()["warnings"])


def test_a_changed_program_takes_over_without_a_gap(release: ReleaseWithTraffic) -> None:
    before = release.await_records().duplicates  # a return writes results again
    changed = release.values["sql"].replace("COUNT(*) AS n", "COUNT(*) AS n, MAX(id) AS newest")
    release.upgrade(
        sql=changed,
        upgrade={"onIncompatible": "blueGreen", "switch": "manual"},
        api={"actions": "open", "queries": "open"},
    )

    with release.traffic:
        release.helm.kubectl.wait_until(lambda: _phase(release) == "ready", 120, "the changed INSERT is ready")
        release.helm.kubectl.wait_until(lambda: _equal_groups(release) > 0, 60, "both INSERTs have state")
        with LongestPause(release.broker, release.target) as pause:
            release.processor.post("/switch")
            release.helm.kubectl.wait_until(lambda: _phase(release) is None, 60, "the changed INSERT has taken over")
            written = sum(release.broker.end_offsets(release.target).values())
            release.helm.kubectl.wait_until(
                lambda: sum(release.broker.end_offsets(release.target).values()) > written + 40, 60, "more results"
            )

    assert pause.seconds <= LONGEST_GAP_S
    assert (release.await_records().duplicates, release.processor.restarts()) == (before, 0)


def test_an_aggregate_is_added_and_the_state_is_converted(release: ReleaseWithTraffic) -> None:
    before, generation = release.await_records().duplicates, release.processor.stream()["generation"]
    more = release.values["sql"].replace("COUNT(*) AS n", "COUNT(*) AS n, MIN(id) AS least")

    with release.traffic:
        release.upgrade(sql=more, upgrade={"onIncompatible": "refuse"})

    assert release.await_records().duplicates == before
    stream = release.processor.stream()
    assert (stream["generation"], release.processor.restarts()) == (generation + 1, 0)
    assert any("has new aggregates (MIN(id)). Its state was converted" in warning for warning in stream["warnings"])


def _phase(release: ReleaseWithTraffic) -> str | None:
    change = release.processor.stream()["blueGreen"]
    return None if change is None else str(change["phase"])


def _equal_groups(release: ReleaseWithTraffic) -> int:
    """The groups of both INSERTs; 0 before the first batch."""
    with suppress(KubectlFailed):
        [compared] = release.processor.get("/comparison")
        assert compared["different"] == 0, compared
        return int(compared["equal"])
    return 0


def _has_failed(release: ReleaseWithTraffic, old: str) -> bool:
    pods = release.processor.pods()
    if len(pods) != 1 or pods[0]["metadata"]["uid"] == old:
        return False
    with suppress(KubectlFailed):  # it does not respond yet
        return bool(release.processor.stream()["state"] == "failed")
    return False
