"""The plots of simulated scaling."""

import subprocess
import sys
from pathlib import Path

import pytest

from bench.charts import svg
from bench.scaling_plots import LOADS, main, plot
from ci.tools.cache import ROOT
from lsql_runner.scaling.load import Load, built_in_load

GUIDE = ROOT / "docs/guides/sizing.md"


@pytest.mark.parametrize("name", LOADS)
def test_the_plot_in_the_guide_is_what_the_command_draws(name: str) -> None:
    committed = ROOT / f"docs/images/scaling-{name}.svg"

    assert svg(plot(built_in_load(name, 10_000), 10_000)) == committed.read_text(encoding="utf-8")
    assert f"(../images/{committed.name})" in GUIDE.read_text(encoding="utf-8")


def test_a_plot_has_workers_and_lag_of_both_policies_and_what_the_load_needs() -> None:
    numbers, lags = plot(Load("step", [(60, 5.0), (300, 35.0)]), 10.0)["vconcat"]

    def series(part: dict[str, dict[str, list[dict[str, object]]]]) -> dict[object, set[object]]:
        points: dict[object, set[object]] = {}
        for row in part["data"]["values"]:
            points.setdefault(row["series"], set()).add(row["y"])
        return points

    assert list(series(numbers)) == [*series(lags), "needed for arriving records"]
    assert len(series(lags)) == 2
    assert series(numbers)["needed for arriving records"] == {0.5, 3.5}
    assert series(numbers)["policy of lsql-runner"] == {1, 5}


def test_the_command_draws_the_load_of_a_file(tmp_path: Path) -> None:
    load, out = tmp_path / "recorded.csv", tmp_path / "images"
    load.write_text("seconds,end_offset\n0,1000\n600,61000\n1200,61000\n", encoding="utf-8")
    command = [sys.executable, "-m", "bench.scaling_plots", str(load), "--worker-rate", "50", "--out", str(out)]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout.splitlines() == [str(out / "scaling-recorded.svg")]
    assert "Simulated workers and lag: recorded" in (out / "scaling-recorded.svg").read_text(encoding="utf-8")


def test_an_invalid_load_is_a_failure_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load = tmp_path / "load.csv"
    load.write_text("seconds,end_offset\n0,7\n5,6\n", encoding="utf-8")

    assert main([str(load), "--out", str(tmp_path / "images")]) == 1
    assert "in line 3: end_offset is 6" in capsys.readouterr().err
    assert not (tmp_path / "images").exists()
