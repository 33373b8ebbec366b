"""What the commands of the benchmark share: options, progress on stderr, and how a signal ends them."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from bench.expected import BenchFailed
from devkit.process import ProcessFailed

Result = TypeVar("Result")


def end_on_signals() -> None:
    """Let SIGINT and SIGTERM raise KeyboardInterrupt, so that what was started is ended."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)


def say(text: str) -> None:
    """Print progress, or a failure."""
    print(text, file=sys.stderr, flush=True)


def print_table(results: Iterable[Result], table: Callable[[Sequence[Result]], str]) -> int:
    """Print each result to stderr when it is there, and the table of all in the end. Returns the exit code.

    Args:
        results: measured one after the other; BenchFailed, ProcessFailed and signals end the command with 1.
        table: of all results.
    """
    end_on_signals()
    runs_measured: list[Result] = []
    try:
        for result in results:
            runs_measured.append(result)
            say(str(result))
    except (BenchFailed, ProcessFailed) as error:
        say(f"failed: {error}")
        return 1
    except KeyboardInterrupt:
        say("ended")
        return 1
    print(table(runs_measured))
    return 0


def add_variables(parser: argparse.ArgumentParser) -> None:
    """Add the option `--set NAME=VALUE`; `dict(options.set)` has the variables."""
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        type=_variable,
        action="append",
        default=[],
        help="an environment variable of lsql-runner",
    )


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError("needs NAME=VALUE")
    return name, value


def add_mode(parser: argparse.ArgumentParser) -> None:
    """Add the option `--mode`."""
    parser.add_argument(
        "--mode",
        choices=("auto", "batch", "continuous"),
        default="auto",
        help="processing.mode of lsql-runner (default auto)",
    )


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Add the options `--memory-mib` and `--cpus`, the limits of the container."""
    parser.add_argument("--memory-mib", type=int, default=768, help="the container's limit (default 768, the chart's)")
    parser.add_argument("--cpus", type=float, default=2.0, help="the container's limit (default 2)")
