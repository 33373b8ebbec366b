"""Helm, either one, and the processor that a release runs, seen from outside."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devkit.helm import CHART
from devkit.kubectl import Kubectl, KubectlFailed, Resource

TIMEOUT_S = 150
READY_S = 180

SIGNAL = """
import os, sys
for pid in filter(str.isdigit, os.listdir("/proc")):
    with open(f"/proc/{pid}/comm") as comm:
        if int(pid) != os.getpid() and comm.read().strip().startswith(sys.argv[1]):
            os.kill(int(pid), int(sys.argv[2]))
            break
else:
    raise SystemExit("no such program")
"""
"""A program for a pod without a shell: sends a signal to the first process whose name begins so."""

Values = Mapping[str, Any]
Stream = dict[str, Any]


class HelmFailed(AssertionError):
    """Helm ended with an error; `said` is what it wrote."""

    def __init__(self, command: str, said: str) -> None:
        super().__init__(f"{command}: {said}")
        self.said = said


@dataclass(frozen=True)
class Helm:
    """One Helm, at work in one namespace."""

    program: Path
    kubectl: Kubectl
    home: Path
    """A folder for Helm's own caches, so that the user's settings play no part."""
    chart: Path = CHART

    def install(self, name: str, values: Values, *options: str) -> Processor:
        """Installs a release and returns when its pod is ready."""
        self._put("install", name, values, *options)
        return Processor(self.kubectl, name)

    def install_unawaited(self, name: str, values: Values) -> Processor:
        """Installs a release and returns when its objects are there."""
        self.run("install", name, self.chart, "--values=-", stdin=json.dumps(values))
        return Processor(self.kubectl, name)

    def upgrade(self, name: str, values: Values, *options: str) -> None:
        """Upgrades a release to exactly these values, and returns when its new pod is ready."""
        self._put("upgrade", name, values, *options)
        self._await_rollout(name)

    def rollback(self, name: str, revision: int) -> None:
        """Takes a release back to a revision, and returns when that one's pod is ready."""
        self.run("rollback", name, str(revision), "--wait", f"--timeout={TIMEOUT_S}s")
        self._await_rollout(name)

    def uninstall(self, name: str) -> None:
        """Uninstalls a release and returns when its pod is gone."""
        self.run("uninstall", name, "--wait", f"--timeout={TIMEOUT_S}s")

    def test(self, name: str) -> None:
        """Runs the release's test pod."""
        self.run("test", name, f"--timeout={TIMEOUT_S}s")

    def template(self, name: str, *options: str | Path) -> str:
        """The objects of a release, as YAML, hooks among them."""
        return self.run("template", name, self.chart, *options)

    def revision(self, name: str) -> int:
        """The number of a release's newest revision."""
        return int(json.loads(self.run("history", name, "--max=1", "--output=json"))[-1]["revision"])

    def run(self, *arguments: str | Path, stdin: str | None = None) -> str:
        """Runs Helm and returns its output; HelmFailed, with what the cluster knows, if it ends with an error."""
        argv = [str(self.program), *map(str, arguments), f"--namespace={self.kubectl.namespace}"]
        folders = {name: str(self.home) for name in ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME")}
        env = {**os.environ, **folders, "KUBECONFIG": str(self.kubectl.kubeconfig)}
        result = subprocess.run(
            argv, input=stdin, capture_output=True, text=True, check=False, env=env, timeout=TIMEOUT_S + 60
        )
        if result.returncode:
            raise HelmFailed(f"{self.program.name} {' '.join(argv[1:4])}", result.stderr + result.stdout)
        return result.stdout

    def _await_rollout(self, name: str) -> None:
        """Returns when the workload has its new pod: Helm may look before a controller has seen the change."""
        for kind in ("statefulset", "deployment"):
            if self.kubectl.find(kind, name):
                wait = f"--timeout={TIMEOUT_S}s"
                self.kubectl.run("rollout", "status", f"{kind}/{name}", wait, deadline_s=TIMEOUT_S + 60)

    def _put(self, action: str, name: str, values: Values, *options: str) -> None:
        arguments: list[str | Path] = [
            action,
            name,
            self.chart,
            "--values=-",
            "--wait",
            f"--timeout={TIMEOUT_S}s",
            *options,
        ]
        try:
            self.run(*arguments, stdin=json.dumps(values))
        except HelmFailed as error:
            raise HelmFailed(f"{error}\n", f"{error.said}\n{self.kubectl.describe()}") from None


@dataclass(frozen=True)
class Processor:
    """The processor of a release: its pod, and what it says of itself through the API server's proxy."""

    kubectl: Kubectl
    name: str

    def pods(self) -> Sequence[Resource]:
        """The pods that are not on their way out."""
        found = self.kubectl.list("pods", f"app={self.name},lenses=lenses-processor")
        return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]

    def pod(self) -> Resource:
        """Its one pod."""
        pods = self.pods()
        assert len(pods) == 1, [pod["metadata"]["name"] for pod in pods]
        return pods[0]

    def uid(self) -> str:
        """The uid of its pod, which the next pod of the same name does not have."""
        return str(self.pod()["metadata"]["uid"])

    def container(self) -> Resource:
        """The state of the runner's container; empty before there is one."""
        found = self.pod()["status"].get("containerStatuses") or [{}]
        return dict(found[0])

    def restarts(self) -> int:
        """How often the container was started again."""
        return int(self.container().get("restartCount", 0))

    def is_ready(self) -> bool:
        """Whether its pod is ready."""
        pods = self.pods()
        conditions = pods[0]["status"].get("conditions", []) if len(pods) == 1 else []
        return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)

    def await_ready(self, deadline_s: float = READY_S) -> None:
        """Returns when its pod is ready."""
        self.kubectl.wait_until(self.is_ready, deadline_s, f"{self.name} is ready")

    def await_restart(self, restarts: int, deadline_s: float = READY_S) -> None:
        """Returns when the container was started again more often than that, and is ready."""
        self.kubectl.wait_until(
            lambda: self.restarts() > restarts and self.is_ready(), deadline_s, f"{self.name} has restarted"
        )

    def await_other_pod(self, uid: str, deadline_s: float = READY_S) -> None:
        """Returns when another pod than this one is ready."""
        self.kubectl.wait_until(
            lambda: len(self.pods()) == 1 and self.uid() != uid and self.is_ready(), deadline_s, "a new pod is ready"
        )

    def stream(self) -> Stream:
        """GET /stream; KubectlFailed while it does not answer."""
        pod = self.pod()["metadata"]["name"]
        path = f"/api/v1/namespaces/{self.kubectl.namespace}/pods/{pod}:8083/proxy/stream"
        found: Stream = json.loads(self.kubectl.raw(path))
        return found

    def signal(self, program: str, number: int = 9) -> None:
        """Sends a signal to the program of that name in the container, as a process there could."""
        try:
            self.kubectl.exec(self.pod()["metadata"]["name"], "python", "-c", SIGNAL, program, str(number))
        except KubectlFailed as error:
            if "no such program" in error.said:
                raise  # any other error may be the end of the container, as intended
