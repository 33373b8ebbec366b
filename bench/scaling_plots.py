"""`python -m bench.scaling_plots`: draws the plots of simulated scaling in docs/guides/sizing.md, as SVG.

Each shows the workers and the lag over time, with the scaling policy and with a HorizontalPodAutoscaler, as
`lsql autoscale simulate` computes them with its default values. A file of the same format gives the plot of that load.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bench.charts import Key, Values, VegaLite, stacked, svg, time_chart
from ci.tools.cache import ROOT
from lsql_runner.errors import LsqlError
from lsql_runner.scaling.hpa import decide_as_hpa
from lsql_runner.scaling.load import Load, built_in_load
from lsql_runner.scaling.load_file import parse_load
from lsql_runner.scaling.policy import Policy, decide
from lsql_runner.scaling.report import plain_hpa
from lsql_runner.scaling.simulate import Decide, SimulatedWorkers, simulate

LOADS = ("step", "ramp")
"""The built-in loads whose plots are in the guide."""
_START_S, _INTERVAL_S = 22, 15
_MINUTES: VegaLite = {"title": "time (min)", "axis": {"tickCount": 12, "grid": False}}
_WORKERS: VegaLite = {"title": "workers", "axis": {"tickMinStep": 1}}
_LAG: VegaLite = {"title": "lag (records)", "axis": {"format": "~s"}}
_NEEDED: Key = ("needed for arriving records", "")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the plots and print their paths. Returns 1 if the load is invalid, or a plot cannot be written."""
    parser = argparse.ArgumentParser(prog="python -m bench.scaling_plots", description="Plots of simulated scaling.")
    parser.add_argument("load", nargs="?", type=Path, help="a CSV file as of `lsql autoscale simulate`")
    parser.add_argument("--worker-rate", type=float, default=10_000, help="records/s of a worker (default 10000)")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/images", help="folder (default docs/images)")
    options = parser.parse_args(arguments)
    try:
        loads = [built_in_load(name, options.worker_rate) for name in LOADS]
        if options.load is not None:
            loads = [parse_load(options.load.read_text(encoding="utf-8"), options.load.stem)]
        options.out.mkdir(parents=True, exist_ok=True)
        for load in loads:
            path = options.out / f"scaling-{load.name}.svg"
            path.write_text(svg(plot(load, options.worker_rate)), encoding="utf-8")
            print(path)
    except (OSError, ValueError, LsqlError) as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    return 0


def plot(load: Load, worker_rate: float) -> VegaLite:
    """The workers and the lag over time with both policies."""
    policy = Policy(worker_rate=worker_rate)
    workers = SimulatedWorkers(rate=worker_rate, start_s=_START_S, interval_s=_INTERVAL_S, limits=policy.limits)
    decisions: dict[str, Decide] = {
        "policy of lsql-runner": partial(decide, policy),
        "HorizontalPodAutoscaler on lag": partial(decide_as_hpa, plain_hpa(policy)),
    }
    numbers, lags = Values(), Values()
    for name, decision in decisions.items():
        numbers[name, ""], lags[name, ""] = [], []

        def observe(second: int, lag: float, count: int, key: Key = (name, "")) -> None:
            numbers[key].append((second / 60, count))
            lags[key].append((second / 60, lag))

        simulate(load, workers, decision, observe)
    numbers[_NEEDED] = []
    begin_s = 0
    for seconds, rate in load.rates:
        busy = rate / worker_rate
        numbers[_NEEDED] += [(begin_s / 60, busy), ((begin_s + seconds - 1) / 60, busy)]
        begin_s += seconds
    charts = [time_chart("", _MINUTES, y, values, {}) for y, values in ((_WORKERS, numbers), (_LAG, lags))]
    return stacked(f"Simulated workers and lag: {load.name}", charts)


if __name__ == "__main__":
    sys.exit(main())
