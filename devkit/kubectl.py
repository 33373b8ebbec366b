"""kubectl, typed: objects as dicts in and out, and a wait that shows what the cluster knows when it fails."""

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

POLL_S = 0.2
LOG_LINES = 60
LINES = 150
LINE = 400
"""What a failure shows of each thing at most: a program may be long."""
T = TypeVar("T")
Resource = dict[str, Any]


class KubectlFailed(AssertionError):
    """kubectl ended with an error; `said` is what it wrote."""

    def __init__(self, command: str, said: str) -> None:
        super().__init__(f"{command}: {said}")
        self.said = said


def program() -> str:
    """The kubectl of the test cluster, or the one on the PATH."""
    own = Path(sys.prefix, "share/lsql-runner/cluster-tools/bin/kubectl")
    found = str(own) if own.exists() else shutil.which("kubectl")
    if found is None:
        raise FileNotFoundError("kubectl is neither on the PATH nor built: run `python -m ci.tools.cluster_tools`")
    return found


@dataclass(frozen=True)
class Kubectl:
    """One cluster, seen from one namespace."""

    kubeconfig: Path
    namespace: str = "default"
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    def within(self, namespace: str) -> Kubectl:
        """The same cluster from another namespace."""
        return Kubectl(self.kubeconfig, namespace, self.environment)

    def run(self, *arguments: str | Path, stdin: str | None = None, deadline_s: float = 120) -> str:
        """Runs kubectl and returns its output; KubectlFailed if it ends with an error."""
        argv = [program(), "--kubeconfig", str(self.kubeconfig), "--namespace", self.namespace, *map(str, arguments)]
        result = subprocess.run(
            argv, input=stdin, capture_output=True, text=True, check=False, timeout=deadline_s, env=self.environment
        )
        if result.returncode:
            raise KubectlFailed(f"kubectl {' '.join(argv[5:11])}", result.stderr.strip() or result.stdout.strip())
        return result.stdout

    def find(self, kind: str, name: str) -> Resource | None:
        """An object, or None if there is none of that name."""
        said = self.run("get", kind, name, "--ignore-not-found", "--output=json")
        found: Resource | None = json.loads(said) if said.strip() else None
        return found

    def get(self, kind: str, name: str) -> Resource:
        """An object; KubectlFailed if there is none of that name."""
        found: Resource = json.loads(self.run("get", kind, name, "--output=json"))
        return found

    def list(self, kind: str, selector: str = "") -> Sequence[Resource]:
        """All objects of a kind that have the labels."""
        found: Sequence[Resource] = json.loads(self.run("get", kind, f"--selector={selector}", "--output=json"))[
            "items"
        ]
        return found

    def raw(self, path: str) -> str:
        """What the API answers to GET path; KubectlFailed for anything but a success."""
        return self.run("get", "--raw", path)

    def apply(self, *objects: Resource) -> None:
        """Makes or changes objects."""
        self.run("apply", "--filename=-", stdin=_listed(objects))

    def create(self, *objects: Resource, dry_run: bool = False) -> str:
        """Makes objects; with `dry_run` the server judges them and keeps nothing. Returns what kubectl wrote."""
        return self.run("create", *["--dry-run=server"] * dry_run, "--filename=-", stdin=_listed(objects))

    def delete(self, kind: str, name: str, *options: str) -> None:
        """Deletes an object and returns when it is gone; one that is not there is fine."""
        self.run("delete", kind, name, "--ignore-not-found", *options)

    def patch(self, kind: str, name: str, change: Resource) -> None:
        """Merges a change into an object."""
        self.run("patch", kind, name, "--type=merge", f"--patch={json.dumps(change)}")

    def exec(self, pod: str, *argv: str) -> str:
        """Runs a program in a pod's first container and returns its output."""
        return self.run("exec", pod, "--", *argv)

    def logs(self, pod: str, *options: str) -> str:
        """What a pod's containers wrote."""
        return self.run("logs", pod, "--all-containers", *options)

    def wait_until(self, probe: Callable[[], T], deadline_s: float, what: str) -> T:
        """Returns the first true answer of `probe`, whose KubectlFailed means not yet.

        AssertionError, with events, pods and logs of the namespace, if there is none in time.
        """
        deadline = time.monotonic() + deadline_s
        while True:
            try:
                last: object = probe()
                if last:
                    return last  # type: ignore[return-value]  # it is what the probe answered
            except KubectlFailed as error:
                last = error
            if time.monotonic() > deadline:
                raise AssertionError(f"{what}: not within {deadline_s} s (last: {last!s:.2000})\n{self.describe()}")
            time.sleep(POLL_S)

    def describe(self) -> str:
        """The namespace's objects, events, pods and the ends of their logs."""
        commands = [
            ("get", "all,pvc", "--output=wide"),
            ("get", "events", "--sort-by=.lastTimestamp"),
            ("describe", "pods"),
        ]
        parts = [self._shown(*arguments) for arguments in commands]
        for pod in self._shown("get", "pods", "--output=name").split():
            log = ("logs", pod, "--all-containers", f"--tail={LOG_LINES}", "--prefix")
            parts += [self._shown(*log, "--previous"), self._shown(*log)]
        return "\n\n".join(parts)

    def _shown(self, *arguments: str) -> str:
        try:
            lines = self.run(*arguments).splitlines()
            return "\n".join(f"{line[:LINE]}..." if len(line) > LINE else line for line in lines[-LINES:])
        except (KubectlFailed, subprocess.TimeoutExpired) as error:
            return str(error)


def _listed(objects: Sequence[Resource]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
