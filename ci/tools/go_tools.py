"""Builds the chart tools (helm 3 and 4, helm-unittest, ct, helm-docs, the values' schema) from pinned Go modules.

Run as `python -m ci.tools.go_tools`, after set-up. The pins are the go.mod and go.sum files of this folder; the
binaries go into the cache that clones share, keyed by the pins, and `.venv/share/lsql-runner/go-tools/bin` leads there.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from ci.tools import go
from ci.tools.go import check_go, go_build, wanted_go
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


def linker_flags(tool: Tool, go_mod: str) -> list[str]:
    """Returns the linker's arguments that set the tool's variables."""
    slots = {
        "version": pinned_version(go_mod, tool.module),
        "kube_minor": pinned_version(go_mod, "k8s.io/client-go").split(".")[1],
    }
    return [f"-X {name}={value.format_map(slots)}" for name, value in tool.variables]


def pins_key() -> str:
    """Returns the key of what the tools are made from: the pins, and our code for its flags."""
    pins = [FOLDER / module / name for module in MODULES for name in ("go.mod", "go.sum")]
    return hash_of([*pins, Path(__file__).resolve(), Path(go.__file__)])


def build_all(staging: Path) -> None:
    """Fills `<staging>/bin`."""
    check_go(wanted_go([(FOLDER / module / "go.mod").read_text() for module in MODULES]))
    print("several minutes, the first time", flush=True)
    bin_dir = staging / "bin"
    bin_dir.mkdir()
    for tool in TOOLS:
        module = FOLDER / tool.folder
        flags = linker_flags(tool, (module / "go.mod").read_text())
        go_build(module, [tool.package], bin_dir / tool.name, flags, tool.name)


def main() -> None:
    """Builds what is missing, and says so."""
    print("Go tools of the chart: ", end="", flush=True)
    print("done" if cached_folder("go-tools", pins_key(), build_all, lock="go") else "up to date", flush=True)


if __name__ == "__main__":
    main()
