"""The unit tests of both charts and the lint of chart-testing pass, and no template is left out."""

import sys
from pathlib import Path

import pytest

from devkit.helm import CHART, CONSOLE_CHART, run, tool

SCRIPTS = Path(sys.prefix, "bin")
"""The folder of yamllint and yamale, which chart-testing calls."""
pytestmark = pytest.mark.parametrize("chart", [CHART, CONSOLE_CHART], ids=lambda chart: chart.name)


def test_chart_testing_reports_nothing(chart: Path, helm_path: Path) -> None:
    said = run(
        [tool("ct"), "lint", "--config=ci/tools/chart_lint/ct.yaml", f"--charts={chart}"], path=[helm_path, SCRIPTS]
    )
    linted = {line.rsplit("/", 1)[-1].rstrip("'\".") for line in said.splitlines() if "-values.yaml" in line}
    assert {path.name for path in chart.glob("ci/*-values.yaml")} <= linted, said


def test_the_unit_tests_of_the_chart_pass(chart: Path) -> None:
    run([tool("helm-unittest"), chart])


def test_every_template_has_a_unit_test(chart: Path) -> None:
    templates = {path.stem for path in (chart / "templates").rglob("*") if path.is_file() and path.name[0] != "_"}
    suites = {path.name.removesuffix("_test.yaml") for path in (chart / "tests").glob("*_test.yaml")}
    assert suites == templates
