"""Workers follow the lag, through processor, KEDA, the HorizontalPodAutoscaler that KEDA creates, and Deployment.

Only a cluster with KEDA has all of them. The number of workers does not change how fast the backlog is read here: small
batches bound the rate, so that the backlog lasts. From these batches the processor learns the rate of a worker.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from devkit.broker import Broker
from devkit.cluster_console import Console, install_console
from devkit.kubectl import Kubectl, KubectlFailed
from devkit.release_with_traffic import ReleaseWithTraffic
from tests.cluster.conftest import HelmFactory

BACKLOG = 60_000
MOST = 3
POLL_S = 0.5
STEP_S = 150
pytestmark = [pytest.mark.keda, pytest.mark.timeout(900), pytest.mark.usefixtures("own_cluster", "keda")]


@dataclass
class Story:
    """A release with autoscaling, and what was observed of it, with the seconds since the backlog."""

    release: ReleaseWithTraffic
    began_s: float = field(default_factory=time.monotonic)
    steps: list[tuple[float, str]] = field(default_factory=list)
    replicas: list[int] = field(default_factory=list)
    """The numbers of replicas of the Deployment, without repetitions."""
    stream: dict[str, Any] = field(default_factory=dict)

    @property
    def kubectl(self) -> Kubectl:
        return self.release.helm.kubectl

    def observe(self) -> None:
        """Read the processor and the Deployment once."""
        self.stream = self.release.processor.stream()
        now = int(self.kubectl.get("deployment", f"{self.release.name}-workers")["spec"]["replicas"])
        if now not in self.replicas[-1:]:
            self.replicas.append(now)

    def await_step(self, step: str, reached: Callable[[], bool], deadline_s: float = STEP_S) -> None:
        """Observe until a step is reached, and note its time."""
        deadline = time.monotonic() + deadline_s
        while True:
            try:
                self.observe()
                if reached():
                    break
            except KubectlFailed as error:
                self.stream = {"error": error.output}
            assert time.monotonic() < deadline, f"{step}: not within {deadline_s} s\n{self}\n{self.kubectl.describe()}"
            time.sleep(POLL_S)
        self.steps.append((time.monotonic() - self.began_s, step))

    def wanted(self) -> int | None:
        number: int | None = self.stream["scaling"]["wanted"]
        return number

    def rate(self) -> float | None:
        """The rate of a worker, as the processor has learned it."""
        rate: float | None = self.stream["scaling"]["workerRatePerSecond"]
        return rate

    def joined(self) -> int:
        return sum(not worker["leaving"] for worker in self.stream["workers"] or ())

    def condition(self, kind: str) -> dict[str, Any]:
        """A condition of the HPA of KEDA; empty before it has one."""
        autoscaler = self.kubectl.find("hpa", f"keda-hpa-{self.release.name}-workers") or {}
        conditions = autoscaler.get("status", {}).get("conditions", [])
        return next((each for each in conditions if each["type"] == kind), {})

    def __str__(self) -> str:
        rows = [f"| {seconds:.0f} s | {step} |" for seconds, step in self.steps]
        last = {key: self.stream.get(key) for key in ("state", "lag", "scaling", "workers", "error")}
        return "\n".join(
            ["| since the backlog | step |", "|---|---|", *rows, "", f"replicas: {self.replicas}; last: {last}"]
        )


@pytest.fixture
def release(namespace: Kubectl, kafka: Broker, image: str, newest_helm: HelmFactory) -> ReleaseWithTraffic:
    """A release whose workers KEDA scales, with short windows, and batches that make a backlog last."""
    release = ReleaseWithTraffic(newest_helm(namespace), kafka, image, partitions=MOST)
    release.install(
        persistence={"accessModes": ["ReadWriteMany"]},
        processing={"maxRecordsPerBatch": 100},
        workers={"replicas": 1, "threads": 1, "terminationGracePeriodSeconds": 30},
        networkPolicy={"enabled": False},
        autoscaling={
            "enabled": True,
            "maxReplicas": MOST,
            "target": {"catchUpSeconds": 5},
            "windows": {"downSeconds": 20},
            "cooldownSeconds": 15,
        },
    )
    return release


@pytest.fixture
def console(release: ReleaseWithTraffic) -> Console:
    return install_console(release, actions={"scale": True})


def test_workers_grow_with_a_backlog_and_shrink_after_it(release: ReleaseWithTraffic, console: Console) -> None:
    story = Story(release)
    story.await_step("the processor has a number, one worker runs", lambda: story.wanted() == story.joined() == 1)
    story.await_step("the HPA has it", lambda: story.condition("ScalingActive").get("status") == "True")
    assert release.await_records().duplicates == 0

    with release.traffic:
        story.began_s, story.steps = time.monotonic(), []
        release.traffic.write(BACKLOG)
        story.await_step("the rate of a worker is known", lambda: story.rate() is not None)
        story.await_step(f"{MOST} workers are wanted", lambda: story.wanted() == MOST)
        story.await_step(f"the Deployment has {MOST} replicas", lambda: story.replicas[-1] == MOST)
        story.await_step(f"{MOST} workers run tasks", lambda: story.joined() == MOST)
        [processor] = console.streams()
        status, answer = console.request("PUT", f"/api/v1/streams/{processor['id']}/scale/1")
        assert (status, answer["code"]) == (409, "SCALED_BY_AUTOSCALER")
        story.await_step("the backlog is gone", lambda: story.stream["lag"] < BACKLOG / 100)
        story.await_step("fewer workers are wanted", lambda: (story.wanted() or MOST) < MOST)
        story.await_step("one worker runs tasks", lambda: story.joined() == 1 and story.replicas[-1] == 1)
    report = release.await_records()

    print(story)
    assert report.duplicates == 0
    growing = story.replicas[: story.replicas.index(MOST) + 1]
    shrinking = story.replicas[story.replicas.index(MOST) :]
    assert (growing, shrinking) == (sorted(set(growing)), sorted(set(shrinking), reverse=True)), story
    assert len(story.replicas) <= 5, story
    assert release.processor.restarts() == 0
