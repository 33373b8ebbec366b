"""`lsql autoscale simulate`: its output and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import lsql_runner
from lsql_runner.cli.lsql import cli

GUIDE = Path(lsql_runner.__file__).parents[3] / "docs/guides/sizing.md"


def simulate(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["autoscale", "simulate", *arguments])


def test_the_table_of_the_built_in_loads_is_that_of_the_guide() -> None:
    result = simulate()

    assert result.exit_code == 0
    assert f"$ lsql autoscale simulate\n{result.output}```" in GUIDE.read_text(encoding="utf-8")


def test_json_has_the_settings_and_the_measured_values(tmp_path: Path) -> None:
    file = tmp_path / "load.csv"
    file.write_text("seconds,records_per_second\n0,10\n60,30\n120,30\n")

    result = simulate(str(file), "--worker-rate", "10", "--max", "9", "--partitions", "4", "--catch-up", "30", "--json")
    document = json.loads(result.output)

    assert result.exit_code == 0
    assert (document["settings"]["max"], document["settings"]["target"]) == (4, {"seconds": 30})
    assert [(row["load"], row["policy"]) for row in document["results"]] == [(str(file), "lag"), (str(file), "hpa")]
    assert document["results"][0] == {
        "load": str(file),
        "policy": "lag",
        "reaction": 37,
        "overshoot": 1,
        "scalings": 1,
        "workerHours": 0.1375,
        "meanDelay": 9.779,
        "maxLag": 740,
        "maxLagAt": 97,
        "mostWorkers": 4,
    }


def test_a_target_of_records_is_used_by_both_policies() -> None:
    few, many = (json.loads(simulate("--built-in", "step", "--lag", lag, "--json").output) for lag in ("1e5", "1e6"))

    assert few["settings"]["target"] == {"records": 1e5}
    for policy in (0, 1):
        assert few["results"][policy]["mostWorkers"] > many["results"][policy]["mostWorkers"]


def test_the_policy_can_assume_another_rate_than_the_real_one() -> None:
    right, low = (
        json.loads(simulate("--built-in", "ramp", "--json", *more).output) for more in ([], ["--assumed-rate", "5e3"])
    )

    assert (low["settings"]["workerRate"], low["settings"]["assumedRate"]) == (10_000, 5_000)
    assert low["results"][0]["workerHours"] > right["results"][0]["workerHours"] * 1.5


def test_an_invalid_file_is_an_error_with_line_and_remedy(tmp_path: Path) -> None:
    file = tmp_path / "load.csv"
    file.write_text("seconds,records_per_second\n0,10\n60,many\n")

    result = simulate(str(file))

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"LOAD_FILE_INVALID: The load file {file} is invalid in line 3: ")
    assert "records_per_second is 'many', expected a number" in result.stderr
    assert "To fix it: Correct that line." in result.stderr


@pytest.mark.parametrize(
    ("content", "code"), [(None, "FILE_UNREADABLE"), (b"seconds,\xff", "FILE_NOT_UTF8")], ids=["missing", "bytes"]
)
def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path, content: bytes | None, code: str) -> None:
    file = tmp_path / "load.csv"
    if content is not None:
        file.write_bytes(content)

    result = simulate(str(file))

    assert (result.exit_code, result.stderr.split(":")[0]) == (1, code)


@pytest.mark.parametrize(
    "arguments",
    [
        ["load.csv", "--built-in", "step"],
        ["--lag", "5", "--catch-up", "5"],
        ["--min", "9"],
        ["--min", "3", "--partitions", "4", "--cores", "2"],
        ["--worker-rate", "0"],
        ["--tolerance", "1"],
        ["--built-in", "month"],
    ],
)
def test_wrong_usage_has_the_exit_code_2(arguments: list[str]) -> None:
    result = simulate(*arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert "Usage: " in result.stderr
