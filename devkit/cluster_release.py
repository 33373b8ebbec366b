"""Installs releases with Helm 3 or 4, and reads the state of their processors from the cluster."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devkit.helm import CHART
from devkit.kubectl import Kubectl, KubectlFailed, Resource, is_ready

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
    raise SystemExit("no such process")
"""
"""A Python program for a pod without a shell. Arguments: the beginning of a process name and the number of a signal. It
sends the signal to the first process with such a name."""

POST = "import sys, urllib.request as url; url.urlopen(url.Request(sys.argv[1], method='POST'))"
"""A Python program for a pod. Argument: the URL of a POST request."""

Values = Mapping[str, Any]
Stream = dict[str, Any]


class HelmFailed(AssertionError):
    """Helm ended with an error.

    `output` is what it printed; for an install or upgrade also the state of the namespace.
    """

    def __init__(self, command: str, output: str) -> None:
        super().__init__(f"{command}: {output}")
        self.command = command
        self.output = output


@dataclass(frozen=True)
class Helm:
    """One version of Helm, in one namespace."""

    executable: Path
    kubectl: Kubectl
    home: Path
    """A folder for Helm's caches, so that the settings of the user have no effect."""
    chart: Path = CHART

    def install(self, name: str, values: Values, *options: str) -> InstalledProcessor:
        """Install a release; returns when its pod is ready."""
        self._apply("install", name, values, *options)
        return InstalledProcessor(self.kubectl, name)

    def install_without_wait(self, name: str, values: Values) -> InstalledProcessor:
        """Install a release; returns when its objects exist."""
        self.run("install", name, self.chart, "--values=-", stdin=json.dumps(values))
        return InstalledProcessor(self.kubectl, name)

    def upgrade(self, name: str, values: Values, *options: str) -> None:
        """Upgrade a release to exactly these values; returns when the new pod is ready."""
        self._apply("upgrade", name, values, *options)
        self._await_rollout(name)

    def upgrade_without_wait(self, name: str, values: Values) -> None:
        """Upgrade a release to exactly these values; returns when its objects have changed."""
        self.run("upgrade", name, self.chart, "--values=-", stdin=json.dumps(values))

    def rollback(self, name: str, revision: int) -> None:
        """Roll a release back to a revision; returns when the pod of that revision is ready."""
        self.run("rollback", name, str(revision), "--wait", f"--timeout={TIMEOUT_S}s")
        self._await_rollout(name)

    def uninstall(self, name: str) -> None:
        """Uninstall a release; returns when its pod is gone."""
        self.run("uninstall", name, "--wait", f"--timeout={TIMEOUT_S}s")

    def test(self, name: str) -> None:
        """Run the test pod of a release."""
        self.run("test", name, f"--timeout={TIMEOUT_S}s")

    def template(self, name: str, *options: str | Path) -> str:
        """The objects of a release as YAML, including hooks."""
        return self.run("template", name, self.chart, *options)

    def revision(self, name: str) -> int:
        """The number of the newest revision of a release."""
        return int(json.loads(self.run("history", name, "--max=1", "--output=json"))[-1]["revision"])

    def run(self, *arguments: str | Path, stdin: str | None = None) -> str:
        """Run Helm; returns its output. Raises HelmFailed, with Helm's output, if it ends with an error."""
        argv = [str(self.executable), *map(str, arguments), f"--namespace={self.kubectl.namespace}"]
        folders = {name: str(self.home) for name in ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME")}
        env = {**os.environ, **folders, "KUBECONFIG": str(self.kubectl.kubeconfig)}
        result = subprocess.run(
            argv, input=stdin, capture_output=True, text=True, check=False, env=env, timeout=TIMEOUT_S + 60
        )
        if result.returncode:
            raise HelmFailed(f"{self.executable.name} {' '.join(argv[1:4])}", result.stderr + result.stdout)
        return result.stdout

    def _await_rollout(self, name: str) -> None:
        """Wait until the workload has the new pod. Helm may look before a controller has seen the change."""
        for kind in ("statefulset", "deployment"):
            if self.kubectl.find(kind, name):
                wait = f"--timeout={TIMEOUT_S}s"
                self.kubectl.run("rollout", "status", f"{kind}/{name}", wait, deadline_s=TIMEOUT_S + 60)

    def _apply(self, action: str, name: str, values: Values, *options: str) -> None:
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
            raise HelmFailed(error.command, f"{error.output}\n{self.kubectl.describe()}") from None


@dataclass(frozen=True)
class InstalledProcessor:
    """The processor of a release: its pod, and its REST API through the proxy of the API server."""

    kubectl: Kubectl
    name: str

    def pods(self) -> Sequence[Resource]:
        """The pods that are not being deleted."""
        pods = self.kubectl.list("pods", f"app={self.name},lenses=lenses-processor")
        return [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]

    def pod(self) -> Resource:
        """The only pod."""
        pods = self.pods()
        assert len(pods) == 1, [pod["metadata"]["name"] for pod in pods]
        return pods[0]

    def uid(self) -> str:
        """The uid of the pod; the next pod with the same name has another uid."""
        return str(self.pod()["metadata"]["uid"])

    def container(self) -> Resource:
        """The state of the runner's container; empty if there is none yet."""
        containers = self.pod()["status"].get("containerStatuses") or [{}]
        return dict(containers[0])

    def restarts(self) -> int:
        """The number of restarts of the container."""
        return int(self.container().get("restartCount", 0))

    def is_ready(self) -> bool:
        """Whether the pod is ready."""
        pods = self.pods()
        return len(pods) == 1 and is_ready(pods[0])

    def await_ready(self, deadline_s: float = READY_S) -> None:
        """Wait until the pod is ready."""
        self.kubectl.wait_until(self.is_ready, deadline_s, f"{self.name} is ready")

    def await_restart(self, restarts: int, deadline_s: float = READY_S) -> None:
        """Wait until the container has more than `restarts` restarts and is ready."""
        self.kubectl.wait_until(
            lambda: self.restarts() > restarts and self.is_ready(), deadline_s, f"{self.name} has restarted"
        )

    def await_other_pod(self, uid: str, deadline_s: float = READY_S) -> None:
        """Wait until a pod with another uid is ready."""
        self.kubectl.wait_until(
            lambda: len(self.pods()) == 1 and self.uid() != uid and self.is_ready(), deadline_s, "a new pod is ready"
        )

    def stream(self) -> Stream:
        """GET /stream. Raises KubectlFailed while the processor does not respond."""
        document: Stream = self.get("/stream")
        return document

    def get(self, path: str) -> Any:
        """The response to a GET request without a token. Raises KubectlFailed as `stream`."""
        pod = self.pod()["metadata"]["name"]
        return json.loads(self.kubectl.raw(f"/api/v1/namespaces/{self.kubectl.namespace}/pods/{pod}:8083/proxy{path}"))

    def post(self, path: str) -> None:
        """Send a POST request without a token from the container. Raises KubectlFailed if it is refused."""
        self.kubectl.exec(self.pod()["metadata"]["name"], "python", "-c", POST, f"http://127.0.0.1:8083{path}")

    def signal(self, name: str, number: int = 9) -> None:
        """Send a signal to the first process in the container whose name begins with `name`."""
        try:
            self.kubectl.exec(self.pod()["metadata"]["name"], "python", "-c", SIGNAL, name, str(number))
        except KubectlFailed as error:
            if "no such process" in error.output:
                raise  # any other error may be the intended end of the container
