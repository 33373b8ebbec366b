"""`lsql` with speculative execution, which users cannot enable, and with workers at addresses of their own.

Spark starts no copy of a task on the machine that already runs it, and compares machines by address: OWN_ADDRESS is
the address of a worker.
"""

from __future__ import annotations

import os

from lsql_runner import worker
from lsql_runner.cli import lsql
from lsql_runner.jvm import workers

COPIES = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.25",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.minTaskRuntime": "5s",
}
"""A copy of a task that has run for 5 s when a quarter of the tasks has ended: one that is suspended. If the attempt
before still runs, a copy may repeat some milliseconds of its records (decision 0038)."""


def main() -> None:
    """The entry point of `lsql`, with other settings."""
    settings, address = workers.driver_settings, worker.own_address
    workers.driver_settings = lambda workers: settings(workers) | COPIES
    worker.own_address = lambda workers: address(workers) and os.environ["OWN_ADDRESS"]
    lsql.main()


if __name__ == "__main__":
    main()
