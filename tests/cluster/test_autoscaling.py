"""Workers follow the lag, through processor, console, API server, HorizontalPodAutoscaler and Deployment.

Only a cluster has the HPA controller, and the aggregator of the API server with its client certificate. The number of
workers does not change how fast the backlog is read here: small batches bound the rate, so that the backlog lasts.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from devkit.broker import Broker
from devkit.cluster_console import CHART, Console, install_console
from devkit.kubectl import Kubectl, KubectlFailed, Resource
from devkit.release_with_traffic import ReleaseWithTraffic
from tests.cluster.conftest import HelmFactory

API = "/apis/external.metrics.k8s.io/v1beta1"
APISERVICE = "v1beta1.external.metrics.k8s.io"
BACKLOG = 20_000
MOST = 3
POLL_S = 0.5
STEP_S = 150
pytestmark = pytest.mark.timeout(900)

CONNECT = """
import socket, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
try:
    with context.wrap_socket(socket.create_connection(("watch", 8443), 10)) as connection:
        connection.sendall(b"GET /apis/external.metrics.k8s.io/v1beta1 HTTP/1.1\\r\\nHost: watch\\r\\n\\r\\n")
        print("answered" if connection.recv(100) else "closed")
except OSError as error:
    print("refused", error)
"""
"""Connects to the port of external metrics without a client certificate."""


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
        found: int | None = self.stream["scaling"]["wanted"]
        return found

    def joined(self) -> int:
        return sum(not worker["leaving"] for worker in self.stream["workers"] or ())

    def autoscaler(self) -> Resource:
        return self.kubectl.get("hpa", f"{self.release.name}-workers")

    def condition(self, kind: str) -> dict[str, Any]:
        """A condition of the HPA; empty before it has one."""
        conditions = self.autoscaler().get("status", {}).get("conditions", [])
        return next((each for each in conditions if each["type"] == kind), {})

    def __str__(self) -> str:
        rows = [f"| {seconds:.0f} s | {step} |" for seconds, step in self.steps]
        last = {key: self.stream.get(key) for key in ("state", "lag", "scaling", "workers", "error")}
        return "\n".join(
            ["| since the backlog | step |", "|---|---|", *rows, "", f"replicas: {self.replicas}; last: {last}"]
        )


@pytest.fixture
def release(namespace: Kubectl, kafka: Broker, image: str, newest_helm: HelmFactory) -> ReleaseWithTraffic:
    """A release whose workers an HPA scales, with short windows, and batches that make a backlog last."""
    release = ReleaseWithTraffic(newest_helm(namespace), kafka, image, partitions=MOST)
    release.install(
        persistence={"accessModes": ["ReadWriteMany"]},
        processing={"maxRecordsPerBatch": 100},
        workers={"replicas": 1, "threads": 1, "terminationGracePeriodSeconds": 30},
        autoscaling={
            "enabled": True,
            "workerRate": 50,
            "maxReplicas": MOST,
            "target": {"catchUpSeconds": 20},
            "windows": {"downSeconds": 20},
            "cooldownSeconds": 15,
        },
    )
    return release


@pytest.fixture
def console(release: ReleaseWithTraffic) -> Iterator[Console]:
    """The console, as the server of external metrics of the cluster. Without its APIService no namespace is deleted."""
    try:
        yield install_console(release, actions={"scale": True}, externalMetrics={"enabled": True})
    finally:
        replace(release.helm, chart=CHART).run("uninstall", "watch", "--wait")


def test_workers_grow_with_a_backlog_and_shrink_after_it(release: ReleaseWithTraffic, console: Console) -> None:
    story = Story(release)
    kubectl, path = story.kubectl, f"{API}/namespaces/{release.helm.kubectl.namespace}/lsql_workers_wanted"
    story.await_step("the processor has a number, one worker runs", lambda: story.wanted() == story.joined() == 1)
    story.await_step("the HPA has it", lambda: story.condition("ScalingActive").get("status") == "True")
    assert release.await_records().duplicates == 0
    with pytest.raises(KubectlFailed, match="forbidden"):
        kubectl.run("get", "--raw", path, f"--as=system:serviceaccount:{kubectl.namespace}:default")
    said = kubectl.exec(release.processor.pod()["metadata"]["name"], "python", "-c", CONNECT)
    assert said.startswith("refused"), said
    served = {each["name"] for each in json.loads(kubectl.raw(API))["resources"]}
    assert served == {"lsql_workers_wanted", "lsql_lag_records", "lsql_catch_up_seconds"}

    with release.traffic:
        story.began_s, story.steps = time.monotonic(), []
        release.traffic.write(BACKLOG)
        story.await_step(f"{MOST} workers are wanted", lambda: story.wanted() == MOST)
        story.await_step(f"the Deployment has {MOST} replicas", lambda: story.replicas[-1] == MOST)
        story.await_step(f"{MOST} workers run tasks", lambda: story.joined() == MOST)
        [found] = console.streams()
        status, answer = console.request("PUT", f"/api/v1/streams/{found['id']}/scale/1")
        assert (status, answer["code"]) == (409, "SCALED_BY_AUTOSCALER")
        # Without the console the HPA has no number. It keeps the replicas, and says why.
        kubectl.run("scale", "deployment/watch", "--replicas=0")
        story.await_step("without the console, the HPA has no number", lambda: inactive(story))
        assert story.replicas[-1] == MOST
        kubectl.run("scale", "deployment/watch", "--replicas=1")
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


def inactive(story: Story) -> bool:
    condition = story.condition("ScalingActive")
    return (condition.get("status"), condition.get("reason")) == ("False", "FailedGetExternalMetric")
