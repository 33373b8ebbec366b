"""The plots of result files."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.charts import svg
from bench.latency import Latencies
from bench.load_results import LoadResult, Usage
from bench.plots import main, plots
from bench.soak.check import Outcome
from bench.soak.plan import Slot, phase
from bench.soak.results import SoakResult
from bench.soak.verdict import PodSample

SVG = "{http://www.w3.org/2000/svg}"
POINT = "point"
LOAD_RESULT = LoadResult(
    program="filter and project",
    rate=100,
    engine="lsql-runner",
    guarantee="at-least-once",
    usage=Usage(0.25, (100.0,)),
    latencies=Latencies((9,)),
)
SAMPLE = PodSample(
    at_s=0, private_mib=400, descriptors=300, threads=80, checkpoint_mib=1, checkpoint_files=200, temporary_mib=2
)
SOAK_RESULT = SoakResult(
    program="two windowed counts",
    mode="auto",
    rate=1_000,
    minutes=20,
    memory_limit_mib=768,
    begin_ms=0,
    phases=(phase(Slot(None, 0, 1200), 0, begin_s=0, caught_up_s=0),),
    samples=tuple(replace(SAMPLE, at_s=at_s, private_mib=400 + at_s / 12) for at_s in range(0, 1200, 20)),
    outcome=Outcome(500),
)


def throughput(engine: str, warm: float | None, title: str = "filter") -> dict[str, Any]:
    measures = {
        "total_per_s": 1000.0,
        "warm_per_s": warm,
        "warm_cpu_us": 2.5,
        "cpu_s": 1.0,
        "first_commit_s": 2.0,
        "private_mib": 300.0,
    }
    return {"workload": title, "title": title, "engine": engine, "run": 1, "measures": measures, "samples": []}


def document(kind: str, *runs: dict[str, Any] | LoadResult | SoakResult, conditions: str = "Idle.") -> dict[str, Any]:
    documents = [run if isinstance(run, dict) else run.document() for run in runs]
    # As if it had been written to a file.
    parsed: dict[str, Any] = json.loads(json.dumps({"kind": kind, "conditions": conditions, "runs": documents}))
    return parsed


ALL = [
    document("throughput", throughput("lsql-runner", 300_000.0), throughput("Flink SQL", 200_000.0)),
    document("load", LOAD_RESULT, replace(LOAD_RESULT, engine="Kafka Streams", guarantee="exactly-once")),
    document("load", replace(LOAD_RESULT, in_pod=True)),
    document("soak", SOAK_RESULT),
]


@pytest.fixture(scope="module")
def all_plots() -> dict[str, str]:
    return {name: svg(chart) for name, chart in plots(ALL).items()}


def drawn(name: str, *documents: dict[str, Any]) -> str:
    """The SVG of one plot."""
    return svg(plots(documents)[f"performance-{name}.svg"])


def texts(picture: str) -> set[str]:
    """What is visible."""
    return {node.text or "" for node in ET.fromstring(picture).iter(f"{SVG}text")}


def nodes(picture: str, kind: str) -> list[ET.Element]:
    """The values of bars, lines or points."""
    return [node for node in ET.fromstring(picture).iter() if node.get("aria-roledescription") == kind]


def marks(picture: str, kind: str = POINT) -> list[tuple[str, ...]]:
    """Both values and the series of each bar or point, or of the first point of each line."""
    labels = [node.attrib["aria-label"] for node in nodes(picture, kind)]
    return [tuple(part.split(": ", 1)[1] for part in label.split("; ")[:3]) for label in labels]


def test_each_kind_has_its_files(all_plots: dict[str, str]) -> None:
    assert set(all_plots) == {
        "performance-throughput.svg",
        "performance-latency-filter.svg",
        "performance-cores-filter.svg",
        "performance-latency-pod.svg",
        "performance-cores-pod.svg",
        "performance-memory-two-windows.svg",
    }


def test_a_bar_is_the_median_of_the_runs_of_all_files() -> None:
    first = document("throughput", throughput("lsql-runner", 100_000.0), throughput("Kafka Streams", 50_000.0))
    second = document("throughput", throughput("lsql-runner", 400_000.0), throughput("lsql-runner", 300_000.0))

    picture = drawn("throughput", first, {**second, "conditions": "Busy."})

    assert marks(picture, "bar") == [("300,000", "filter", "lsql-runner"), ("50,000", "filter", "Kafka Streams")]
    assert {"filter", "lsql-runner", "Kafka Streams", "300,000", "50,000"} <= texts(picture)


@pytest.mark.parametrize("outcome", [None, Outcome(500, lost=1), Outcome(500, wrong=1)])
def test_a_run_that_ended_early_or_has_wrong_results_is_left_out(outcome: Outcome | None) -> None:
    assert plots([document("soak", replace(SOAK_RESULT, outcome=outcome))]) == {}


@pytest.mark.parametrize("content", ["{}", "[]", "no json", '{"kind": "other"}', '{"kind": "load"}'])
def test_a_file_that_is_no_result_is_refused(content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "a.json", tmp_path / "images"
    file.write_text(content, encoding="utf-8")

    assert main([str(file), "--out", str(out)]) == 1

    assert capsys.readouterr().err == f"failed: {file} is not a result of the benchmark\n"
    assert not out.exists()
