"""Every case file: those of sql-examples, which users read first, and those of the edges beside this file."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from lsql_runner.cases.case_run import run_case
from lsql_runner.cases.load import load_case
from lsql_runner.cases.on_memory import MemoryCases
from lsql_runner.cases.run import find_cases
from lsql_runner.engine.memory import MemoryEngine
from lsql_runner.sql.parser import parse

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.parent for path in find_cases([ROOT / "sql-examples"]))
EDGES = find_cases([Path(__file__).parent / "cases"])

pytestmark = pytest.mark.timeout(180)  # the first test waits for the JVM


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda path: path.name)
def test_an_example_does_what_its_case_says(folder: Path, engine: MemoryEngine) -> None:
    assert run_case(load_case(folder / "case.yaml"), MemoryCases(engine)) == []


@pytest.mark.parametrize("path", EDGES, ids=lambda path: path.name.removesuffix(".case.yaml"))
def test_an_edge_is_as_its_case_says(path: Path, engine: MemoryEngine) -> None:
    assert run_case(load_case(path), MemoryCases(engine)) == []


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda path: path.name)
def test_the_values_of_an_example_hold_the_same_program(folder: Path) -> None:
    values = yaml.safe_load((folder / "values.yaml").read_text(encoding="utf-8"))
    assert parse(values["sql"]) == parse((folder / "query.sql").read_text(encoding="utf-8"))


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda path: path.name)
def test_the_readme_of_an_example_names_its_command(folder: Path) -> None:
    assert f"lsql test sql-examples/{folder.name}\n" in (folder / "README.md").read_text(encoding="utf-8")
