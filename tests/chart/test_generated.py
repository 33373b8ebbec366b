"""The files generated from values.yaml are up to date: the table in the README, and the schema."""

import pytest

from devkit.helm import CHART, generate


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    return generate(CHART)


@pytest.mark.parametrize("name", ["README.md", "values.schema.json"])
def test_generated_file_is_up_to_date(name: str, generated: dict[str, str]) -> None:
    assert (CHART / name).read_text(encoding="utf-8") == generated[name], f"run `python -m devkit.helm` for {name}"


def test_every_value_is_described(generated: dict[str, str]) -> None:
    rows = [line for line in generated["README.md"].splitlines() if line.startswith("| ") and line.count(" | ") == 3]
    values = [line for line in rows if not line.startswith("| Key ")]
    assert values
    assert [line for line in values if line.endswith("|  |")] == []
