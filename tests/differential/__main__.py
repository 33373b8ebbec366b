"""The long comparison: runs seeds for a given time. `python -m tests.differential --minutes 10`."""

from __future__ import annotations

import time
from itertools import count

import click

from devkit.engines import memory_engine
from tests.differential.check import Engines, check
from tests.differential.kafka_streams import KafkaStreams
from tests.differential.programs import SUITES


@click.command()
@click.option("--minutes", default=10.0, show_default=True, help="No comparison begins after that time.")
@click.option(
    "--seed", "first", default=1, show_default=True, help="The seed of the first round; each round increases it by 1."
)
@click.option("--suite", "wanted", type=click.Choice([suite.name for suite in SUITES]), help="Compare only this suite.")
def main(minutes: float, first: int, wanted: str | None) -> None:
    """Compare all programs with Kafka Streams. Exit code 1 if there is a difference."""
    end = time.monotonic() + 60 * minutes
    suites = [suite for suite in SUITES if wanted in (None, suite.name)]
    failed = compared = 0
    with memory_engine() as engine, KafkaStreams() as streams:
        for seed in count(first):
            for suite in suites:
                if time.monotonic() > end:
                    click.echo(f"{compared} comparisons from seed {first} on, {failed} with differences")
                    raise SystemExit(1 if failed else 0)
                compared += 1
                try:
                    check(suite, seed, Engines(engine, streams))
                except AssertionError as error:
                    failed += 1
                    click.echo(str(error))


if __name__ == "__main__":
    main()
