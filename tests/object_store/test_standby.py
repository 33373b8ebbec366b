"""Two `lsql run` with their state in a real store, of which a Lease chooses one: the leader is killed, and suspended.

Only a real store refuses the entry of a log that a suspended process writes when it continues, and only real processes
show that the JVM of the standby runs its queries without writing to the store.
"""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.object_store import ObjectStore
from devkit.standby import await_state, pair
from tests.conftest import TopicFactory
from tests.faults.replacements import check_replacements
from tests.kafka.load_of_workers import DEADLINE_S, Load

pytestmark = pytest.mark.timeout(600)


@pytest.mark.parametrize("guarantee", ["exactly_once_v2", "at_least_once"])
def test_a_leader_whose_state_is_in_a_store_is_replaced_and_fenced(
    broker: Broker, topic: TopicFactory, store: ObjectStore, tmp_path: Path, guarantee: str
) -> None:
    at_uri = {**store.variables(), "LSQL_STATE_URI": f"{store.uri}/{uuid.uuid4().hex}"}

    check_replacements(broker, topic, (tmp_path / "one", tmp_path / "two"), guarantee, **at_uri)


def test_a_leader_that_ends_in_order_hands_over_to_a_standby_that_was_warm_and_wrote_nothing(
    broker: Broker, topic: TopicFactory, store: ObjectStore, tmp_path: Path
) -> None:
    load = Load(broker, topic)
    load.produce(2_000)
    at_uri = {**store.variables(), "LSQL_STATE_URI": f"{store.uri}/{uuid.uuid4().hex}"}
    folders = (tmp_path / "one", tmp_path / "two")
    with pair(broker, load.sql, f"app-{load.source}", folders, **at_uri) as (first, second, lease):
        first.read_to(load.produced, DEADLINE_S)
        second.get("/stream")
        first.stop()
        load.produce(200)
        await_state(second, "running")
        second.read_to(load.produced, DEADLINE_S)

        assert lease.record.transitions == 2
        assert first.exit_code == 0
        for runner in (first, second):
            assert "PROCESSOR_REPLACED" not in runner.output()
            assert runner.traces() == []
        assert second.stream()["restarts"] == 0
    load.check()
