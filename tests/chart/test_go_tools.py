"""The Go tools are those of go.mod."""

from ci.tools.go_tools import MODULE, TOOLS, linker_flags, pinned_version
from devkit.helm import run, tool

GO_MOD = "module x\n\ngo 1.26.0\n\nrequire (\n\tk8s.io/client-go v0.37.1 // indirect\n\thelm.sh/helm/v3 v3.22.0\n)\n"


def test_helm_3_gets_the_version_of_kubernetes() -> None:
    helm_3 = next(tool for tool in TOOLS if tool.name == "helm3")
    assert "-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=37" in linker_flags(helm_3, GO_MOD)


def test_every_tool_of_the_module_is_built() -> None:
    text = (MODULE / "go.mod").read_text()
    listed = text.split("tool (")[1].split(")")[0].split()
    assert sorted(listed) == sorted(tool.package for tool in TOOLS)


def test_helm_reports_its_pinned_version(helm: str) -> None:
    built = next(tool for tool in TOOLS if tool.name == helm)
    version = pinned_version((MODULE / "go.mod").read_text(), built.module)
    assert run([tool(helm), "version", "--template={{.Version}}"]) == version
