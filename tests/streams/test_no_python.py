"""No plan holds a step in Python: records stay in the JVM from the source to the target."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lsql_runner.cases.load import load_case
from lsql_runner.cases.prepare import prepare_case
from lsql_runner.cases.run import find_cases
from lsql_runner.engine.compile import compile_query
from lsql_runner.engine.memory import MemoryEngine
from lsql_runner.engine.sink_rows import row_records

ROOT = Path(__file__).parents[2]
CASES = [
    path for path in find_cases([ROOT / "sql-examples", ROOT / "tests/streams/cases"]) if load_case(path).error is None
]
STEPS = ("EvalPython", "PythonUDF", "InPandas", "InArrow", "InPySpark", "PythonUDTF")
"""Parts of the names of all operators and expressions with which Spark leaves the JVM."""

pytestmark = pytest.mark.timeout(180)


def python_steps(frame: DataFrame) -> list[str]:
    plan = str(frame._jdf.queryExecution().optimizedPlan().toString())
    return [step for step in STEPS if step in plan]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.parent.name if path.name == "case.yaml" else path.name)
def test_a_plan_stays_in_the_jvm(path: Path, engine: MemoryEngine) -> None:
    read = engine.reader([])
    for query in prepare_case(load_case(path)).plan.queries:
        sink = query.row_sink
        assert python_steps(compile_query(query, read) if sink is None else row_records(sink, read)) == []


def test_a_step_in_python_would_be_seen(engine: MemoryEngine) -> None:
    length = F.udf(len, "int", useArrow=False)
    assert "EvalPython" in python_steps(engine.session.range(1).select(length(F.col("id").cast("string"))))
