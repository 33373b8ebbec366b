"""`python -m bench.soak`: constant load with faults; needs root and `make image`.

Runs the image in a container with the limits of a pod at a constant rate of records, restarts broker and processor,
kills the JVM, adds bursts and partitions. It fails if memory, descriptors, threads or the checkpoint grow, or if a
record has no result.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from bench.command import add_limits, add_mode, add_variables, end_on_signals, say
from bench.expected import BenchFailed
from bench.machine import machine
from bench.report import SOAK, page, save
from bench.soak.plan import JUDGED_MINUTES, LEAST_MINUTES, Fault
from bench.soak.programs import SOAK_PROGRAMS
from bench.soak.run import SoakOptions, run
from ci.tools.image import default_tag
from devkit.broker import Broker
from devkit.container import built_image
from devkit.process import ProcessFailed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run each program at each rate. Returns 1 if a run failed, or on a signal."""
    options = _options(arguments)
    end_on_signals()
    runs: list[dict[str, Any]] = []
    document = {"kind": SOAK, "conditions": _conditions(options), "runs": runs}
    try:
        image = built_image(default_tag())
        with Broker(jvm_options=("-Xms512m", "-Xmx512m")) as broker:
            for each in _runs(options):
                runs.append(run(each, broker, image).document())
    except (BenchFailed, ProcessFailed, AssertionError) as error:
        say(f"failed: {error}")
        return 1
    except KeyboardInterrupt:
        return 1
    finally:
        if runs:
            say(f"results: {save(document)}")
    print(f"\n{page([document])}")
    failures = [f"failed: {each['program']}: {failure}" for each in runs for failure in each["failures"]]
    growth = "no quantity grows" if options.minutes >= JUDGED_MINUTES else "the run is too short to judge growth"
    say("\n".join(failures or [f"each record has its result; {growth}"]))
    return 1 if failures else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description="Constant load with faults in a pod.")
    parser.add_argument(
        "--minutes",
        type=float,
        default=120,
        help="time of each run (default 120); a run of less than 10 finds only losses",
    )
    parser.add_argument(
        "--program", choices=sorted(SOAK_PROGRAMS), action="append", help="may be repeated (default two-windows)"
    )
    parser.add_argument("--rate", type=int, action="append", help="records per second, repeatable (default 1000)")
    parser.add_argument(
        "--fault",
        choices=[each.name.lower() for each in Fault],
        action="append",
        help="one that happens, repeatable (default all)",
    )
    add_mode(parser)
    add_variables(parser)
    add_limits(parser)
    parser.add_argument("--partitions", type=int, default=4, help="partitions of each topic at the start (default 4)")
    options = parser.parse_args(arguments)
    if options.minutes < LEAST_MINUTES:
        parser.error(f"--minutes must be at least {LEAST_MINUTES}")
    return options


def _runs(options: argparse.Namespace) -> list[SoakOptions]:
    return [
        SoakOptions(
            program=SOAK_PROGRAMS[name],
            rate=rate,
            minutes=options.minutes,
            mode=options.mode,
            partitions=options.partitions,
            limits=(options.cpus, options.memory_mib),
            faults=_faults(options),
            variables=dict(options.set),
        )
        for name in options.program or ["two-windows"]
        for rate in options.rate or [1_000]
    ]


def _faults(options: argparse.Namespace) -> list[Fault]:
    """Those that happen, in the order of a round."""
    return [each for each in Fault if options.fault is None or each.name.lower() in options.fault]


def _conditions(options: argparse.Namespace) -> str:
    variables = "".join(f" {name}={value}." for name, value in options.set)
    return (
        f"{options.minutes:g} minutes each, one sample every 5 s; {options.partitions} partitions at the start. "
        f"Faults: {', '.join(_faults(options))}. "
        f"Container: {options.memory_mib} MiB, {options.cpus:g} CPUs.{variables} {machine()}"
    )


if __name__ == "__main__":
    sys.exit(main())
