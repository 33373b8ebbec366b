"""A plan that was stopped leaves nothing in the JVM and in Python: else each stop and start would cost threads."""

from __future__ import annotations

import json
import re
import threading
import time
from collections import Counter
from pathlib import Path

from pyspark import SparkContext

from devkit.broker import Broker
from devkit.in_process import in_process
from devkit.records import Record
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.jvm.call import java_class
from tests.conftest import TopicFactory

RUNS = 3
RELEASED_S = 10
"""A thread of py4j tells the JVM what Python has released."""
SHRINKING = (
    "block-manager-",
    "Executor task ",
    "process reaper",
    "map-output-dispatcher",
    "task-result-getter",
    "Thread-",
)
OF_A_RUN = {"StreamingQueryWrapper", "TopicOutput", "BatchListener"}


def referred() -> list[str]:
    """The simple names of the classes of a run whose objects the JVM keeps because Python refers to them.

    They are read from a text: an object that Python looked at would have a reference more, until Python collects it.
    """
    gateway = SparkContext._gateway
    assert gateway is not None
    kept = gateway.java_gateway_server.getGateway().getBindings().toString()
    return re.findall(rf"\b({'|'.join(sorted(OF_A_RUN))})@", kept)


def threads() -> Counter[str]:
    """The number of threads by name, without the threads of pools that shrink when they are idle."""
    names = [thread.getName() for thread in java_class("java.lang.Thread").getAllStackTraces().keySet()]
    return Counter(re.sub(r"\d+", "#", name) for name in names if not name.startswith(SHRINKING))


def test_plans_that_were_stopped_leave_no_queries_and_no_threads(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source = topic()
    counts = f"SELECT STREAM COUNT(*) AS n FROM {source} WINDOW BY TUMBLE 10s GROUP BY user"
    sql = f"INSERT INTO {topic()} SELECT STREAM user FROM {source}; INSERT INTO {topic()} {counts}"

    for number in range(RUNS):
        record = Record(b"k", json.dumps({"user": "u", "n": number}).encode())
        broker.produce(source, [record])
        with in_process(engine, broker.bootstrap, sql, f"app-{source}", tmp_path / "state") as running:
            running.read_to(2 * number + 1)
            broker.produce(source, [record])
            running.read_to(2 * number + 2)  # in real time
            assert set(referred()) == OF_A_RUN
        engine.stop()

        if number == 0:
            first, first_of_python = threads(), threading.active_count()

    assert not threads() - first
    # Python may have one more for a thread of the JVM that did not call it in the first run, but none for each run.
    assert threading.active_count() - first_of_python < RUNS - 1
    deadline = time.monotonic() + RELEASED_S
    while names := referred():
        assert time.monotonic() < deadline, names
        time.sleep(0.5)
