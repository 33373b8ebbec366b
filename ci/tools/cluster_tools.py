"""Builds what a Kubernetes on this machine is made of: its programs from pinned Go modules, and the pause image.

Run as `python -m ci.tools.cluster_tools`, after set-up. The pins are ci/cluster/*/go.mod and go.sum; what is built goes
into the cache that clones share, keyed by the pins, and `.venv/share/lsql-runner/cluster-tools` leads there. etcd,
containerd, runc and the CNI plugins are Debian's packages: root has them installed, others are told which are missing.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from ci.cluster.pin import COREDNS, KUBERNETES, PROGRAMS
from ci.cluster.prerequisites import GO, faults, missing_packages
from ci.tools.go_tools import check_go
from ci.tools.setup import ROOT, VENV, cached_folder, hash_of, run

SOURCES = ROOT / "ci/cluster"
PAUSE = SOURCES / "pause/pause.c"
FOLDER = VENV / "share/lsql-runner/cluster-tools"


def go_build(module: str, packages: list[str], target: Path, variables: dict[str, str] | None = None) -> None:
    """Compiles main packages of one pinned module into a folder; several at once share what they have in common."""
    flags = ["-s -w", *(f"-X {name}={value}" for name, value in (variables or {}).items())]
    argv = ["go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", " ".join(flags)]
    # A go.work or GOFLAGS of the person who builds must not change what is built under this key.
    env = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": ""}
    began = time.monotonic()
    print(f"  {', '.join(package.rsplit('/', 1)[-1] for package in packages)} ... ", end="", flush=True)
    said = subprocess.run(
        [*argv, "-o", f"{target}/", *packages],
        cwd=SOURCES / module,
        env=env,
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if said.returncode:
        raise SystemExit(f"\n{said.stdout}\nbuilding {module} failed; what Go said is above")
    print(f"{time.monotonic() - began:.0f} s", flush=True)


def kubernetes_variables() -> dict[str, str]:
    """What makes the programs say their version: without it a chart's `kubeVersion` sees 0.0.0."""
    package = "k8s.io/component-base/version"
    major, minor, _ = KUBERNETES.removeprefix("v").split(".")
    return {f"{package}.gitVersion": KUBERNETES, f"{package}.gitMajor": major, f"{package}.gitMinor": minor}


def build(staging: Path) -> None:
    """Fills `<staging>/bin` with the programs, pause among them."""
    pins = [(SOURCES / module / "go.mod").read_text() for module in ("kubernetes", "coredns")]
    versions = [found[1] for text in pins if (found := re.search(r"^go (\S+)", text, re.MULTILINE))]
    check_go(max(tuple(int(part) for part in version.split(".")) for version in [GO, *versions]))
    print(f"Kubernetes {KUBERNETES} and CoreDNS {COREDNS}; about five minutes, the first time", flush=True)
    target = staging / "bin"
    target.mkdir()
    go_build("kubernetes", [f"k8s.io/kubernetes/cmd/{name}" for name in PROGRAMS], target, kubernetes_variables())
    go_build("coredns", ["github.com/coredns/coredns"], target)
    run(["gcc", "-Os", "-static", "-o", target / "pause", PAUSE], show=False)


def install_packages() -> None:
    """Installs the Debian packages that are missing, where that is possible."""
    missing = missing_packages()
    if not missing or os.geteuid() != 0:
        return
    print(f"apt-get install {' '.join(missing)}", flush=True)
    quiet = ["-o", "Dpkg::Use-Pty=0", "-qq"]
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    run(["apt-get", *quiet, "update"], show=False)
    run(["apt-get", *quiet, "install", "--yes", "--no-install-recommends", *missing], show=False)


def pins_key() -> str:
    """The key of what is built: the pins, and this file for its flags."""
    pins = [SOURCES / module / name for module in ("kubernetes", "coredns") for name in ("go.mod", "go.sum")]
    return hash_of([*pins, PAUSE, Path(__file__).resolve()])


def main() -> None:
    """Installs and builds what is missing; says all that stands in the way, and ends with 2."""
    hindrances = faults(but_packages=os.geteuid() == 0)
    if not hindrances:
        install_packages()
        hindrances = faults()
    if hindrances:
        print("this machine cannot run the test cluster:", *hindrances, sep="\n  - ", file=sys.stderr)
        sys.exit(2)
    print("Programs of the test cluster: ", end="", flush=True)
    print("done" if cached_folder("cluster-tools", pins_key(), build, lock="go") else "up to date", flush=True)


if __name__ == "__main__":
    main()
