"""Workers write to sinks: each row once although executors are killed, with credentials that only the processor has.

Only real executors show it: they are other JVMs, which load the clients of the sinks and get the credentials with their
tasks. The processor is a process too, because a Python process has one session of Spark.
"""

from __future__ import annotations

import os
import signal
import uuid
from collections import Counter
from pathlib import Path

import pytest

from devkit import redis as rd
from devkit.broker import Broker
from devkit.postgres import Postgres
from devkit.redis import Redis
from devkit.runner import Runner
from devkit.workers import WorkerProcess, executor_of, free_ports, jvms_of, worker_environment
from tests.sinks.test_run import DEADLINE_S, KEYS, NumberedSource, await_pause, end_pause, pause_at_row

pytestmark = pytest.mark.timeout(600)

ROWS = 20_000
EVERYTHING = "TRACE"


class Role:
    """A user of the server whose password can change."""

    def __init__(self, postgres: Postgres) -> None:
        self.name = f"r_{uuid.uuid4().hex[:8]}"
        self.passwords = [f"secret-{uuid.uuid4().hex}"]
        self._postgres = postgres
        postgres.sql(f"CREATE ROLE {self.name} LOGIN SUPERUSER PASSWORD '{self.passwords[0]}'")

    def change_password(self) -> None:
        self.passwords.append(f"secret-{uuid.uuid4().hex}")
        self._postgres.sql(f"ALTER ROLE {self.name} PASSWORD '{self.passwords[-1]}'")

    def variables(self) -> dict[str, str]:
        return {
            "LSQL_SINK_SHOP_URL": self._postgres.url,
            "LSQL_SINK_SHOP_USER": self.name,
            "LSQL_SINK_SHOP_PASSWORD": self.passwords[-1],
        }


def test_workers_write_each_row_once_with_credentials_that_only_the_processor_has(
    broker: Broker, postgres: Postgres, redis: Redis, tmp_path: Path
) -> None:
    source, role, port = NumberedSource(broker), Role(postgres), free_ports()
    log, newest = f"{source.table}_log", source.table
    sql = (
        "SET autocreate=true; SET _ktype='STRING'; "
        f"INSERT INTO shop.{log} SELECT n FROM {source.topic}; "
        f"UPSERT INTO shop.{newest} SELECT _key AS id, n FROM {source.topic} PK id; "
        f"UPSERT INTO cache.{newest} SELECT _key AS id, n FROM {source.topic} PK id"
    )

    def processor() -> Runner:
        sinks = role.variables() | {"LSQL_SINK_CACHE_URL": redis.url, "LSQL_SINK_CACHE_PASSWORD": rd.PASSWORD}
        env = worker_environment(port, ROOT_LOG_LEVEL=EVERYTHING) | sinks
        return Runner(broker.bootstrap, sql, f"workers-{source.topic}", tmp_path, **env)

    source.produce(10)
    with WorkerProcess(port, ready=False, ROOT_LOG_LEVEL=EVERYTHING, LSQL_THREADS="2") as worker:
        with processor() as runner:
            runner.read_to(source.produced, DEADLINE_S)
            pause_at_row(postgres, log, ROWS // 2)
            source.produce(ROWS)
            await_pause(postgres)
            os.kill(executor_of(worker), signal.SIGKILL)
            end_pause(postgres, log)
            assert runner.read_to(source.produced, DEADLINE_S)["restarts"] == 0

            commands = [command_of(pid) for pid in (worker.pid, *jvms_of(worker))]
            assert not found_in("".join(commands), role)
            runner.stop()
            role.change_password()

        with processor() as restarted:  # with the same worker as before
            source.produce(10)
            restarted.read_to(source.produced, DEADLINE_S)
            postgres.sql(f"ALTER TABLE {log} ADD CONSTRAINT refused CHECK (n <> {source.produced}) NOT VALID")
            source.produce(1)
            reason = restarted.reach("failed", DEADLINE_S)["reason"]

        assert reason["code"] == "SINK_RECORD_REFUSED"
        assert reason["params"]["topic"] == source.topic
        outputs = "".join(process.output() for process in (runner, restarted, worker))
        assert "TaskSetManager" in outputs  # the text of tasks would be there
        assert not found_in(outputs, role)

    written = source.produced - 1
    assert Counter(row["n"] for row in postgres.rows(log)) == Counter(range(written))
    largest = {str(n % KEYS): n for n in range(written)}
    upserted = {row["id"]: row["n"] for row in postgres.rows(newest)}
    upserted[str(written % KEYS)] = largest[str(written % KEYS)]  # whose row of the last batch may be there or not
    assert upserted == largest
    keys = [key for key in redis.all_keys() if key.startswith(f"{newest}:")]
    assert {key.split(":")[1] for key in keys} == largest.keys()


def command_of(pid: int) -> str:
    """The arguments and variables of a process."""
    return "".join(Path(f"/proc/{pid}/{name}").read_text(errors="replace") for name in ("cmdline", "environ"))


def found_in(text: str, role: Role) -> list[str]:
    """The passwords that a text contains."""
    return [secret for secret in role.passwords if secret in text]
