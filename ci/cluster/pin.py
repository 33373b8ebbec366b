"""Writes the go.mod and go.sum of `kubernetes`, which pin the sources of Kubernetes.

    python -m ci.cluster.pin          writes them for the version below

`go install` cannot build Kubernetes, because its go.mod replaces the modules of its staging folder by that folder. Each
of these modules is also published, as v0.X.Y for Kubernetes v1.X.Y, and this go.mod replaces them by the published
ones.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KUBERNETES = "v1.34.4"
PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "kubectl")
GO_ENV = {**os.environ, "GOFLAGS": "-buildvcs=false", "GOTOOLCHAIN": "local"}


def main() -> None:
    """Make `kubernetes` a Go module that builds the programs as upstream does."""
    folder, module = HERE / "kubernetes", "k8s.io/kubernetes"
    folder.mkdir(exist_ok=True)
    for name in ("go.mod", "go.sum"):
        (folder / name).unlink(missing_ok=True)
    packages = [f"{module}/cmd/{name}" for name in PROGRAMS]
    upstream = go_json("mod", "edit", "-json", go_json("mod", "download", "-json", f"{module}@{KUBERNETES}")["GoMod"])
    language = ".".join(upstream["Go"].split(".")[:2])
    lines = [
        f"module lsql-runner/ci/cluster/{folder.name}",
        f"go {upstream['Go']}",
        # The Go version of the upstream release determines the behaviour, whichever Go builds it.
        f"godebug default=go{language}",
        *(f"tool {package}" for package in packages),
        f"require {module} {KUBERNETES}",
        *(replacement(entry, KUBERNETES) for entry in upstream.get("Replace") or []),
    ]
    (folder / "go.mod").write_text("\n\n".join(lines) + "\n")
    # Not `go mod tidy`, which would download the dependencies of all tests.
    subprocess.run(
        ["go", "-C", folder, "get", *(f"{package}@{KUBERNETES}" for package in packages)], env=GO_ENV, check=True
    )
    subprocess.run(["go", "-C", folder, "mod", "edit", "-fmt"], env=GO_ENV, check=True)


def replacement(entry: dict[str, Any], version: str) -> str:
    """A replace line of the other module, in a form that is valid outside of its tree."""
    old, new = entry["Old"]["Path"], entry["New"]
    if new["Path"].startswith("./"):
        return f"replace {old} => {old} v0.{version.removeprefix('v1.')}"
    return f"replace {old} => {new['Path']} {new['Version']}"


def go_json(*arguments: str) -> Any:
    """The output of a go command as JSON."""
    return json.loads(subprocess.check_output(["go", *arguments], env=GO_ENV, cwd="/"))


if __name__ == "__main__":
    main()
