"""The tables of result files."""

from dataclasses import replace
from typing import Any

from bench.latency import Latencies
from bench.load_results import LoadResult, Usage
from bench.report import page


def throughput(engine: str, warm: float, title: str = "filter") -> dict[str, Any]:
    measures = {
        "total_per_s": 1000.0,
        "warm_per_s": warm,
        "warm_cpu_us": 2.5,
        "cpu_s": 1.0,
        "first_commit_s": 2.0,
        "private_mib": 300.0,
    }
    return {"workload": title, "title": title, "engine": engine, "run": 1, "measures": measures, "samples": []}


def document(*runs: dict[str, Any], kind: str = "throughput", conditions: str = "Idle.") -> dict[str, Any]:
    return {"kind": kind, "conditions": conditions, "runs": list(runs)}


USAGE = Usage(0.25, (100.0, 130.0, 120.0))
RESULT = LoadResult(
    program="filter",
    rate=1_000,
    engine="Flink SQL",
    guarantee="at-least-once",
    first_result_s=5.04,
    usage=USAGE,
    latencies=Latencies(tuple(range(1, 1001))),
)


def test_files_with_the_same_conditions_are_one_table_with_its_conditions_below() -> None:
    first = document(throughput("a", 1000.0), throughput("b", 2000.0))
    second = document(throughput("a", 3000.0), throughput("b", 2000.0))
    lines = page([first, second]).splitlines()
    assert lines[2] == ("| filter | records/s, warm | 1 k / 2 k / 3 k | 2 k / 2 k / 2 k | 0.50 / 1.00 / 1.50 |")
    assert lines[-2:] == ["", "Idle."]


def test_a_run_at_a_constant_rate_is_one_line() -> None:
    lines = page([document(RESULT.document(), kind="load")]).splitlines()
    assert lines[0].endswith("| p50 / p99 / p99.9 / most, ms |")
    assert lines[2] == (
        "| filter | 1,000 | Flink SQL | at-least-once | 5.0 | 0.25 | 100 / 120 / 130 | 500 / 990 / 999 / 1,000 |"
    )


def test_processors_that_ran_together_are_one_line() -> None:
    lines = page([document(replace(RESULT, processors=10).document(), kind="load")]).splitlines()
    assert lines[2].startswith("| 10 of filter | 1,000 |")
