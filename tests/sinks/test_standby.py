"""A leader is suspended in the middle of a transaction, and a standby writes the batch again.

Only a real server holds the locks of a client that is suspended.
"""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.postgres import Postgres
from devkit.standby import DEADLINE_S, await_state, pair, processes_of, send
from devkit.waiting import wait_until
from tests.sinks.test_run import KEYS, NumberedSource, await_pause, end_pause, pause_at_row, variables

pytestmark = pytest.mark.timeout(600)

SUCCESSOR_S = 120
"""Without a limit of the server, the successor waits for the locks of the suspended leader for ever."""


def test_the_transaction_of_a_suspended_leader_does_not_keep_the_standby_from_writing(
    broker: Broker, postgres: Postgres, tmp_path: Path
) -> None:
    source = NumberedSource(broker)
    sql = (
        "SET autocreate=true; SET _ktype='STRING'; "
        f"INSERT INTO shop.{source.table}_log SELECT n FROM {source.topic} WHERE n >= 0; "
        f"UPSERT INTO shop.{source.table} SELECT _key AS id, n FROM {source.topic} PK id"
    )
    source.produce(10)
    env = variables(postgres)
    with pair(broker, sql, f"standby-{source.topic}", (tmp_path, tmp_path), **env) as (first, second, _):
        first.read_to(source.produced, DEADLINE_S)
        pause_at_row(postgres, f"{source.table}_log", 3_000, seconds=3)
        source.produce(6_000)
        await_pause(postgres)
        zombie = processes_of(first)
        send(zombie, signal.SIGSTOP)
        try:
            await_state(second, "running", SUCCESSOR_S)
            second.read_to(source.produced, SUCCESSOR_S)
        finally:
            send(zombie, signal.SIGCONT)
            end_pause(postgres, f"{source.table}_log")
        wait_until(lambda: first.exit_code is not None, "the end of the zombie", DEADLINE_S)
        assert "PROCESSOR_REPLACED" in first.output()
        source.produce(500)
        second.read_to(source.produced, DEADLINE_S)

    assert Counter(row["n"] for row in postgres.rows(f"{source.table}_log")) == Counter(range(source.produced))
    newest = {str(n % KEYS): n for n in range(source.produced)}
    assert {row["id"]: row["n"] for row in postgres.rows(source.table)} == newest
