"""kubectl with typed calls: objects are dicts, and a failed wait shows the state of the cluster."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from devkit.kubectl_proxy import RequestFailed, path_of, proxy

POLL_S = 0.2
LOG_LINES = 60
MAX_LINES = 150
MAX_LINE_LENGTH = 400
"""The limits of the output of each command in the message of a failure: a program may be long."""
T = TypeVar("T")
Resource = dict[str, Any]


class KubectlFailed(AssertionError):
    """kubectl ended with an error. `output` is what it printed."""

    def __init__(self, command: str, output: str) -> None:
        super().__init__(f"{command}: {output}")
        self.output = output


def is_ready(pod: Resource) -> bool:
    """Whether a pod is ready, as the API server knows it."""
    conditions = pod["status"].get("conditions", [])
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def program() -> str:
    """The path of the kubectl of the test cluster, or of the one on the PATH."""
    own = Path(sys.prefix, "share/lsql-runner/cluster-tools/bin/kubectl")
    path = str(own) if own.exists() else shutil.which("kubectl")
    if path is None:
        raise FileNotFoundError("kubectl is neither on the PATH nor built: run `python -m ci.tools.cluster_tools`")
    return path


@dataclass(frozen=True)
class Kubectl:
    """A cluster and the namespace that calls use."""

    kubeconfig: Path
    namespace: str = "default"
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    def within(self, namespace: str) -> Kubectl:
        """The same cluster with another namespace."""
        return Kubectl(self.kubeconfig, namespace, self.environment)

    def run(self, *arguments: str | Path, stdin: str | None = None, deadline_s: float = 120) -> str:
        """Run kubectl; returns its output. Raises KubectlFailed if it ends with an error."""
        argv = [program(), "--kubeconfig", str(self.kubeconfig), "--namespace", self.namespace, *map(str, arguments)]
        result = subprocess.run(
            argv, input=stdin, capture_output=True, text=True, check=False, timeout=deadline_s, env=self.environment
        )
        if result.returncode:
            raise KubectlFailed(f"kubectl {' '.join(argv[5:11])}", result.stderr.strip() or result.stdout.strip())
        return result.stdout

    def find(self, kind: str, name: str) -> Resource | None:
        """An object, or None if it does not exist."""
        path = path_of(kind, self.namespace, name)
        if path is None:
            said = self.run("get", kind, name, "--ignore-not-found", "--output=json")
            return _object(said) if said.strip() else None
        try:
            return _object(self._read(path))
        except RequestFailed as error:
            if error.is_missing:
                return None
            raise _failed(path, error) from None

    def get(self, kind: str, name: str) -> Resource:
        """An object. Raises KubectlFailed if it does not exist."""
        path = path_of(kind, self.namespace, name)
        return _object(self.raw(path) if path else self.run("get", kind, name, "--output=json"))

    def list(self, kind: str, selector: str = "") -> Sequence[Resource]:
        """All objects of a kind that match the selector."""
        path = path_of(kind, self.namespace, selector=selector)
        said = self.raw(path) if path else self.run("get", kind, f"--selector={selector}", "--output=json")
        items: Sequence[Resource] = _object(said)["items"]
        return items

    def raw(self, path: str) -> str:
        """The response to GET path of the API server. Raises KubectlFailed if it is not a success."""
        try:
            return self._read(path)
        except RequestFailed as error:
            raise _failed(path, error) from None

    def _read(self, path: str) -> str:
        return proxy(program(), self.kubeconfig).get(path)

    def apply(self, *objects: Resource) -> None:
        """Create or change objects."""
        self.run("apply", "--filename=-", stdin=_listed(objects))

    def create(self, *objects: Resource, dry_run: bool = False) -> str:
        """Create objects; with `dry_run` the server only validates them. Returns the output of kubectl."""
        return self.run("create", *["--dry-run=server"] * dry_run, "--filename=-", stdin=_listed(objects))

    def delete(self, kind: str, name: str, *options: str) -> None:
        """Delete an object if it exists; returns when it is gone."""
        self.run("delete", kind, name, "--ignore-not-found", *options)

    def patch(self, kind: str, name: str, change: Resource) -> None:
        """Merge a change into an object."""
        self.run("patch", kind, name, "--type=merge", f"--patch={json.dumps(change)}")

    def exec(self, pod: str, *argv: str) -> str:
        """Run a program in the first container of a pod; returns its output."""
        return self.run("exec", pod, "--", *argv)

    def logs(self, pod: str, *options: str) -> str:
        """The logs of all containers of a pod."""
        return self.run("logs", pod, "--all-containers", *options)

    def wait_until(self, probe: Callable[[], T], deadline_s: float, condition: str) -> T:
        """The first true result of `probe`; a KubectlFailed of `probe` means not yet.

        AssertionError, with `condition` and the events, pods and logs of the namespace, after the deadline.
        """
        deadline = time.monotonic() + deadline_s
        while True:
            try:
                last: object = probe()
                if last:
                    return last  # type: ignore[return-value]  # the type of the probe's result
            except KubectlFailed as error:
                last = error
            if time.monotonic() > deadline:
                raise AssertionError(
                    f"{condition}: not within {deadline_s} s (last: {last!s:.2000})\n{self.describe()}"
                )
            time.sleep(POLL_S)

    def describe(self) -> str:
        """The objects, events and pods of the namespace, with the ends of their logs."""
        commands = [
            ("get", "all,pvc", "--output=wide"),
            ("get", "events", "--sort-by=.lastTimestamp"),
            ("describe", "pods"),
        ]
        parts = [self._shown(*arguments) for arguments in commands]
        for pod in self._shown("get", "pods", "--output=name").split():
            log = ("logs", pod, f"--tail={LOG_LINES}", "--prefix")
            # Not of all containers: an init container has no earlier run, which kubectl refuses.
            parts += [self._shown(*log, "--previous"), self._shown(*log, "--all-containers")]
        return "\n\n".join(parts)

    def _shown(self, *arguments: str) -> str:
        try:
            lines = self.run(*arguments).splitlines()
            return "\n".join(_shortened(line) for line in lines[-MAX_LINES:])
        except (KubectlFailed, subprocess.TimeoutExpired) as error:
            return str(error)


def _object(said: str) -> Resource:
    resource: Resource = json.loads(said)
    return resource


def _failed(path: str, error: RequestFailed) -> KubectlFailed:
    return KubectlFailed(f"GET {path}", str(error))


def _shortened(line: str) -> str:
    return f"{line[:MAX_LINE_LENGTH]}..." if len(line) > MAX_LINE_LENGTH else line


def _listed(objects: Sequence[Resource]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
