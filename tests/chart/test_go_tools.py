"""The versions of the Go tools come from go.mod; a Go that cannot build them is reported in one line."""

import os
from pathlib import Path

import pytest

from ci.tools.go import check_go, program_name, required_go
from ci.tools.go_tools import MODULE, TOOLS, groups, linker_flags, pinned_version
from devkit.helm import run, tool

GO_MOD = "module x\n\ngo 1.26.0\n\nrequire (\n\tk8s.io/client-go v0.37.1 // indirect\n\thelm.sh/helm/v3 v3.22.0\n)\n"


def test_a_version_is_the_one_that_go_mod_requires() -> None:
    assert pinned_version(GO_MOD, "helm.sh/helm/v3") == "v3.22.0"


def test_a_module_without_a_pin_ends_the_build() -> None:
    with pytest.raises(SystemExit, match=r"helm\.sh/helm/v4 is not required"):
        pinned_version(GO_MOD, "helm.sh/helm/v4")


def test_helm_3_gets_the_version_of_kubernetes() -> None:
    helm_3 = next(tool for tool in TOOLS if tool.name == "helm3")
    assert "-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=37" in linker_flags(helm_3, GO_MOD)


def test_the_newest_go_that_any_module_requires_is_needed() -> None:
    assert required_go(["go 1.24.2", "go 1.26.0", "go 1.9"]) == (1, 26, 0)


@pytest.mark.parametrize(
    ("script", "problem"),
    [("echo go1.25.9", "go is 1.25.9"), ("echo broken >&2; exit 1", "go is broken")],
    ids=["old", "broken"],
)
def test_an_unusable_go_is_reported_in_one_line(
    script: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "go").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "go").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(SystemExit) as ended:
        check_go((1, 26, 0))
    assert str(ended.value).startswith(f"missing: Go 1.26.0 or newer ({problem})")
    assert "\n" not in str(ended.value)


def test_a_missing_go_is_reported_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="go is not on the PATH"):
        check_go((1, 26, 0))


def test_a_new_enough_go_is_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "go").write_text("#!/bin/sh\necho go1.27rc1\n")
    (tmp_path / "go").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    check_go((1, 26, 0))


def test_every_tool_of_the_module_is_built() -> None:
    text = (MODULE / "go.mod").read_text()
    listed = text.split("tool (")[1].split(")")[0].split()
    assert sorted(listed) == sorted(tool.package for tool in TOOLS)


def test_no_two_programs_of_one_build_have_the_same_name() -> None:
    built = groups(TOOLS)
    assert sorted(tool.name for group in built for tool in group) == sorted(tool.name for tool in TOOLS)
    for group in built:
        names = [program_name(tool.package) for tool in group]
        assert len(names) == len(set(names))


def test_a_version_is_not_the_name_of_a_program() -> None:
    assert program_name("github.com/losisin/helm-values-schema-json/v2") == "helm-values-schema-json"


def test_helm_reports_its_pinned_version(helm: str) -> None:
    built = next(tool for tool in TOOLS if tool.name == helm)
    version = pinned_version((MODULE / "go.mod").read_text(), built.module)
    assert run([tool(helm), "version", "--template={{.Version}}"]) == version
