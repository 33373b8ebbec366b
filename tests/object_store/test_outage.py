"""A store that cannot be reached: before the start, for some seconds, and for longer than the lock lasts.

Fakes have no connector, whose exceptions name the cause, and no queries of Spark, which fail in several places.
"""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.object_store import ObjectStore
from devkit.runner import Stream
from lsql_runner.errors import EXIT_RUNTIME
from tests.faults.programs import GROUPS
from tests.faults.scenario import Scenario

pytestmark = pytest.mark.timeout(300)

RECORDS = 60
DEADLINE_S = 90


def reasons(stream: Stream) -> list[str]:
    return [reason["code"] for reason in stream["health"]["reasons"]]


def test_a_processor_waits_for_its_store_and_ends_before_another_one_could_take_its_state(
    broker: Broker, tmp_path: Path
) -> None:
    with ObjectStore() as store:
        env = {**store.variables(), "LSQL_STATE_URI": f"{store.uri}/{uuid.uuid4().hex}"}
        with Scenario(broker, GROUPS, tmp_path, env=env) as scenario:
            store.stop()
            runner = scenario.start()
            waiting = runner.wait_for(lambda stream: stream["state"] == "waiting")
            assert waiting["reason"]["code"] == "STATE_STORE_UNREACHABLE"
            assert env["LSQL_STATE_URI"] in waiting["reason"]["message"]
            assert "Connection refused" in waiting["reason"]["message"]
            assert runner.health() == (503, ["store-unreachable"])
            assert runner.get("/health/live").status == 200

            store.start()
            scenario.feed(RECORDS)
            scenario.catch_up()

            store.stop()
            scenario.feed(RECORDS)
            failed = runner.wait_for(lambda stream: stream["state"] != "running")
            assert failed["lastError"]["code"] == "STATE_STORE_UNREACHABLE"
            store.start()
            scenario.catch_up()

            store.stop()
            scenario.feed(RECORDS)
            runner.wait_for(lambda stream: "store-unreachable" in reasons(stream))
            assert runner.wait(DEADLINE_S) == EXIT_RUNTIME
            assert "STATE_LOCK_EXPIRED" in runner.output()
            store.start()
            scenario.start()
            scenario.catch_up()

            scenario.check("an outage of the store")
            outputs = "".join(each.output() for each in scenario.starts)
            assert "internal error" not in outputs
            assert "Traceback" not in outputs
            assert "\tat " not in outputs
