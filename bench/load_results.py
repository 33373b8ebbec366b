"""The results of `bench.load`: resources and latency at a constant rate, as data and as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.latency import Latencies

SHARES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "most": 1.0}


@dataclass(frozen=True, slots=True)
class Usage:
    """Resources between the end of the warm-up and the last record."""

    cores: float
    """Seconds of processor time per second."""
    private_mib: tuple[float, ...]
    """Memory that no file backs, once a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadResult:
    """One run. `usage` and `latencies` are None if there is a `failure`."""

    program: str
    rate: int
    engine: str
    guarantee: str
    mode: str = "auto"
    """The `processing.mode` of lsql-runner, which the other engines do not have."""
    pace: str | None = None
    """Its `processing.pace`; None for the default."""
    processors: int = 1
    """How many ran at the same time: `usage` is that of all."""
    in_pod: bool = False
    """Whether it ran in a container with the limits of a pod, not on the host."""
    first_result_s: float = 0.0
    """Seconds from the start of the process to the result of a record that was there before."""
    usage: Usage | None = None
    latencies: Latencies | None = None
    failure: str = ""
    """Why there are no figures: the engine ended, or its results are wrong or late."""

    def document(self) -> dict[str, Any]:
        """The result as JSON."""
        document: dict[str, Any] = {
            "program": self.program,
            "rate": self.rate,
            "engine": self.engine,
            "guarantee": self.guarantee,
            "mode": self.mode,
            "pace": self.pace,
            "processors": self.processors,
            "in_pod": self.in_pod,
        }
        if self.usage is None or self.latencies is None:
            return document | {"failure": self.failure}
        private = self.usage.private_mib
        return document | {
            "first_result_s": self.first_result_s,
            "cores": self.usage.cores,
            "private_mib": {"first": private[0], "last": private[-1], "most": max(private)},
            "latency_ms": {name: self.latencies.at(share) for name, share in SHARES.items()} if self.rate else {},
        }


_TITLES = (
    *("program", "records/s", "engine", "guarantee"),
    *("seconds to the first result", "cores", "private MiB, first / last / most"),
)


def load_table(runs: Sequence[Mapping[str, Any]]) -> str:
    """One line for each run, in Markdown. `runs` are documents of results."""
    titles = [*_TITLES, f"{' / '.join(SHARES)}, ms"]
    return "\n".join([f"| {' | '.join(titles)} |", f"|{'---|' * len(titles)}", *map(load_line, runs)])


def load_line(run: Mapping[str, Any]) -> str:
    """The line of one run."""
    count = run.get("processors", 1)
    program = run["program"] if count == 1 else f"{count} of {run['program']}"
    cells = [program, f"{run['rate']:,}", run["engine"], run["guarantee"]]
    if "cores" in run:
        memory = " / ".join(f"{run['private_mib'][name]:.0f}" for name in ("first", "last", "most"))
        times = " / ".join(f"{run['latency_ms'][name]:,.0f}" for name in SHARES) if run["rate"] else ""
        cells += [f"{run['first_result_s']:.1f}", f"{run['cores']:.2f}", memory, times]
    else:
        cells += [run["failure"], "", "", ""]
    return f"| {' | '.join(cells)} |"
