"""Runs a processor in the process of a test, as in production but with an existing engine and without its API.

A start takes a second or two instead of ten, because tests share the JVM and the Spark session.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event as Flag

from lsql_runner.config.settings import read_settings
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.runtime.supervisor import Supervisor
from lsql_runner.service import processor_without_api
from lsql_runner.start.request import request_of
from lsql_runner.status.model import Status

POLL_S = 0.02
REQUEST_TIMEOUT_S = 3.0
"""Deadline of a request to the brokers; in production it is longer."""


class InProcess:
    """A processor: its supervisor thread, and the status that it reports."""

    def __init__(self, supervisor: Supervisor) -> None:
        self.supervisor = supervisor

    @property
    def status(self) -> Status:
        return self.supervisor.status()

    def wait_for(self, predicate: Callable[[Status], bool], deadline_s: float = 60) -> Status:
        """The first status that the predicate accepts. AssertionError with the last status after the deadline."""
        deadline = time.monotonic() + deadline_s
        while not predicate(status := self.status):
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {deadline_s} s: {status}")
            time.sleep(POLL_S)
        return status

    def read_to(self, position: int, deadline_s: float = 60) -> Status:
        """Wait until the sum of the positions of all partitions is at least `position`."""
        return self.wait_for(lambda s: sum(s.reached.values()) >= position, deadline_s)


@contextmanager
def in_process(
    engine: SparkEngine, bootstrap: str, sql: str, app_id: str, state_dir: Path, **env: str
) -> Iterator[InProcess]:
    """A processor that runs within the block. `env` has more environment variables.

    Raises:
        LsqlError: the error with which `lsql run` would end before anything runs.
    """
    variables = {
        "SQL": sql,
        "SQL_APP_ID": app_id,
        "SQL_BOOTSTRAP_SERVERS": bootstrap,
        "SQL_STATE_STORE_DIR": str(state_dir),
        "SQL_METRIC_FREQUENCY": "500",
    }
    jvm_gone = Flag()
    with processor_without_api(
        engine, request_of(read_settings(variables | env)), jvm_gone.set, REQUEST_TIMEOUT_S
    ) as supervisor:
        yield InProcess(supervisor)
    assert not jvm_gone.is_set()
