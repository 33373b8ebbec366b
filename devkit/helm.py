"""Runs the chart tools offline: renders charts to objects, and generates files of the charts.

`python -m devkit.helm` writes the generated files and the snapshots; tests in tests/chart fail if they are out of date.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
CHART = ROOT / "charts/lsql-runner"
CONSOLE_CHART = ROOT / "charts/lsql-console"
TOOLS = Path(sys.prefix, "share/lsql-runner/go-tools/bin")
HELMS = ("helm3", "helm4")
TIMEOUT_S = 120

Object = dict[str, Any]


# The parser in C is many times faster; not every installation of PyYAML has it.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Quoting(yaml.SafeDumper):
    """Quotes every text: Helm, with YAML 1.1, reads a bare `y` as true, other parsers read it as text."""


_Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))


class ToolFailed(AssertionError):
    """A tool ended with an error. `output` is what it printed."""

    def __init__(self, argv: Sequence[str | Path], output: str) -> None:
        super().__init__(f"{' '.join(map(str, argv))[:200]}\n{output}")
        self.output = output


def tool(name: str) -> Path:
    """The path of a program that ci/tools/go_tools.py builds; FileNotFoundError if it has not been built."""
    path = TOOLS / name
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: run `python -m ci.tools.go_tools`")
    return path


def run(argv: Sequence[str | Path], folder: Path = ROOT, path: Sequence[Path] = ()) -> str:
    """Run a tool; returns its standard output. Raises ToolFailed if it ends with an error.

    The Helm settings of the user have no effect. `path` is put before PATH.
    """
    with tempfile.TemporaryDirectory(prefix="lsql-helm-") as home:
        folders = dict.fromkeys(("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"), home)
        search = os.pathsep.join([*map(str, path), os.environ["PATH"]])
        result = subprocess.run(
            [str(word) for word in argv],
            cwd=folder,
            env={**os.environ, **folders, "PATH": search},
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
    if result.returncode:
        raise ToolFailed(argv, result.stdout + result.stderr)
    return result.stdout


def render(
    values: Mapping[str, Any] | None = None,
    *options: str | Path,
    helm: str = "helm3",
    chart: Path = CHART,
    release: str = "fast-vehicles",
) -> list[Object]:
    """The objects of a release, including hooks, in Helm's order. Raises ToolFailed if the chart refuses the values."""
    return objects_of(template(values, *options, helm=helm, chart=chart, release=release))


def render_file(file: Path, helm: str = "helm3") -> list[Object]:
    """The objects of a release with a values file of the checkout. Helm runs once per process for each file."""
    return objects_of(_template_of(file, helm))


@cache
def _template_of(file: Path, helm: str) -> str:
    return template({}, f"--values={file}", helm=helm)


def objects_of(manifests: str) -> list[Object]:
    """The objects in a text of YAML documents."""
    return [manifest for manifest in yaml.load_all(manifests, Loader=_Loader) if manifest]


def template(
    values: Mapping[str, Any] | None = None,
    *options: str | Path,
    helm: str = "helm3",
    chart: Path = CHART,
    release: str = "fast-vehicles",
) -> str:
    """The output of `helm template`. Values files of the options come after `values` and override them."""
    with tempfile.TemporaryDirectory(prefix="lsql-values-") as scratch:
        file = Path(scratch) / "values.yaml"
        file.write_text(yaml.dump(values or {}, Dumper=_Quoting), encoding="utf-8")
        argv = [tool(helm), "template", release, chart, "--namespace=fleet", *options, f"--values={file}"]
        return run(argv)


def values_files() -> list[Path]:
    """Every values file of the checkout that a test renders: the chart's and the examples'."""
    files = [
        *CHART.glob("ci/*-values.yaml"),
        *CHART.glob("ci-render/*-values.yaml"),
        *ROOT.glob("sql-examples/*/values.yaml"),
    ]
    assert files, "no values files"
    return sorted(files)


def only_object(objects: Sequence[Object], kind: str) -> Object:
    """The only object of a kind."""
    matching = [candidate for candidate in objects if candidate["kind"] == kind]
    assert len(matching) == 1, f"{len(matching)} objects of kind {kind}"
    return matching[0]


def pod_specs(objects: Sequence[Object]) -> Iterator[tuple[str, Object]]:
    """The specs of all pods, each with kind and name of the object that contains it."""
    for manifest in objects:
        name = f"{manifest['kind']}/{manifest['metadata']['name']}"
        if manifest["kind"] == "Pod":
            yield name, manifest["spec"]
        elif manifest["kind"] in {"StatefulSet", "Deployment", "Job"}:
            yield name, manifest["spec"]["template"]["spec"]


def environment(container: Object) -> dict[str, str]:
    """The variables of a container as its process gets them: Kubernetes replaces `$$` by `$`.

    AssertionError if a `$(NAME)` remains, which Kubernetes would expand.
    """
    return {row["name"]: _expanded(row.get("value", "")) for row in container["env"]}


def _expanded(text: str) -> str:
    parts = text.split("$$")
    assert not any("$(" in part for part in parts), f"Kubernetes would expand {text[:200]!r}"
    return "$".join(parts)


def generate(chart: Path) -> dict[str, str]:
    """The generated files of a chart, by name. The folder of the chart does not change."""
    with tempfile.TemporaryDirectory(prefix="lsql-chart-") as scratch:
        copy = Path(scratch) / chart.name
        shutil.copytree(chart, copy, ignore=shutil.ignore_patterns("tests", "ci", "ci-render"))
        run([tool("helm-values-schema-json"), "--config", ".schema.yaml"], copy)
        run([tool("helm-docs"), "--chart-search-root=.", "--sort-values-order=file", "--log-level=warning"], copy)
        return {name: (copy / name).read_text(encoding="utf-8") for name in ("values.schema.json", "README.md")}


def main() -> None:
    """Write the generated files of the charts, and the snapshots of their unit tests."""
    for chart in sorted(CHART.parent.iterdir()):
        for name, text in generate(chart).items():
            (chart / name).write_text(text, encoding="utf-8")
        print(run([tool("helm-unittest"), "--update-snapshot", chart]))


if __name__ == "__main__":
    main()
