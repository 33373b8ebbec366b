"""All case files: the programs of sql-examples, and those in `cases`."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from pyspark.sql import functions as F

from lsql_runner.cases.case_run import run_case
from lsql_runner.cases.load import load_case
from lsql_runner.cases.on_memory import MemoryCases
from lsql_runner.cases.run import find_cases
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.sql.parser import parse

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.parent for path in find_cases([ROOT / "sql-examples"]))
CASES = find_cases([Path(__file__).parent / "cases"])
PYTHON_STEPS = ("EvalPython", "PythonUDF", "InPandas", "InArrow", "InPySpark", "PythonUDTF")
"""Parts of the names of Spark's operators that run Python."""

pytestmark = pytest.mark.timeout(180)  # the first test waits for the JVM


def python_steps(plan: str) -> list[str]:
    return [step for step in PYTHON_STEPS if step in plan]


def name(path: Path) -> str:
    return path.parent.name if path.name == "case.yaml" else path.name.removesuffix(".case.yaml")


@pytest.mark.parametrize("path", [*(folder / "case.yaml" for folder in EXAMPLES), *CASES], ids=name)
def test_a_case_has_the_expected_output_and_runs_no_python(
    path: Path, engine: MemoryEngine, executed: list[str]
) -> None:
    case = load_case(path)
    executed.clear()

    assert run_case(case, MemoryCases(engine)) == []

    assert [plan for plan in executed if python_steps(plan)] == []
    assert case.error is not None or executed


def test_an_operator_that_runs_python_is_detected(engine: MemoryEngine) -> None:
    length = F.udf(len, "int", useArrow=False)
    frame = engine.session.range(1).select(length(F.col("id").cast("string")))

    assert python_steps(frame._jdf.queryExecution().executedPlan().toString()) == ["EvalPython"]


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda path: path.name)
def test_the_chart_values_of_an_example_have_the_same_program(folder: Path) -> None:
    values = yaml.safe_load((folder / "values.yaml").read_text(encoding="utf-8"))
    assert parse(values["sql"]) == parse((folder / "query.sql").read_text(encoding="utf-8"))


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda path: path.name)
def test_the_readme_of_an_example_has_its_command(folder: Path) -> None:
    assert f"lsql test sql-examples/{folder.name}\n" in (folder / "README.md").read_text(encoding="utf-8")
