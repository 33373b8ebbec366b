"""A changed program takes over from the earlier one without a gap, on a real broker.

Fakes have no state that is built beside another one, and no results that both could write.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from threading import Event

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions  # type: ignore[attr-defined]

from devkit.broker import Broker
from devkit.cluster_traffic import LONGEST_GAP_S, LongestPause
from lsql_runner.api.views import comparison
from lsql_runner.errors import LsqlError
from tests.conftest import TopicFactory
from tests.kafka.changed_program import COUNT, FINAL, MINUTE, SUM, T0, WINDOW, WINDOW_SUM, ChangedProgram, CountingIds
from tests.thorough import inputs

KILLS = 5
"""Of one test."""
GREEN = {"LSQL_STATE_ON_CHANGE": "blue_green", "LSQL_STATE_SWITCH_AFTER_S": "0"}
MANUAL = {**GREEN, "LSQL_STATE_SWITCH": "manual"}


def test_the_earlier_insert_writes_until_the_changed_one_has_caught_up(program: ChangedProgram) -> None:
    program.add([T0] * 3)
    program.read_all(COUNT)
    before = program.results()
    program.add([T0])

    with program.run(SUM, **MANUAL) as running:
        running.read_to(4)
        running.wait_for(lambda s: s.blue_green is not None and s.blue_green.phase == "ready")
        program.add([T0])
        running.read_to(5)
        of_blue = program.results()[len(before) :]
        running.supervisor.switch(by="test")
        running.wait_for(lambda s: s.blue_green is None)
        program.add([T0] * 2)
        running.read_to(7)

    assert of_blue == [{"c": 4}, {"c": 5}]
    assert program.results()[len(before) + 2 :][-1] == {"c": 7, "s": 28}
    assert all("s" in result for result in program.results()[len(before) + 2 :])


def test_the_state_of_both_is_compared_before_the_switch(program: ChangedProgram) -> None:
    program.add([T0] * 3)
    program.read_all(SUM)
    doubled = SUM.replace("SUM(n)", "SUM(COALESCE(n, 0) * 2)").replace("COUNT(*) AS c", "COUNT(*) AS c, MAX(n) AS m")

    with program.run(doubled, **MANUAL, LSQL_API_QUERIES="open") as running:
        running.wait_for(lambda s: s.blue_green is not None and s.blue_green.phase == "ready")
        program.add([T0])  # a batch of blue: it has no state in memory before the first
        running.read_to(4)
        running.wait_for(lambda s: set(s.records_to_rebuild.values()) == {0})
        [compared] = comparison(running.supervisor)

    assert (compared.equal, compared.different, compared.unclear) == (0, 1, 0)
    [difference] = compared.differences
    assert (difference.key, difference.blue, difference.green) == ("a", {"c": 4, "s": 10}, {"c": 4, "s": 20})


def test_the_switch_needs_no_request(program: ChangedProgram) -> None:
    program.add([T0] * 3)
    program.read_all(COUNT)

    with program.run(SUM, **GREEN) as running:
        running.wait_for(lambda s: s.blue_green is not None)
        running.wait_for(lambda s: s.blue_green is None)
        program.add([T0])
        running.read_to(4)

    assert program.results()[-1] == {"c": 4, "s": 10}


def test_each_final_result_is_written_once(program: ChangedProgram) -> None:
    program.add([T0, T0 + MINUTE, T0 + 2 * MINUTE])
    with program.run(FINAL + WINDOW) as running:
        running.wait_for(lambda s: s.records_out == 2)

    with program.run(FINAL + WINDOW_SUM, **MANUAL) as running:
        running.wait_for(lambda s: s.blue_green is not None and s.blue_green.phase == "ready")
        program.add([T0 + 2 * MINUTE, T0 + 3 * MINUTE + 2_000])
        running.wait_for(lambda s: s.records_out == 1)
        running.wait_for(lambda s: s.blue_green is not None and s.blue_green.phase == "ready")
        running.supervisor.switch(by="test")
        running.wait_for(lambda s: s.blue_green is None)
        program.add([T0 + 4 * MINUTE + 2_000])
        running.wait_for(lambda s: s.records_out == 2)

    assert program.results() == [{"c": 1}, {"c": 1}, {"c": 2}, {"c": 1, "s": 5}]


def test_a_return_before_the_switch_goes_on_with_the_earlier_state(program: ChangedProgram) -> None:
    program.add([T0] * 3)
    program.read_all(COUNT)
    with program.run(SUM, **MANUAL) as running:
        running.wait_for(lambda s: s.blue_green is not None and s.blue_green.phase == "ready")
        program.add([T0])
        running.read_to(4)
    program.add([T0])

    program.read_all(COUNT)

    assert program.results() == [{"c": 3}, {"c": 4}, {"c": 5}]


def test_a_changed_insert_that_fails_does_not_stop_the_earlier_one(program: ChangedProgram) -> None:
    program.add([T0] * 3)
    program.read_all(COUNT)
    failing = COUNT.replace("COUNT(*) AS c", "COUNT(*) AS c, SUM(CAST(g AS INT)) AS s")

    with program.run(failing, **GREEN) as running:
        failed = running.wait_for(lambda s: s.blue_green is not None and s.blue_green.phase == "failed")
        program.add([T0])
        running.read_to(4)
        with pytest.raises(LsqlError) as refused:
            running.supervisor.switch(by="test")

    assert failed.blue_green is not None
    assert failed.blue_green.error is not None
    assert failed.blue_green.error.code == "RECORD_REFUSED", failed.blue_green
    assert refused.value.code == "SWITCH_REFUSED"
    assert program.results() == [{"c": 3}, {"c": 4}]


def produce_number(producer: Producer, program: ChangedProgram, partition: int) -> None:
    program.number += 1
    producer.produce(program.source, json.dumps({"g": "a", "n": program.number}).encode(), partition=partition)
    assert producer.flush(30) == 0


@pytest.mark.timeout(180)
def test_a_partition_that_is_added_before_the_switch_is_read_by_both(program: ChangedProgram, broker: Broker) -> None:
    program.add([T0] * 3)
    program.read_all(COUNT)

    with program.run(SUM, **MANUAL) as running:
        running.wait_for(lambda s: s.blue_green is not None and s.blue_green.phase == "ready")
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        admin.create_partitions([NewPartitions(program.source, 2)])[program.source].result(30)
        producer = Producer({"bootstrap.servers": broker.bootstrap})  # a new one knows the partition
        produce_number(producer, program, 1)
        running.read_to(4)
        running.wait_for(lambda s: set(s.records_to_rebuild.values()) == {0})
        running.supervisor.switch(by="test")
        running.wait_for(lambda s: s.blue_green is None)
        produce_number(producer, program, 1)
        running.read_to(5)

    assert program.results() == [{"c": 3}, {"c": 4}, {"c": 5, "s": 15}]


def test_a_query_that_cannot_run_any_more_ends(program: ChangedProgram) -> None:
    """The type of a field has changed in the settings: the earlier program does not read its state any more."""
    program.add([T0] * 3)
    program.read_all(COUNT)
    program.declared[program.source] = {"value": {"format": "JSON", "schema": {"g": "int", "n": "long"}}}
    program.add([T0])

    with program.run(COUNT.replace("GROUP BY g", "GROUP BY n"), **GREEN) as running:
        running.read_to(4)
        warnings = running.status.warnings

    assert json.dumps(program.results()[1:]) == json.dumps([{"c": 1}])
    assert any("cannot run any more" in warning for warning in warnings), warnings


@pytest.mark.timeout(300)
def test_a_switch_under_load_has_no_gap(broker: Broker, topic: TopicFactory, tmp_path: Path) -> None:
    ids = CountingIds(broker, topic, tmp_path)
    with ids.traffic, ids.version(0) as runner:
        runner.read_to(1_000)
    with ids.version(1, **MANUAL) as runner:
        with ids.traffic:
            runner.wait_for(lambda s: (s["blueGreen"] or {}).get("phase") == "ready", condition="ready")
            with LongestPause(broker, ids.target) as pause:
                assert runner.post("/switch").status == 202
                switched = runner.wait_for(lambda s: s["blueGreen"] is None, condition="the switch")
                runner.read_to(sum(place["position"] for place in switched["offsets"]) + 400)
        assert runner.post("/switch").body["code"] == "SWITCH_REFUSED"
        ids.check()

    assert pause.seconds <= LONGEST_GAP_S


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "run", inputs([f"{mode}-{seed}" for mode in ("auto", "batch") for seed in range(10)], "auto-0".__eq__)
)
def test_kills_before_and_after_a_switch_lose_and_repeat_nothing(
    broker: Broker, topic: TopicFactory, tmp_path: Path, run: str
) -> None:
    """Each version has two starts: one goes on with both queries, one replaces a green query by another."""
    mode = f"SET processing.mode='{run.partition('-')[0]}'; "
    ids, random, never = CountingIds(broker, topic, tmp_path, set=mode), Random(run), Event()
    with ids.traffic:
        with ids.version(0) as runner:
            runner.read_to(1_000)
        for number in range(KILLS):
            with ids.version(1 + number // 2, **GREEN) as runner:
                runner.wait_for(lambda s: bool(s["queries"]), condition="a plan")
                never.wait(random.uniform(0, 5))  # before, in and after the switch
                runner.crash()
    with ids.version(1 + KILLS // 2, **GREEN) as runner:
        runner.wait_for(lambda s: bool(s["queries"]) and s["blueGreen"] is None, condition="the last switch")
        ids.check()
