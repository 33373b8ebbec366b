"""Builds the chart tools (Helm 3 and 4, helm-unittest, ct, helm-docs, helm-values-schema-json) from a pinned Go module.

Run as `python -m ci.tools.go_tools`, after set-up. ci/go/go.mod and go.sum pin the versions. The programs go into the
cache that clones share, keyed by the pins; `.venv/share/lsql-runner/go-tools/bin` is a link to them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ci.tools import go
from ci.tools.cache import ROOT, cached_folder, hash_of
from ci.tools.go import check_go, go_build, program_name, required_go

MODULE = ROOT / "ci/go"
"""One module for all tools, so that shared packages are compiled once."""
PINS = [MODULE / "go.mod", MODULE / "go.sum"]


@dataclass(frozen=True)
class Tool:
    """A program: its file name here, the Go module and main package, and the variables that the linker sets."""

    name: str
    module: str
    package: str
    variables: tuple[tuple[str, str], ...] = ()
    """Go variables and their values; `{version}` is the version of the module, `{kube_minor}` the minor version of
    Kubernetes.
    """


# Without these, Helm 3 assumes Kubernetes 1.20 when it renders offline. Helm 4 reads the version from its build
# information.
_HELM_3 = (
    ("helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor", "1"),
    ("helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor", "{kube_minor}"),
    ("helm.sh/helm/v3/pkg/lint/rules.k8sVersionMajor", "1"),
    ("helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor", "{kube_minor}"),
)
TOOLS = (
    Tool(
        "helm3",
        "helm.sh/helm/v3",
        "helm.sh/helm/v3/cmd/helm",
        (("helm.sh/helm/v3/internal/version.version", "{version}"), *_HELM_3),
    ),
    Tool(
        "helm4",
        "helm.sh/helm/v4",
        "helm.sh/helm/v4/cmd/helm",
        (("helm.sh/helm/v4/internal/version.version", "{version}"),),
    ),
    Tool(
        "ct",
        "github.com/helm/chart-testing/v3",
        "github.com/helm/chart-testing/v3/ct",
        (("github.com/helm/chart-testing/v3/ct/cmd.Version", "{version}"),),
    ),
    Tool(
        "helm-docs",
        "github.com/norwoodj/helm-docs",
        "github.com/norwoodj/helm-docs/cmd/helm-docs",
        (("main.version", "{version}"),),
    ),
    Tool(
        "helm-values-schema-json",
        "github.com/losisin/helm-values-schema-json/v2",
        "github.com/losisin/helm-values-schema-json/v2",
        (("main.Version", "{version}"),),
    ),
    Tool(
        "helm-unittest",
        "github.com/helm-unittest/helm-unittest",
        "github.com/helm-unittest/helm-unittest/cmd/helm-unittest",
        _HELM_3,
    ),
)


def pinned_version(go_mod: str, module: str) -> str:
    """The version of a module in the text of a go.mod, such as `v3.22.0`."""
    match = re.search(rf"^\s*(?:require )?{re.escape(module)} (v\S+)", go_mod, re.MULTILINE)
    if not match:
        raise SystemExit(f"{module} is not required by its go.mod: run `go get -tool` in ci/go")
    return match[1]


def linker_flags(tool: Tool, go_mod: str) -> list[str]:
    """The linker's arguments that set the variables of the tool."""
    values = {
        "version": pinned_version(go_mod, tool.module),
        "kube_minor": pinned_version(go_mod, "k8s.io/client-go").split(".")[1],
    }
    return [f"-X {name}={value.format_map(values)}" for name, value in tool.variables]


def pins_key() -> str:
    """The key of the cached programs: the pins, and our code that chooses the flags."""
    return hash_of([*PINS, Path(__file__).resolve(), Path(go.__file__)])


def build_all(staging: Path) -> None:
    """Fill `<staging>/bin`."""
    go_mod = (MODULE / "go.mod").read_text()
    check_go(required_go([go_mod]))
    print("takes some minutes the first time", flush=True)
    bin_dir = staging / "bin"
    bin_dir.mkdir()
    for group in groups(TOOLS):
        go_build(MODULE, bin_dir, {tool.package: linker_flags(tool, go_mod) for tool in group})
        for tool in group:
            (bin_dir / program_name(tool.package)).rename(bin_dir / tool.name)


def groups(tools: Sequence[Tool]) -> list[list[Tool]]:
    """The tools in groups for one `go build` each: a build would write both Helms to `helm`."""
    result: list[list[Tool]] = []
    for tool in tools:
        free = (group for group in result if all(program_name(tool.package) != program_name(t.package) for t in group))
        group = next(free, None)
        if group is None:
            result.append([tool])
        else:
            group.append(tool)
    return result


def main() -> None:
    """Build the tools unless the cache has them."""
    print("Chart tools: ", end="", flush=True)
    print("done" if cached_folder("go-tools", pins_key(), build_all, lock="go") else "up to date", flush=True)


if __name__ == "__main__":
    main()
