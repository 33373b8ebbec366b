"""Builds KEDA for the tests: its operator, metrics server and admission webhook from a pinned Go module.

Run as `python -m ci.tools.keda`, after set-up. ci/keda/go.mod and go.sum pin the version. The programs, and the objects
with which the project of KEDA deploys them, go into the cache that clones share;
`.venv/share/lsql-runner/keda` is a link to them.
"""

import shutil
import subprocess
from pathlib import Path

from ci.tools.cache import ROOT, cached_folder, hash_of
from ci.tools.go import GO_ENV, check_go, go_build, program_name, required_go

MODULE = ROOT / "ci/keda"
OVERLAY = MODULE / "kustomization.yaml"
PINS = [MODULE / "go.mod", MODULE / "go.sum"]
KEDA = "github.com/kedacore/keda/v2"
PROGRAMS = {
    "keda": f"{KEDA}/cmd/operator",
    "keda-adapter": f"{KEDA}/cmd/adapter",
    "keda-admission-webhooks": f"{KEDA}/cmd/webhooks",
}
"""The names of the programs in KEDA's images, and their packages."""


def build(staging: Path) -> None:
    """Fill `<staging>/bin` with the programs, and `<staging>` with a kustomization that deploys them."""
    check_go(required_go([(MODULE / "go.mod").read_text()]))
    print("takes many minutes the first time", flush=True)
    programs = staging / "bin"
    programs.mkdir()
    go_build(MODULE, programs, {package: [] for package in PROGRAMS.values()})
    for name, package in PROGRAMS.items():
        (programs / program_name(package)).rename(programs / name)
    shutil.copyfile(OVERLAY, staging / OVERLAY.name)
    copy_objects(module_folder() / "config", staging / "config")


def module_folder() -> Path:
    """The folder of the pinned module, which a build has downloaded."""
    argv = ["go", "list", "-m", "-f", "{{.Dir}}", KEDA]
    result = subprocess.run(argv, cwd=MODULE, env=GO_ENV, check=True, stdout=subprocess.PIPE, text=True)
    return Path(result.stdout.strip())


def copy_objects(source: Path, target: Path) -> None:
    """Copy the YAML files below a folder. The module's files and their folders are read-only."""
    for file in source.rglob("*.yaml"):
        copy = target / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)


def main() -> None:
    """Build what the cache does not have."""
    print("KEDA: ", end="", flush=True)
    key = hash_of([*PINS, OVERLAY, Path(__file__).resolve()])
    print("done" if cached_folder("keda", key, build, lock="go") else "up to date", flush=True)


if __name__ == "__main__":
    main()
