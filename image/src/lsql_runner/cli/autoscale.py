"""`lsql autoscale`: simulates the decisions of the scaling policy."""

from __future__ import annotations

import json
from pathlib import Path

import click

from lsql_runner.cli.exit_codes import exits_with_code
from lsql_runner.errors import file_error, render
from lsql_runner.scaling.load import BUILT_IN, Load, built_in_load
from lsql_runner.scaling.load_file import parse_load
from lsql_runner.scaling.policy import CatchUp, LagPerWorker, Policy
from lsql_runner.scaling.report import as_document, as_text, compare
from lsql_runner.scaling.simulate import SimulatedWorkers
from lsql_runner.scaling.window import Windows, WorkerLimits

_POLICY = Policy(worker_rate=1)
"""For default values."""
_CATCH_UP_S = 60
_SECONDS = click.IntRange(0, 3_600)
_COUNT = click.IntRange(1, 10_000)
_AMOUNT = click.FloatRange(1e-3, 1e12)


@click.group()
def autoscale() -> None:
    """Show how the number of workers would follow a load."""


@autoscale.command()
@click.argument("load", required=False, type=click.Path(dir_okay=False))
@click.option("--built-in", type=click.Choice(BUILT_IN), help="Simulate one of the built-in loads.")
@click.option(
    "--worker-rate", type=_AMOUNT, default=10_000, show_default=True, help="Records/s that a worker processes."
)
@click.option(
    "--assumed-rate", type=_AMOUNT, help="Records/s of a worker that the policy assumes. [default: --worker-rate]"
)
@click.option(
    "--catch-up",
    type=_AMOUNT,
    help=f"Target: seconds to process the lag beside arriving records. [default: {_CATCH_UP_S}]",
)
@click.option("--lag", type=_AMOUNT, help="Target instead: records of lag for each worker.")
@click.option(
    "--min", "minimum", type=_COUNT, default=_POLICY.limits.minimum, show_default=True, help="Fewest workers."
)
@click.option("--max", "maximum", type=_COUNT, default=_POLICY.limits.maximum, show_default=True, help="Most workers.")
@click.option("--partitions", type=_COUNT, help="Of the largest source topic: never more workers than these need.")
@click.option("--cores", type=_COUNT, default=1, show_default=True, help="Of a worker; each needs a partition.")
@click.option(
    "--up-window",
    type=_SECONDS,
    default=_POLICY.windows.up_s,
    show_default=True,
    help="Seconds: grow to the smallest number of this time.",
)
@click.option(
    "--down-window",
    type=_SECONDS,
    default=_POLICY.windows.down_s,
    show_default=True,
    help="Seconds: shrink to the largest number of this time.",
)
@click.option(
    "--cooldown",
    type=_SECONDS,
    default=_POLICY.cooldown_s,
    show_default=True,
    help="Seconds after a change without another one.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 0.9),
    default=_POLICY.tolerance,
    show_default=True,
    help="Share of the workers by which their number may be wrong.",
)
@click.option("--start", type=_SECONDS, default=22, show_default=True, help="Seconds until a new worker has results.")
@click.option(
    "--interval", type=click.IntRange(5, 3_600), default=15, show_default=True, help="Seconds between two decisions."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the noise of the built-in load `day`.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@exits_with_code(render)
def simulate(
    load: str | None,
    built_in: str | None,
    worker_rate: float,
    assumed_rate: float | None,
    catch_up: float | None,
    lag: float | None,
    minimum: int,
    maximum: int,
    partitions: int | None,
    cores: int,
    up_window: int,
    down_window: int,
    cooldown: int,
    tolerance: float,
    start: int,
    interval: int,
    seed: int,
    as_json: bool,
) -> int:
    """Simulate the scaling policy on a load, beside a HorizontalPodAutoscaler with the lag as its metric.

    LOAD is a CSV file with the header `seconds,records_per_second`; without it, all built-in loads are simulated: step,
    ramp, spikes, day. Times must be whole seconds that increase; a rate lasts until the next row. Of a processor,
    `seconds,end_offset` or `seconds,lag,processed_per_second` can be recorded instead: the sum over all partitions.
    """
    if load is not None and built_in is not None:
        raise click.UsageError("Give a file or --built-in, not both.")
    if catch_up is not None and lag is not None:
        raise click.UsageError("Give --catch-up or --lag, not both.")
    limits = _limits(minimum, maximum, partitions, cores)
    policy = Policy(
        worker_rate=assumed_rate or worker_rate,
        target=CatchUp(catch_up or _CATCH_UP_S) if lag is None else LagPerWorker(lag),
        limits=limits,
        windows=Windows(up_s=up_window, down_s=down_window),
        cooldown_s=cooldown,
        tolerance=tolerance,
    )
    workers = SimulatedWorkers(rate=worker_rate, start_s=start, interval_s=interval, limits=limits)
    if load is not None:
        loads = [_read(load)]
    else:
        loads = [built_in_load(name, worker_rate, seed) for name in ([built_in] if built_in else BUILT_IN)]
    rows = compare(loads, workers, policy)
    click.echo(json.dumps(as_document(rows, workers, policy), indent=2) if as_json else as_text(rows).rstrip())
    return 0


def _limits(minimum: int, maximum: int, partitions: int | None, cores: int) -> WorkerLimits:
    try:
        return WorkerLimits(minimum=minimum, maximum=maximum, partitions=partitions, cores=cores)
    except ValueError:
        raise click.UsageError("--min is more than --max, or than the workers that --partitions allows.") from None


def _read(path: str) -> Load:
    """The load in a file.

    Raises:
        LsqlError: FILE_UNREADABLE, FILE_NOT_UTF8, LOAD_FILE_INVALID.
    """
    try:
        text = Path(path).read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise file_error(path, error) from None
    return parse_load(text, path)
