"""`make test-cluster` runs the tests on one cluster in two steps, and fails if a step fails."""

import subprocess
from pathlib import Path

import pytest

from devkit import cluster

SCRIPT = Path(__file__).parents[1] / "cluster/run.sh"
FAKE = """#!/bin/sh
echo "$*" >> {log}
case "$*" in *"not node"*) exit {shared} ;; *) exit {alone} ;; esac
"""


@pytest.mark.parametrize(
    ("shared", "alone", "code", "steps"),
    [(0, 0, 0, 2), (0, 5, 0, 2), (5, 0, 0, 2), (5, 5, 5, 2), (1, 0, 1, 1), (0, 1, 1, 2), (5, 1, 1, 2)],
)
def test_a_failed_step_fails_the_run_and_an_empty_one_does_not(
    shared: int, alone: int, code: int, steps: int, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    fake = tmp_path / "pytest"
    fake.write_text(FAKE.format(log=log, shared=shared, alone=alone))
    fake.chmod(0o755)

    result = subprocess.run([SCRIPT, fake, "-k", "a name"], check=False, env={"PATH": "/bin:/usr/bin", "WORKERS": "3"})

    lines = log.read_text().splitlines()
    assert (result.returncode, len(lines)) == (code, steps)
    shared_tests = "not node and not object_store and not network_policy and not keda"
    assert lines[0] == f"-n 3 --dist loadscope --no-loadscope-reorder -m {shared_tests} tests/cluster -k a name"
    assert lines[1:] == ["-m node and not lost_node tests/cluster -k a name"][: steps - 1]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replaces the cluster of this machine; returns the operations on it."""
    done: list[str] = []
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.delenv(cluster.HELD_VARIABLE, raising=False)
    monkeypatch.setattr("ci.tools.cache.CACHE", tmp_path)
    monkeypatch.setattr("ci.cluster.lifecycle.is_up", lambda: "up" in done)
    monkeypatch.setattr("ci.cluster.lifecycle.up", lambda: done.append("up"))
    monkeypatch.setattr("ci.cluster.lifecycle.down", lambda: done.append("down"))
    monkeypatch.setattr("ci.cluster.machine.remains", list)
    return done


def test_a_cluster_that_is_booted_for_a_run_is_removed_after_it(machine: list[str]) -> None:
    with cluster.running_cluster():
        assert machine == ["up"]
    assert machine == ["up", "down"]


def test_a_cluster_that_ran_before_stays(machine: list[str]) -> None:
    machine.append("up")
    with cluster.held_cluster():
        pass
    assert machine == ["up"]


def test_the_processes_of_a_run_neither_wait_for_its_cluster_nor_remove_it(machine: list[str]) -> None:
    with cluster.held_cluster():
        with cluster.running_cluster(), cluster.running_cluster():
            assert machine == ["up", "up"]
        assert "down" not in machine
    assert machine[-1] == "down"


def test_a_worker_does_not_wait_for_a_cluster_that_another_worker_holds(
    machine: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    with pytest.raises(AssertionError, match="make test-cluster"), cluster.held_cluster():
        pass
    assert machine == []
