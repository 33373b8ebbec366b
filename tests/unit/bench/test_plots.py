"""The plots of result files."""

import json
import os
import re
import subprocess
import sys
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
from ci.tools.cache import ROOT

SVG = "{http://www.w3.org/2000/svg}"
LINE, POINT = "line mark", "point"
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


def test_a_kind_without_runs_has_no_file() -> None:
    assert plots([document("load"), document("soak"), document("throughput")]) == {}


def test_a_plot_is_a_picture_without_scripts_and_links(all_plots: dict[str, str]) -> None:
    for picture in all_plots.values():
        root = ET.fromstring(picture)
        assert (root.tag, root.get("width")) == (f"{SVG}svg", "800")
        assert (root[0].tag, root[0].get("fill")) == (f"{SVG}rect", "white")
        assert "<script" not in picture
        assert "href" not in picture
        assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", picture)


def test_a_bar_is_the_median_of_the_runs_of_all_files() -> None:
    first = document("throughput", throughput("lsql-runner", 100_000.0), throughput("Kafka Streams", 50_000.0))
    second = document("throughput", throughput("lsql-runner", 400_000.0), throughput("lsql-runner", 300_000.0))

    picture = drawn("throughput", first, {**second, "conditions": "Busy."})

    assert marks(picture, "bar") == [("300,000", "filter", "lsql-runner"), ("50,000", "filter", "Kafka Streams")]
    assert {"filter", "lsql-runner", "Kafka Streams", "300,000", "50,000"} <= texts(picture)


def test_runs_on_workers_are_a_plot_of_their_own() -> None:
    workers = document("throughput", throughput("lsql-runner", 300_000.0), throughput("2 workers", 200_000.0))

    picture = drawn("workers", ALL[0], workers)

    assert marks(picture, "bar") == [("300,000", "filter", "one process"), ("200,000", "filter", "2 workers")]
    assert drawn("throughput", ALL[0], workers) == drawn("throughput", ALL[0])


def test_a_run_that_is_too_short_has_no_bar() -> None:
    runs = [throughput("lsql-runner", None), throughput("lsql-runner", 1000.0, "other"), throughput("Flink SQL", 500.0)]

    picture = drawn("throughput", document("throughput", *runs))

    assert set(marks(picture, "bar")) == {("1,000", "other", "lsql-runner"), ("500", "filter", "Flink SQL")}
    assert plots([document("throughput", runs[0])]) == {}


def test_each_engine_and_guarantee_is_a_line() -> None:
    streams = replace(LOAD_RESULT, engine="Kafka Streams", latencies=Latencies((1200,)), usage=Usage(0.5, (1.0,)))
    results = document("load", streams, replace(streams, guarantee="exactly-once", rate=1_000), LOAD_RESULT)

    assert set(marks(drawn("latency-filter", results))) == {
        ("100", "9", "lsql-runner, at-least-once"),
        ("100", "1,200", "Kafka Streams, at-least-once"),
        ("1,000", "1,200", "Kafka Streams, exactly-once"),
    }
    assert set(marks(drawn("cores-filter", results))) == {
        ("100", "0.25", "lsql-runner, at-least-once"),
        ("100", "0.5", "Kafka Streams, at-least-once"),
        ("1,000", "0.5", "Kafka Streams, exactly-once"),
    }


def test_runs_with_the_same_rate_are_one_point() -> None:
    runs = [replace(LOAD_RESULT, latencies=Latencies((each,))) for each in (10, 30, 20)]

    picture = drawn("latency-filter", document("load", *runs[:2]), document("load", runs[2]))

    assert marks(picture) == [("100", "20", "lsql-runner, at-least-once")]


def test_failed_runs_at_a_rate_are_left_out() -> None:
    failed = replace(LOAD_RESULT, engine="Flink SQL", usage=None, failure="ended after 61 s")

    assert plots([document("load", LOAD_RESULT, failed)]) == plots([document("load", LOAD_RESULT)])
    assert plots([document("load", failed)]) == {}


def test_settings_of_lsql_runner_are_no_settings_of_other_engines() -> None:
    flink = replace(LOAD_RESULT, engine="Flink SQL")

    assert plots([document("load", replace(flink, mode="continuous", pace="1s"))]) == plots([document("load", flink)])


def test_a_point_of_memory_is_the_median_of_a_minute(all_plots: dict[str, str]) -> None:
    assert marks(all_plots["performance-memory-two-windows.svg"], LINE) == [
        ("1", "401.667", "1,000 records per second")
    ]


@pytest.mark.parametrize("outcome", [None, Outcome(500, lost=1), Outcome(500, wrong=1)])
def test_a_run_that_ended_early_or_has_wrong_results_is_left_out(outcome: Outcome | None) -> None:
    assert plots([document("soak", replace(SOAK_RESULT, outcome=outcome))]) == {}


def test_the_command_writes_the_same_plots_in_another_process(tmp_path: Path, all_plots: dict[str, str]) -> None:
    (results := tmp_path / "a.json").write_text(json.dumps(ALL[1]), encoding="utf-8")
    command = [sys.executable, "-m", "bench.plots", str(results), "--out", str(out := tmp_path / "new/images")]

    printed = subprocess.check_output(command, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": "7"}, text=True)

    files = {path.name: path.read_text(encoding="utf-8") for path in out.iterdir()}
    assert sorted(printed.split()) == sorted(str(out / name) for name in files)
    assert len(files) == 2
    assert files.items() <= all_plots.items()


@pytest.mark.parametrize("content", ["{}", "[]", "no json", '{"kind": "other"}', '{"kind": "load"}'])
def test_a_file_that_is_no_result_is_refused(content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "a.json", tmp_path / "images"
    file.write_text(content, encoding="utf-8")

    assert main([str(file), "--out", str(out)]) == 1

    assert capsys.readouterr().err == f"failed: {file} is not a result of the benchmark\n"
    assert not out.exists()
