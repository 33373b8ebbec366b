"""`python -m bench.plots FILE...`: draws the plots of docs/performance.md from result files, as SVG.

Files of a kind are merged, also those with different conditions. Where several runs have a value, it is their median.
Failed runs are left out; of `bench.soak` see `_memory_plots`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.charts import Key, Values, VegaLite, bar_chart, joined, line_chart, svg, time_chart
from bench.engines import ENGINES, LSQL_RUNNER
from bench.load_programs import PROGRAMS
from bench.report import LOAD, SOAK, THROUGHPUT, comparisons, read
from bench.soak.programs import SOAK_PROGRAMS
from ci.tools.cache import ROOT

_ENGINES = tuple(engine.name for engine in ENGINES.values())
_PROGRAMS = {program.title: name for table in (PROGRAMS, SOAK_PROGRAMS) for name, program in table.items()}

_THROUGHPUT: VegaLite = {
    "title": "median throughput after the warm-up (records per second)",
    "axis": {"tickCount": 6, "grid": False},
}
_RATE: VegaLite = {
    "title": "rate (records per second)",
    # Logarithmic except near 0, which thus has a place.
    "scale": {"type": "symlog", "nice": False, "zero": False, "domain": {"unionWith": [10, 10_000]}, "padding": 12},
    "axis": {"values": [0, *(10**power for power in range(1, 7))], "grid": False},
}
_LATENCY: VegaLite = {
    "title": "latency, 99th percentile (ms)",
    "scale": {"type": "log", "nice": False, "domain": {"unionWith": [10, 1000]}, "padding": 12},
    "axis": {"values": [digit * 10**power for power in range(6) for digit in (1, 2, 5)]},
}
_CORES: VegaLite = {"title": "processor time (cores)"}
_MINUTES: VegaLite = {"title": "time (min)", "axis": {"tickCount": 12, "grid": False}}
_MEMORY: VegaLite = {"title": "median private memory (MiB)"}

_WORKERS = "workers"
"""A throughput of which runs are on workers: lsql-runner is compared with itself."""

_Run = Mapping[str, Any]
"""The document of a run."""
_Plots = dict[tuple[str, str, tuple[str, ...]], Values]
"""Plots by their name in the file name and in the title, and by what has the first colours."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the plots and print their paths. Returns 1 if a file is not a result, or a plot cannot be written."""
    parser = argparse.ArgumentParser(prog="python -m bench.plots", description="The plots of result files, as SVG.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a file of bench/results")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/images", help="folder (default docs/images)")
    options = parser.parse_args(arguments)
    try:
        drawn = plots([read(path) for path in options.files])
        options.out.mkdir(parents=True, exist_ok=True)
        for name, chart in drawn.items():
            (options.out / name).write_text(svg(chart), encoding="utf-8")
            print(options.out / name)
    except (OSError, ValueError) as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    return 0


def plots(documents: Iterable[Mapping[str, Any]]) -> dict[str, VegaLite]:
    """The plots of documents of `bench.report.read`, by file name; none of a kind that no document has."""
    runs: dict[str, list[_Run]] = defaultdict(list)
    for document in documents:
        on_workers = any(run.get("engine") not in _ENGINES for run in document["runs"])
        runs[_WORKERS if document["kind"] == THROUGHPUT and on_workers else document["kind"]] += document["runs"]
    return (
        _throughput_plot(runs[THROUGHPUT])
        | _workers_plot(runs[_WORKERS])
        | _load_plots(runs[LOAD])
        | _memory_plots(runs[SOAK])
    )


def _throughput_plot(runs: Sequence[_Run]) -> dict[str, VegaLite]:
    """The rate of each engine in each workload."""
    rates = _warm_rates(runs)
    if not rates:
        return {}
    return {"performance-throughput.svg": bar_chart("Throughput with a backlog", _THROUGHPUT, rates, _ENGINES)}


def _workers_plot(runs: Sequence[_Run]) -> dict[str, VegaLite]:
    """The rate of lsql-runner in one process, and with each number of workers."""
    rates = _warm_rates(runs)
    if not rates:
        return {}
    named = {
        ("one process" if engine == LSQL_RUNNER.name else engine, ""): values for (engine, _), values in rates.items()
    }
    return {
        "performance-workers.svg": bar_chart(
            "Throughput with a backlog: one process and workers", _THROUGHPUT, named, ()
        )
    }


def _warm_rates(runs: Sequence[_Run]) -> Values:
    """Records per second of each engine in each workload. Runs that are too short for a warm rate are left out."""
    rates: Values = defaultdict(list)
    for comparison in comparisons(runs):
        for engine, of_engine in comparison.runs.items():
            for run in of_engine:
                if run.warm_per_s is not None:
                    rates[engine, ""].append((comparison.workload, run.warm_per_s))
    return rates


def _load_plots(runs: Sequence[_Run]) -> dict[str, VegaLite]:
    """Latency and cores by rate: of each program in all engines, and of all programs in a pod."""
    latencies: _Plots = defaultdict(lambda: defaultdict(list))
    cores: _Plots = defaultdict(lambda: defaultdict(list))
    for run in runs:
        if "failure" in run:
            continue
        plot = _file_name(run["program"]), run["program"], _ENGINES
        key = run["engine"], joined([_settings(run), run["guarantee"]])
        if run.get("in_pod"):
            plot, key = ("pod", "in a pod", ()), (run["program"], _settings(run))
        cores[plot][key].append((run["rate"], run["cores"]))
        if run["rate"]:
            # Latencies are whole milliseconds; a logarithmic axis has no 0.
            latencies[plot][key].append((run["rate"], max(1, run["latency_ms"]["p99"])))
    return {
        f"performance-{measure}-{name}.svg": line_chart(f"{title} at a constant rate: {where}", _RATE, y, values, first)
        for measure, title, y, plotted in (
            ("latency", "Latency", _LATENCY, latencies),
            ("cores", "Processor use", _CORES, cores),
        )
        for (name, where, first), values in plotted.items()
    }


def _settings(run: _Run) -> str:
    """Mode and pace of lsql-runner if they are not the defaults. Files of earlier versions do not have them."""
    if run["engine"] != LSQL_RUNNER.name:
        return ""
    mode, pace = run.get("mode", "auto"), run.get("pace")
    return joined(["" if mode == "auto" else mode, f"pace {pace}" if pace else ""])


def _memory_plots(runs: Sequence[_Run]) -> dict[str, VegaLite]:
    """The private memory in each minute, for each program: a line for each run and a rule for the memory limit.

    A run that ended early, or has missing or wrong results, is left out. One that fails because memory grows is not.
    """
    plotted: dict[str, list[_Run]] = defaultdict(list)
    for run in sorted(runs, key=lambda run: run["rate"]):
        if run["outcome"] and not run["outcome"]["lost"] and not run["outcome"]["wrong"] and run["samples"]:
            plotted[run["program"]].append(run)
    return {
        f"performance-memory-{_file_name(program)}.svg": _memory(program, of_program)
        for program, of_program in plotted.items()
    }


def _memory(program: str, runs: Sequence[_Run]) -> VegaLite:
    """The plot of a program; a second run with the same rate and mode has a number."""
    values: Values = {}
    numbers: Counter[Key] = Counter()
    for run in runs:
        rate, mode = f"{run['rate']:,} records per second", "" if run["mode"] == "auto" else run["mode"]
        numbers[rate, mode] += 1
        number = f"run {numbers[rate, mode]}" if numbers[rate, mode] > 1 else ""
        # A single sample may be too large: while a process forks, its memory counts twice.
        values[rate, joined([mode, number])] = [(int(at["at_s"] / 60) + 1, at["private_mib"]) for at in run["samples"]]
    limits = sorted({run["memory_limit_mib"] for run in runs if "memory_limit_mib" in run})
    rules = {f"memory limit, {limit:,} MiB": limit for limit in limits}
    return time_chart(f"Memory over time, with faults: {program}", _MINUTES, _MEMORY, values, rules)


def _file_name(title: str) -> str:
    """The name of a program with this title; the title with hyphens if it has another name today."""
    return _PROGRAMS.get(title) or re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


if __name__ == "__main__":
    sys.exit(main())
