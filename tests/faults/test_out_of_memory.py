"""A record whose compressed batch is small and that does not fit the heap: it ends two processes, and no third one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Producer

from devkit.broker import Broker
from devkit.process import ProcessFailed
from devkit.records import Record
from devkit.runner import Runner, Stream
from devkit.workers import WorkerProcess, free_ports, worker_environment
from tests.conftest import TopicFactory
from tests.kafka.load_of_workers import await_workers

pytestmark = pytest.mark.timeout(400)

SMALL_HEAP_MIB, LARGE_HEAP_MIB = 200, 1_200
RECORD_BYTES = 210 << 20
END_S = 60
WORKERS_S = 180
BEFORE, AFTER = [1, 2, 3], [5, 6]
"""The ids of the records before and after the large one, whose id is 4."""

CONTINUOUS = "SELECT STREAM id FROM {source}"
WINDOWS = "SELECT STREAM id, COUNT(*) AS n FROM {source} WINDOW BY TUMBLE 10s GROUP BY id"


def value(number: int, size: int = 0) -> bytes:
    return json.dumps({"id": number, "text": "0" * size}).encode()


@dataclass
class WithLargeRecord:
    """A program that reads partition 1 of a topic, with records before and after the large one."""

    broker: Broker
    state: Path
    source: str
    target: str
    select: str

    def runner(self, heap_mib: int = SMALL_HEAP_MIB, /, **env: str) -> Runner:
        sql = f"INSERT INTO {self.target} {self.select.format(source=self.source)}"
        topics = {self.source: {"value": {"format": "JSON", "schema": {"id": "long", "text": "string"}}}}
        env = {"LSQL_HEAP_MIB": str(heap_mib), "LSQL_TOPICS": json.dumps(topics), "LSQL_THREADS": "2"} | env
        return Runner(self.broker.bootstrap, sql, f"app-{self.target}", self.state, **env)

    def feed(self, ids: list[int]) -> None:
        for partition in (0, 1):
            self.broker.produce(self.source, [Record(b"k", value(number), partition=partition) for number in ids])

    def feed_large(self, compression: str) -> None:
        """Write a record of RECORD_BYTES to partition 1, within the default limit of the broker."""
        producer = Producer(
            {
                "bootstrap.servers": self.broker.bootstrap,
                "compression.type": compression,
                "message.max.bytes": RECORD_BYTES + (1 << 20),
            }
        )
        failed: list[KafkaError] = []

        def on_delivery(error: KafkaError | None, _: object) -> None:
            if error is not None:
                failed.append(error)

        producer.produce(self.source, value(4, RECORD_BYTES), b"k", partition=1, on_delivery=on_delivery)
        assert (producer.flush(120), failed) == (0, [])

    def written(self) -> list[int]:
        return sorted(json.loads(record.value or b"")["id"] for record in self.broker.consume_all(self.target))

    def dies(self) -> None:
        """A process that reads the large record ends with the JVM, perhaps before its API responds."""
        runner = self.runner()
        try:
            runner.start()
            runner.wait(END_S)
        except ProcessFailed:
            assert runner.exit_code is not None, runner.output()
        assert runner.exit_code == 3
        assert "heap of 200 MiB is too small" in runner.output(), runner.output()

    def is_refused(self) -> Stream:
        """A process that does not read; the JVM still runs when its state is reported."""
        with self.runner() as runner:
            stream = runner.reach("failed")
            assert runner.health() == (503, ["failed"])
            assert runner.running
            assert runner.jvm_pid()
        return stream


@pytest.fixture
def reading(broker: Broker, topic: TopicFactory, tmp_path: Path) -> Callable[[str], WithLargeRecord]:
    return lambda select: WithLargeRecord(broker, tmp_path, topic("large", 2), topic("out"), select)


@pytest.mark.parametrize(("select", "compression"), [(CONTINUOUS, "gzip"), (WINDOWS, "zstd")])
def test_the_record_is_named_after_the_second_death_and_is_read_with_a_larger_heap(
    reading: Callable[[str], WithLargeRecord], select: str, compression: str
) -> None:
    program = reading(select)
    program.feed(BEFORE)
    with program.runner() as runner:
        runner.read_to(2 * len(BEFORE))
        program.feed_large(compression)
        program.feed(AFTER)
        assert runner.wait(END_S) == 3
    program.dies()

    for _ in range(2):
        error = program.is_refused()["reason"]

        assert error["code"] == "RECORDS_EXCEED_HEAP"
        assert f"{program.source}, partition 1, from offset 3." in error["message"]
        assert "200 MiB" in error["message"]

    with program.runner(LARGE_HEAP_MIB) as runner:
        runner.read_to(2 * len(BEFORE + AFTER) + 1)
    assert set(program.written()) == {*BEFORE, 4, *AFTER}


@pytest.mark.parametrize("select", [CONTINUOUS, WINDOWS])
def test_a_start_by_a_person_reads_it_again_and_the_documented_command_skips_it(
    reading: Callable[[str], WithLargeRecord], select: str
) -> None:
    program = reading(select)
    program.feed_large("zstd")
    program.feed(AFTER)
    program.dies()
    program.dies()

    with program.runner() as runner:
        runner.reach("failed")
        assert runner.post("/start").status == 202
        assert runner.wait(END_S) == 3
    program.dies()
    program.is_refused()

    program.broker.delete_records(program.source, 1, 1)
    with program.runner(LSQL_ON_DATA_LOSS="continue") as runner:
        runner.read_to(2 * len(AFTER) + 1)
    assert set(program.written()) == set(AFTER)


def test_with_workers_the_processor_goes_on_and_names_the_record(reading: Callable[[str], WithLargeRecord]) -> None:
    """Only real executors show it: each of them ends at the record, and Spark gives its task to the next one."""
    program, port = reading(WINDOWS), free_ports()
    program.feed(BEFORE)
    with program.runner(LARGE_HEAP_MIB, **worker_environment(port)) as runner:
        with WorkerProcess(port) as first, WorkerProcess(port) as second:
            await_workers(runner, 2)
            runner.read_to(2 * len(BEFORE), WORKERS_S)
            program.feed_large("zstd")
            program.feed(AFTER)

            restarting = runner.reach("restarting", WORKERS_S)
            assert restarting["reason"]["code"] == "WORKERS_OUT_OF_MEMORY"
            reason = runner.reach("failed", WORKERS_S)["reason"]
            assert first.running
            assert second.running

        place = {"topic": program.source, "partition": 1, "offset": 3, "next_offset": 4}
        assert (reason["code"], reason["params"]) == (
            "RECORDS_EXCEED_WORKER_HEAP",
            place | {"heap_mib": SMALL_HEAP_MIB},
        )
        with WorkerProcess(port, LSQL_HEAP_MIB=str(LARGE_HEAP_MIB)):
            assert runner.post("/start").status == 202
            runner.read_to(2 * len(BEFORE + AFTER) + 1, WORKERS_S)
        assert runner.traces() == []

    assert set(program.written()) == {*BEFORE, 4, *AFTER}
