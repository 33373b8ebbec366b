"""A release with a standby in a cluster: which of its pods leads, and when another one has taken over."""

from __future__ import annotations

import time
from collections.abc import Callable

from devkit.kubectl import is_ready
from devkit.release_with_traffic import ReleaseWithTraffic
from lsql_runner.lease.record import LeaseRecord, record_of

POLL_S = 0.05
DEADLINE_S = 120


def lease_of(release: ReleaseWithTraffic) -> LeaseRecord:
    """The Lease of the release."""
    return record_of(release.helm.kubectl.get("lease", release.name))


def leader_of(release: ReleaseWithTraffic) -> str:
    """The name of the pod that leads; empty if none has led."""
    return lease_of(release).holder.partition("_")[0]


def await_pair(release: ReleaseWithTraffic) -> None:
    """Wait until there are two ready pods, and the standby is warm."""
    await_ready_pods(release, 2)


def await_ready_pods(release: ReleaseWithTraffic, count: int) -> None:
    """Wait until the processor has so many pods, and all are ready."""

    def are_ready() -> bool:
        pods = release.processor.pods()
        return len(pods) == count and all(map(is_ready, pods))

    release.helm.kubectl.wait_until(are_ready, DEADLINE_S, f"{count} ready pods")


def first_record_s(release: ReleaseWithTraffic, began: float, is_successor: Callable[[], bool]) -> float:
    """The seconds from a moment (`time.monotonic`) to the first record that a successor writes."""
    release.helm.kubectl.wait_until(is_successor, DEADLINE_S, "a successor")
    before = sum(release.broker.end_offsets(release.target).values())
    deadline = time.monotonic() + DEADLINE_S
    while sum(release.broker.end_offsets(release.target).values()) == before:
        assert time.monotonic() < deadline, release.helm.kubectl.describe()
        time.sleep(POLL_S)
    return time.monotonic() - began
