"""Rows of the state are read while the processor is killed again and again: each answer is the state at its positions.

`KILLS` is the number of kills. tests/kafka/test_store_reads.py reads a processor that is not killed.
"""

from __future__ import annotations

import json
import os
import signal
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from threading import Event, Thread
from time import sleep
from typing import Any

import pytest

from devkit.background import repeated
from devkit.broker import Broker
from devkit.records import Record
from devkit.runner import Runner
from devkit.waiting import wait_until
from tests.faults.test_random_kills import KILLS, SEED

MOST_KILLS = 20
"""Of one processor."""
LEAST_ANSWERS = 5
"""Between two kills."""
ANSWERS_S = 90
RUN_S = 3.0
USERS = 30

pytestmark = pytest.mark.timeout(120 + 60 * MOST_KILLS)

Answer = dict[str, Any]


class Reader:
    """Reads all rows of a store again and again, also while no processor answers."""

    def __init__(self, runner: Runner) -> None:
        self.answers: list[Answer] = []
        self._runner = runner
        self._stopped = Event()
        self._thread = Thread(target=self._read, name="reader", daemon=True)

    def __enter__(self) -> Reader:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def await_more(self) -> None:
        """Wait for some answers."""
        wanted = len(self.answers) + LEAST_ANSWERS
        wait_until(lambda: len(self.answers) >= wanted, "answers", ANSWERS_S)

    def _read(self) -> None:
        while not self._stopped.wait(0.02):
            with suppress(OSError):
                response = self._runner.get(f"/metadata/aggregate-0?limit={USERS}")
                if response.status == 200:
                    self.answers.append(response.body)


@contextmanager
def load(broker: Broker, topic: str) -> Iterator[None]:
    """A hundred records a second."""
    random = Random(SEED)

    def produce() -> None:
        users = [b"u%d" % random.randrange(USERS) for _ in range(10)]
        broker.produce(topic, [Record(user, json.dumps({"user": user.decode()}).encode()) for user in users])

    with repeated(produce, 0.1):
        yield


def rounds() -> list[object]:
    """Mode, number and kills of each processor."""
    count = -(-KILLS // MOST_KILLS)
    return [
        pytest.param(("auto", "batch")[number % 2], number, KILLS // count + (number < KILLS % count), id=str(number))
        for number in range(count)
    ]


@pytest.mark.parametrize(("mode", "number", "kills"), rounds())
def test_each_answer_is_the_state_at_its_positions_through_kills(
    broker: Broker, tmp_path: Path, mode: str, number: int, kills: int
) -> None:
    random = Random(f"{SEED} reads {number}")
    mark = uuid.uuid4().hex[:8]
    source, target = f"in-{mark}", f"out-{mark}"
    broker.create_topic(source, 2)
    broker.create_topic(target, 2)
    select = f"SELECT STREAM user, COUNT(*) AS n FROM {source} GROUP BY user"
    runner = Runner(
        broker.bootstrap,
        f"SET processing.mode='{mode}'; INSERT INTO {target} {select}",
        f"reads-{mark}",
        tmp_path,
        LSQL_TOPICS=json.dumps({source: {"value": {"format": "JSON", "schema": {"user": "string"}}}}),
        LSQL_API_QUERIES="open",
    )
    done: list[str] = []
    with runner, load(broker, source), Reader(runner) as reader:
        for _ in range(kills):
            reader.await_more()
            sleep(random.uniform(0, RUN_S))
            victims = random.choice((("jvm_pid",), ("child_pid",), ("jvm_pid", "child_pid")))
            pids = [getattr(runner, victim)() for victim in victims]
            done.append("+".join(victims))
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not runner.running, "the end of the processor", 60)
            runner.start()
        reader.await_more()

    users = _users(broker, source)
    context = f"SEED={SEED} round {number}, {mode}, kills: {done}"
    before: Mapping[str, int] = {}
    for answer in reader.answers:
        positions = answer["contains"]["positions"][source]
        expected = Counter(user for partition, offset in positions.items() for user in users[int(partition)][:offset])
        counts = {row["key"]: row["value"]["n"] for row in answer["rows"]}
        if answer["cursor"] is not None:  # it has found so many in a fifth of a second
            expected = Counter({user: n for user, n in expected.items() if user in counts})
        assert counts == expected, f"{answer}: {context}"
        assert all(positions[partition] >= offset for partition, offset in before.items()), f"{answer}: {context}"
        before = positions
    assert len({json.dumps(answer["contains"]["positions"]) for answer in reader.answers}) > kills
    print(f"{len(reader.answers)} answers through {kills} kills, {mode}")


def _users(broker: Broker, source: str) -> dict[int, list[str]]:
    """By partition: the users of its records, in their order."""
    users: dict[int, list[str]] = {0: [], 1: []}
    for record in broker.consume_all(source):
        users[record.partition or 0].append(json.loads(record.value or b"")["user"])
    return users
