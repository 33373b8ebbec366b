"""The files generated from values.yaml are up to date: the table in the README, and the schema."""

from pathlib import Path

import pytest

from devkit.helm import CHART, CONSOLE_CHART, generate


@pytest.mark.parametrize("chart", [CHART, CONSOLE_CHART], ids=lambda chart: chart.name)
def test_generated_files_are_up_to_date_and_describe_every_value(chart: Path) -> None:
    generated = generate(chart)

    for name in ("README.md", "values.schema.json"):
        assert (chart / name).read_text(encoding="utf-8") == generated[name], f"run `make charts` for {name}"
    rows = [line for line in generated["README.md"].splitlines() if line.startswith("| ") and line.count(" | ") == 3]
    values = [line for line in rows if not line.startswith("| Key ")]
    assert values
    assert [line for line in values if line.endswith("|  |")] == []
