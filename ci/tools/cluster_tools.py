"""Builds a Kubernetes for this machine: its programs from pinned Go modules, and the pause program.

Run as `python -m ci.tools.cluster_tools`, after set-up. The go.mod and go.sum files in ci/cluster and ci/go pin the
versions. The programs are kept in the cache that clones share, by a key of the pins;
`.venv/share/lsql-runner/cluster-tools` is a link to them. etcd, containerd, runc and the CNI plugins are Debian
packages: as root this installs them, as another user it lists the missing ones.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from ci.cluster.pin import KUBERNETES, PROGRAMS
from ci.cluster.prerequisites import GO, faults, missing_packages
from ci.tools import go, go_tools
from ci.tools.cache import ROOT, VENV, cached_folder, hash_of, run
from ci.tools.go import GO_ENV, check_go, go_build, required_go

SOURCES = ROOT / "ci/cluster"
MODULES = ("kubernetes", "crds")
COREDNS = "./coredns"
"""The package of CoreDNS in the module of the chart tools. CoreDNS and the tools use the same Kubernetes client."""
CRDS = (
    (
        "github.com/prometheus-operator/prometheus-operator",
        "example/prometheus-operator-crd",
        ("servicemonitors", "podmonitors", "prometheusrules"),
    ),
    ("sigs.k8s.io/gateway-api", "config/crd/standard", ("httproutes",)),
    ("github.com/kedacore/keda/v2", "config/crd/bases", ("scaledobjects",)),
)
"""Modules, their folders, and the kinds whose CustomResourceDefinitions (CRDs) are copied from there."""
PAUSE = SOURCES / "pause/pause.c"
FOLDER = VENV / "share/lsql-runner/cluster-tools"


def kubernetes_variables() -> list[str]:
    """The linker's arguments for the version of the programs; without them a chart's `kubeVersion` is compared with
    0.0.0.
    """
    package = "k8s.io/component-base/version"
    major, minor, _ = KUBERNETES.removeprefix("v").split(".")
    variables = {"gitVersion": KUBERNETES, "gitMajor": major, "gitMinor": minor}
    return [f"-X {package}.{name}={value}" for name, value in variables.items()]


def build(staging: Path) -> None:
    """Fill `<staging>/bin` with the programs, including pause, and `<staging>/crds` with the CRDs."""
    pins = [(SOURCES / module / "go.mod").read_text() for module in MODULES]
    check_go(max(GO, required_go([*pins, (go_tools.MODULE / "go.mod").read_text()])))
    print(f"Kubernetes {KUBERNETES} and CoreDNS; takes some minutes the first time", flush=True)
    target = staging / "bin"
    target.mkdir()
    variables = kubernetes_variables()
    go_build(SOURCES / "kubernetes", target, {f"k8s.io/kubernetes/cmd/{name}": variables for name in PROGRAMS})
    go_build(go_tools.MODULE, target, {COREDNS: []})
    run(["gcc", "-Os", "-static", "-o", target / "pause", PAUSE], show=False)
    copy_crds(staging / "crds")


def copy_crds(target: Path) -> None:
    """Fill a folder with the CRDs of the operators whose objects the charts create."""
    target.mkdir()
    for module, folder, kinds in CRDS:
        said = subprocess.run(
            ["go", "mod", "download", "-json", module],
            cwd=SOURCES / "crds",
            env=GO_ENV,
            check=False,
            capture_output=True,
            text=True,
        )
        if said.returncode:
            raise SystemExit(f"{said.stdout}{said.stderr}\nthe download of {module} failed")
        source = Path(json.loads(said.stdout)["Dir"], folder)
        for kind in kinds:
            (target / f"{kind}.yaml").write_bytes(next(source.glob(f"*_{kind}.yaml")).read_bytes())


def install_packages() -> None:
    """Install missing Debian packages; only as root."""
    missing = missing_packages()
    if not missing or os.geteuid() != 0:
        return
    print(f"apt-get install {' '.join(missing)}", flush=True)
    quiet = ["-o", "Dpkg::Use-Pty=0", "-qq"]
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    run(["apt-get", *quiet, "update"], show=False)
    run(["apt-get", *quiet, "install", "--yes", "--no-install-recommends", *missing], show=False)


def pins_key() -> str:
    """The key of the cached programs: the pins, our sources, and our code that chooses the flags."""
    pins = [SOURCES / module / name for module in MODULES for name in ("go.mod", "go.sum")]
    sources = [go_tools.MODULE / COREDNS / "main.go", PAUSE, Path(__file__).resolve(), Path(go.__file__)]
    return hash_of([*pins, *go_tools.PINS, *sources])


def main() -> None:
    """Install and build what is missing. Reports all problems of the machine and exits with 2."""
    problems = faults(ignore_packages=os.geteuid() == 0)
    if not problems:
        install_packages()
        problems = faults()
    if problems:
        print("this machine cannot run the test cluster:", *problems, sep="\n  - ", file=sys.stderr)
        sys.exit(2)
    print("Programs of the test cluster: ", end="", flush=True)
    print("done" if cached_folder("cluster-tools", pins_key(), build, lock="go") else "up to date", flush=True)


if __name__ == "__main__":
    main()
