"""Builds what a Kubernetes on this machine is made of: its programs from pinned Go modules, and the pause image.

Run as `python -m ci.tools.cluster_tools`, after set-up. The pins are ci/cluster/*/go.mod and go.sum; what is built goes
into the cache that clones share, keyed by the pins, and `.venv/share/lsql-runner/cluster-tools` leads there. etcd,
containerd, runc and the CNI plugins are Debian's packages: root has them installed, others are told which are missing.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from ci.cluster.pin import COREDNS, KUBERNETES, PROGRAMS
from ci.cluster.prerequisites import GO, faults, missing_packages
from ci.tools import go
from ci.tools.go import GO_ENV, check_go, go_build, wanted_go
from ci.tools.setup import ROOT, VENV, cached_folder, hash_of, run

SOURCES = ROOT / "ci/cluster"
MODULES = ("kubernetes", "coredns", "crds")
DEFINITIONS = (
    (
        "github.com/prometheus-operator/prometheus-operator",
        "example/prometheus-operator-crd",
        ("servicemonitors", "podmonitors", "prometheusrules"),
    ),
    ("sigs.k8s.io/gateway-api", "config/crd/standard", ("httproutes",)),
)
"""Modules, their folders, and the kinds whose definitions are taken from there."""
PAUSE = SOURCES / "pause/pause.c"
FOLDER = VENV / "share/lsql-runner/cluster-tools"


def kubernetes_variables() -> list[str]:
    """The linker's arguments for the programs' version: without it a chart's `kubeVersion` sees 0.0.0."""
    package = "k8s.io/component-base/version"
    major, minor, _ = KUBERNETES.removeprefix("v").split(".")
    variables = {"gitVersion": KUBERNETES, "gitMajor": major, "gitMinor": minor}
    return [f"-X {package}.{name}={value}" for name, value in variables.items()]


def build(staging: Path) -> None:
    """Fills `<staging>/bin` with the programs, pause among them, and `<staging>/crds` with definitions."""
    pins = [(SOURCES / module / "go.mod").read_text() for module in MODULES]
    check_go(max(GO, wanted_go(pins)))
    print(f"Kubernetes {KUBERNETES} and CoreDNS {COREDNS}; about five minutes, the first time", flush=True)
    target = staging / "bin"
    target.mkdir()
    kubernetes = [f"k8s.io/kubernetes/cmd/{name}" for name in PROGRAMS]
    go_build(SOURCES / "kubernetes", kubernetes, f"{target}/", kubernetes_variables())
    go_build(SOURCES / "coredns", ["."], target / "coredns", name="coredns")
    run(["gcc", "-Os", "-static", "-o", target / "pause", PAUSE], show=False)
    copy_definitions(staging / "crds")


def copy_definitions(target: Path) -> None:
    """Fills a folder with the definitions of the kinds that charts make for what is installed beside them."""
    target.mkdir()
    for module, folder, kinds in DEFINITIONS:
        said = subprocess.run(
            ["go", "mod", "download", "-json", module],
            cwd=SOURCES / "crds",
            env=GO_ENV,
            check=False,
            capture_output=True,
            text=True,
        )
        if said.returncode:
            raise SystemExit(f"{said.stdout}{said.stderr}\nGo did not give {module}")
        source = Path(json.loads(said.stdout)["Dir"], folder)
        for kind in kinds:
            (target / f"{kind}.yaml").write_bytes(next(source.glob(f"*_{kind}.yaml")).read_bytes())


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
    """The key of what is built: the pins, and our code for its flags."""
    pins = [SOURCES / module / name for module in MODULES for name in ("go.mod", "go.sum")]
    return hash_of([*pins, SOURCES / "coredns/main.go", PAUSE, Path(__file__).resolve(), Path(go.__file__)])


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
