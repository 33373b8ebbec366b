"""Every function in a program: the examples of the function table are planned, run, and written.

The tests of single expressions do not show that a program can contain them: that it finds the names, and that the
columns that they read exist.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from lsql_runner.bind.functions.headers import EXAMPLE_HEADERS
from lsql_runner.bind.functions.table import AGGREGATES, FUNCTIONS, ROWS, SPECIAL_FORMS
from lsql_runner.cases.case_run import run_case
from lsql_runner.cases.load import load_case
from lsql_runner.cases.on_memory import MemoryCases
from lsql_runner.engine.in_memory.engine import MemoryEngine
from tests.streams.test_aggregate_examples import AGGREGATED

pytestmark = pytest.mark.timeout(300)


def examples() -> Iterator[tuple[str, str | None]]:
    """The examples of all scalar functions, under each of their names, with the result; None if it is not constant."""
    for row in ROWS:
        for variant in (row, *row.variants):
            for name in (row.name, *row.aliases):
                example = re.sub(rf"\b{row.name}\(", f"{name}(", variant.example)
                yield example, variant.result if variant.deterministic else None
    for form in SPECIAL_FORMS.values():
        yield form.example, form.result


EXAMPLES = list(examples())
NAME = re.compile(r"\b([A-Z_0-9]+)\(")


def run(engine: MemoryEngine, folder: Path, case: dict[str, object]) -> list[str]:
    """The differences between the expected and the written records of a case."""
    path = folder / "functions.case.yaml"
    path.write_text(yaml.safe_dump(case), encoding="utf-8")
    return run_case(load_case(path), MemoryCases(engine))


def test_every_name_is_in_an_example() -> None:
    scalars = {name for example, _ in EXAMPLES for name in NAME.findall(example)}
    aggregates = {name for row in AGGREGATES.values() for name in NAME.findall(row.example)}

    assert scalars == {*FUNCTIONS, *SPECIAL_FORMS}
    assert aggregates == {*AGGREGATES}


def test_a_program_with_every_scalar_function_runs(engine: MemoryEngine, tmp_path: Path) -> None:
    # A value that is not constant is only computed: its DUMP is never empty.
    exprs = [example if result is not None else f"LEN(DUMP({example})) > 0" for example, result in EXAMPLES]
    results = [True if result is None else json.loads(result) for _, result in EXAMPLES]
    fields = ", ".join(f"{expr} AS f{number}" for number, expr in enumerate(exprs))
    headers = [{name: {"hex": value.hex()}} for name, value in EXAMPLE_HEADERS]

    differences = run(
        engine,
        tmp_path,
        {
            "sql": f"SET autocreate=true; INSERT INTO o SELECT {fields} FROM t",
            "topics": {"t": {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": {"x": "int"}}}},
            "input": [{"topic": "t", "key": "k", "value": {"x": 1}, "headers": headers}],
            "expect": [{"key": "k", "value": {f"f{number}": result for number, result in enumerate(results)}}],
        },
    )

    assert differences == []


@pytest.mark.parametrize("mode", ["STREAM", "TABLE"])
def test_a_program_with_every_aggregate_runs(engine: MemoryEngine, tmp_path: Path, mode: str) -> None:
    rows = AGGREGATES.values()
    fields = ", ".join(f"{row.example} AS f{number}" for number, row in enumerate(rows))

    differences = run(
        engine,
        tmp_path,
        {
            "sql": f"SET defaults.topic.autocreate=true; INSERT INTO o SELECT {mode} {fields} FROM t GROUP BY g",
            "topics": {
                "t": {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": {"g": "string", "x": "int"}}}
            },
            "input": [
                {"topic": "t", "key": f"k{number}", "value": {"g": "a", "x": value}, "timestamp": number}
                for number, value in enumerate(AGGREGATED)
            ],
            "expect": [{"key": "a", "value": {f"f{n}": json.loads(row.result) for n, row in enumerate(rows)}}],
        },
    )

    assert differences == []
