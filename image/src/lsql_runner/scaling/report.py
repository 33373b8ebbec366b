"""Compares the policy with a plain HorizontalPodAutoscaler on loads, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from lsql_runner.scaling.hpa import HpaPolicy, decide_as_hpa
from lsql_runner.scaling.load import Load
from lsql_runner.scaling.policy import CatchUp, Policy, decide
from lsql_runner.scaling.simulate import SimulatedWorkers, SimulationResult, simulate

_HEADER = (
    *("load", "policy", "reaction, s", "overshoot", "scalings", "worker-hours", "mean delay, s"),
    *("largest lag", "at, s"),
)


@dataclass(frozen=True, slots=True)
class Compared:
    """A row of the comparison: a load, `lag` for the policy or `hpa`, and what was measured."""

    load: str
    policy: str
    outcome: SimulationResult


def compare(loads: Iterable[Load], workers: SimulatedWorkers, policy: Policy) -> list[Compared]:
    """Two rows for each load: the policy, and its `plain_hpa`."""
    plain = plain_hpa(policy)
    rows = []
    for load in loads:
        rows.append(Compared(load.name, "lag", simulate(load, workers, partial(decide, policy))))
        rows.append(Compared(load.name, "hpa", simulate(load, workers, partial(decide_as_hpa, plain))))
    return rows


def plain_hpa(policy: Policy) -> HpaPolicy:
    """A HorizontalPodAutoscaler with the target and the limits of a policy, whose rate of a worker is known.

    Its target is the lag that a worker processes in the time to catch up, if the policy has one.
    """
    target = policy.target
    assert policy.worker_rate is not None
    records = target.seconds * policy.worker_rate if isinstance(target, CatchUp) else target.records
    return HpaPolicy(target=records, limits=policy.limits)


def as_text(rows: Sequence[Compared]) -> str:
    """A table with a header; names to the left, numbers to the right."""
    table = [_HEADER, *(_cells(row) for row in rows)]
    widths = [max(len(cells[column]) for cells in table) for column in range(len(_HEADER))]
    lines = []
    for cells in table:
        padded = [
            text.ljust(width) if column < 2 else text.rjust(width)
            for column, (text, width) in enumerate(zip(cells, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines) + "\n"


def _cells(row: Compared) -> tuple[str, ...]:
    outcome = row.outcome
    return (
        *(row.load, row.policy, str(outcome.reaction_s), str(outcome.overshoot), str(outcome.scalings)),
        *(
            f"{outcome.worker_hours:.2f}",
            f"{outcome.delay_s:.1f}",
            f"{outcome.max_lag:,.0f}",
            str(outcome.max_lag_at_s),
        ),
    )


def as_document(rows: Sequence[Compared], workers: SimulatedWorkers, policy: Policy) -> dict[str, Any]:
    """The settings and the rows as data for JSON; times are in seconds, lags in records."""
    limits = policy.limits
    return {
        "settings": {
            "workerRate": workers.rate,
            "assumedRate": policy.worker_rate,
            "target": asdict(policy.target),
            "min": limits.minimum,
            "max": limits.most,
            "upWindow": policy.windows.up_s,
            "downWindow": policy.windows.down_s,
            "cooldown": policy.cooldown_s,
            "tolerance": policy.tolerance,
            "start": workers.start_s,
            "interval": workers.interval_s,
        },
        "results": [{"load": row.load, "policy": row.policy, **_fields(row.outcome)} for row in rows],
    }


def _fields(simulation: SimulationResult) -> dict[str, Any]:
    return {
        "reaction": simulation.reaction_s,
        "overshoot": simulation.overshoot,
        "scalings": simulation.scalings,
        "workerHours": round(simulation.worker_hours, 4),
        "meanDelay": round(simulation.delay_s, 3),
        "maxLag": round(simulation.max_lag),
        "maxLagAt": simulation.max_lag_at_s,
        "mostWorkers": simulation.most_workers,
    }
