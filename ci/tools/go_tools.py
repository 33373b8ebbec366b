"""Builds the chart tools (helm 3 and 4, helm-unittest, ct, helm-docs, the values' schema) from pinned Go modules.

Run as `python -m ci.tools.go_tools`, after set-up. The pins are the go.mod and go.sum files of this folder; the
binaries go into the cache that clones share, keyed by the pins, and `.venv/share/lsql-runner/go-tools/bin` leads there.
"""

import os
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from ci.tools.setup import ROOT, cached_folder, hash_of

FOLDER = ROOT / "ci/tools"
MODULES = ("helm", "helm_unittest")


@dataclass(frozen=True)
class Tool:
    """A program of a Go module: what the binary is called here, and which variables the linker sets in it."""

    name: str
    folder: str
    module: str
    package: str
    variables: tuple[tuple[str, str], ...] = ()
    """Go variables and their values; `{version}` is the module's version, `{kube_minor}` Kubernetes' minor."""


# Without these, offline rendering by Helm 3 takes the cluster for Kubernetes 1.20. Helm 4 reads the same figure from
# its build information.
_HELM_3 = (
    ("helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor", "1"),
    ("helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor", "{kube_minor}"),
    ("helm.sh/helm/v3/pkg/lint/rules.k8sVersionMajor", "1"),
    ("helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor", "{kube_minor}"),
)
TOOLS = (
    Tool(
        "helm3",
        "helm",
        "helm.sh/helm/v3",
        "helm.sh/helm/v3/cmd/helm",
        (("helm.sh/helm/v3/internal/version.version", "{version}"), *_HELM_3),
    ),
    Tool(
        "helm4",
        "helm",
        "helm.sh/helm/v4",
        "helm.sh/helm/v4/cmd/helm",
        (("helm.sh/helm/v4/internal/version.version", "{version}"),),
    ),
    Tool(
        "ct",
        "helm",
        "github.com/helm/chart-testing/v3",
        "github.com/helm/chart-testing/v3/ct",
        (("github.com/helm/chart-testing/v3/ct/cmd.Version", "{version}"),),
    ),
    Tool(
        "helm-docs",
        "helm",
        "github.com/norwoodj/helm-docs",
        "github.com/norwoodj/helm-docs/cmd/helm-docs",
        (("main.version", "{version}"),),
    ),
    Tool(
        "helm-values-schema-json",
        "helm",
        "github.com/losisin/helm-values-schema-json/v2",
        "github.com/losisin/helm-values-schema-json/v2",
        (("main.Version", "{version}"),),
    ),
    Tool(
        "helm-unittest",
        "helm_unittest",
        "github.com/helm-unittest/helm-unittest",
        "github.com/helm-unittest/helm-unittest/cmd/helm-unittest",
        _HELM_3,
    ),
)


def pinned_version(go_mod: str, module: str) -> str:
    """Returns the version of a module that the text of a go.mod requires, as `v3.22.0`."""
    found = re.search(rf"^\s*(?:require )?{re.escape(module)} (v\S+)", go_mod, re.MULTILINE)
    if not found:
        raise SystemExit(f"{module} is not required by its go.mod: run `go get -tool` in its folder of ci/tools")
    return found[1]


def linker_flags(tool: Tool, go_mod: str) -> str:
    """Returns the linker's arguments: no symbol tables, and the tool's variables."""
    slots = {
        "version": pinned_version(go_mod, tool.module),
        "kube_minor": pinned_version(go_mod, "k8s.io/client-go").split(".")[1],
    }
    variables = (f"-X {name}={value.format_map(slots)}" for name, value in tool.variables)
    return " ".join(("-s -w", *variables))


def wanted_go(go_mods: list[str]) -> tuple[int, ...]:
    """Returns the oldest Go that can build all the modules, as (1, 26, 0)."""
    return max(_numbers(found[1]) for text in go_mods if (found := re.search(r"^go (\S+)", text, re.MULTILINE)))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", version)[:3])


def check_go(wanted: tuple[int, ...]) -> None:
    """Ends with one line where Go is missing or too old."""
    needed = ".".join(map(str, wanted))
    advice = f"Install: Go {needed} or newer, with `go` on the PATH"
    try:
        said = subprocess.run(["go", "env", "GOVERSION"], cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise SystemExit(f"missing: Go {needed} or newer (go is not on the PATH). {advice}") from None
    if said.returncode or _numbers(said.stdout) < wanted:
        found = (said.stdout or said.stderr).strip().removeprefix("go")
        raise SystemExit(f"missing: Go {needed} or newer (go is {found}). {advice}")


def build_tool(tool: Tool, bin_dir: Path) -> None:
    """Compiles one tool and says how long it took; a failure shows what Go said."""
    module_dir = FOLDER / tool.folder
    flags = linker_flags(tool, (module_dir / "go.mod").read_text())
    argv = ["go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", flags]
    # A go.work or GOFLAGS of the person who builds must not change what is built under this key.
    env = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": ""}
    began = time.monotonic()
    print(f"  {tool.name} ... ", end="", flush=True)
    said = subprocess.run(
        [*argv, "-o", str(bin_dir / tool.name), tool.package],
        cwd=module_dir,
        env=env,
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if said.returncode:
        raise SystemExit(f"\n{said.stdout}\nbuilding {tool.name} failed: `go build {tool.package}`; see above")
    print(f"{time.monotonic() - began:.0f} s", flush=True)


def pins_key() -> str:
    """Returns the key of what the tools are made from: the pins, and this file for its flags."""
    pins = [FOLDER / module / name for module in MODULES for name in ("go.mod", "go.sum")]
    return hash_of([*pins, Path(__file__).resolve()])


def build_all(staging: Path) -> None:
    """Fills `<staging>/bin`."""
    check_go(wanted_go([(FOLDER / module / "go.mod").read_text() for module in MODULES]))
    print("several minutes, the first time", flush=True)
    bin_dir = staging / "bin"
    bin_dir.mkdir()
    for tool in TOOLS:
        build_tool(tool, bin_dir)


def main() -> None:
    """Builds what is missing, and says so."""
    print("Go tools of the chart: ", end="", flush=True)
    print("done" if cached_folder("go-tools", pins_key(), build_all, lock="go") else "up to date", flush=True)


if __name__ == "__main__":
    main()
