"""A processor whose broker is killed, or whose brokers do not respond, and that is killed itself meanwhile."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.broker_cluster import SIZE, BrokerCluster
from tests.faults.programs import CONTINUOUS, GROUPS, JOINS, REAL_TIME, STATELESS, Suite
from tests.faults.scenario import POLL_S, Scenario

pytestmark = pytest.mark.timeout(400)

BEFORE = 60
STALLED_S = 6
"""Longer than a follower may lag, and than a leader may be silent."""


@pytest.mark.parametrize("kills_processor", [False, True], ids=["alone", "with the processor"])
@pytest.mark.parametrize("suite", [STATELESS, CONTINUOUS, GROUPS, REAL_TIME, JOINS], ids=lambda suite: suite.name)
def test_a_killed_broker_that_starts_again_on_its_data(tmp_path: Path, suite: Suite, kills_processor: bool) -> None:
    with Broker() as broker, Scenario(broker, suite, tmp_path) as scenario:
        runner = scenario.start()
        scenario.feed(BEFORE)
        scenario.catch_up()
        with scenario.light_load(20):
            runner.wait_for(lambda stream: sum(place["position"] or 0 for place in stream["offsets"]) > BEFORE)
            broker.kill()
            if kills_processor:
                jvm = runner.jvm_pid()
                os.kill(jvm, signal.SIGKILL)
                scenario.await_end(jvm)
            broker.start()
            if kills_processor:
                scenario.start()
            await_records(scenario, scenario.fed + BEFORE)
        scenario.catch_up(150)

        scenario.check(f"broker killed, processor killed: {kills_processor}")


@pytest.mark.parametrize("suite", [STATELESS, CONTINUOUS, GROUPS, REAL_TIME], ids=lambda suite: suite.name)
def test_a_stalled_broker_of_three(tmp_path: Path, suite: Suite) -> None:
    """It is the leader of some partitions and a follower of others; the processor is killed while it is silent."""
    with BrokerCluster() as brokers, Scenario(brokers, suite, tmp_path, replication=SIZE) as scenario:
        runner = scenario.start()
        scenario.feed(BEFORE)
        scenario.catch_up()
        with scenario.light_load(20):
            stalled = brokers.nodes[-1]
            stalled.pause()
            scenario.live_for(STALLED_S)
            jvm = runner.jvm_pid()
            os.kill(jvm, signal.SIGKILL)
            scenario.await_end(jvm)
            scenario.start()
            stalled.resume()
            await_records(scenario, scenario.fed + BEFORE)
        scenario.catch_up(150)

        scenario.check("a broker of three stalled")


def await_records(scenario: Scenario, number: int, deadline_s: float = 120) -> None:
    """Wait until the load has produced so many numbers."""
    deadline = time.monotonic() + deadline_s
    while scenario.fed < number:
        assert time.monotonic() < deadline, f"{scenario.fed} numbers instead of {number}"
        time.sleep(POLL_S)
