"""An outage of the broker and a paused JVM while a processor runs.

How a processor waits at its start, and what it reports then, is tested on fakes by
tests/unit/runtime/test_control_loop.py.
"""

import json
import os
import signal
from pathlib import Path
from threading import Event, Thread
from uuid import uuid4

import pytest
from confluent_kafka import Producer

from devkit.broker import Broker
from devkit.records import Record
from devkit.runner import Runner

pytestmark = pytest.mark.timeout(400)

OUTAGE_S = 60


def test_a_processor_survives_an_outage_of_its_broker_and_a_paused_jvm(tmp_path: Path) -> None:
    own = Broker()
    with own:
        own.create_topic("seen")
        own.create_topic("out")
        feed(own, 0, 100)

        sql = "INSERT INTO out SELECT STREAM * FROM seen"
        with Runner(own.bootstrap, sql, "outage", tmp_path, LSQL_STUCK_AFTER_S="3") as runner:
            runner.read_to(100)
            assert runner.health() == (200, [])

            own.stop()
            runner.wait_for(lambda s: "broker-unreachable" in reasons(s), OUTAGE_S)
            assert runner.get("/health").status == 503

            own.start()
            feed(own, 100, 200)
            runner.wait_for(lambda s: position(s) == 200 and not reasons(s), OUTAGE_S)
            assert written(own) == set(range(200))
            assert runner.health() == (200, [])

            os.kill(runner.jvm_pid(), signal.SIGSTOP)
            feed(own, 200, 300)
            runner.wait_for(lambda s: "query-stuck" in reasons(s), OUTAGE_S)
            assert runner.health() == (503, ["query-stuck"])

            os.kill(runner.jvm_pid(), signal.SIGCONT)
            runner.wait_for(lambda s: position(s) == 300 and not reasons(s), OUTAGE_S)
            assert written(own) == set(range(300))
            assert runner.traces() == []


def feed(broker: Broker, start: int, end: int) -> None:
    broker.produce("seen", [Record(b"k", json.dumps({"id": number}).encode()) for number in range(start, end)])


def written(broker: Broker) -> set[int]:
    return {json.loads(record.value or b"")["id"] for record in broker.consume_all("out")}


def reasons(stream: dict[str, object]) -> list[str]:
    health = stream["health"]
    assert isinstance(health, dict)
    return [reason["code"] for reason in health["reasons"]]


def position(stream: dict[str, object]) -> int:
    offsets = stream["offsets"]
    assert isinstance(offsets, list)
    return sum(offset["position"] or 0 for offset in offsets)


def test_an_outage_between_two_commits_of_the_position_is_noticed(tmp_path: Path) -> None:
    with Broker() as own:
        own.create_topic("seen", partitions=4)
        own.create_topic("out")
        feed(own, 0, 1)
        with Runner(own.bootstrap, "INSERT INTO out SELECT STREAM * FROM seen", "busy", tmp_path) as runner:
            runner.read_to(1)
            # The position is committed every second: the broker stops while a commit is on its way, or is due next.
            producer = Producer({"bootstrap.servers": own.bootstrap, "log_level": 0, "linger.ms": 5})
            ended = Event()

            def produce() -> None:
                while not ended.wait(0.01):
                    producer.produce("seen", b'{"id": 1}', uuid4().bytes)
                    producer.poll(0)

            load = Thread(target=produce)
            load.start()
            try:
                runner.wait_for(lambda s: position(s) > 200, OUTAGE_S)
                own.stop()
                runner.wait_for(lambda s: "broker-unreachable" in reasons(s), OUTAGE_S)
                own.start()
                runner.wait_for(lambda s: not reasons(s), OUTAGE_S)
            finally:
                ended.set()
                load.join()
                producer.purge()
