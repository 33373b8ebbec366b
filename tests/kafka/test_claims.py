"""Two processors with one application id on different volumes: the later one writes nothing."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.records import Record
from devkit.runner import Runner
from tests.conftest import TopicFactory

pytestmark = pytest.mark.timeout(300)

RECORDS = 20


def test_the_later_processor_waits_until_the_first_one_has_ended(
    broker: Broker, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = topic("in"), topic("out")
    sql = f"INSERT INTO `{target}` SELECT STREAM * FROM `{source}`"
    topics = f'{{"{source}": {{"key": {{"format": "STRING"}}, "value": {{"format": "STRING"}}}}}}'

    def produce() -> None:
        broker.produce(source, [Record(b"k", b"%d" % number) for number in range(RECORDS)])

    def on_volume(name: str) -> Runner:
        return Runner(broker.bootstrap, sql, f"app-{target}", tmp_path / name, LSQL_TOPICS=topics)

    with ExitStack() as until_end:
        first = until_end.enter_context(on_volume("first"))
        produce()
        first.read_to(RECORDS)

        second = until_end.enter_context(on_volume("second"))
        refused = second.reach("waiting")
        assert refused["reason"]["code"] == "APP_ID_IN_USE"
        assert second.health()[0] == 503
        produce()
        first.read_to(2 * RECORDS)
        assert first.health() == (200, [])
        second.reach("waiting")  # it is `starting` whenever it tries again
        assert len(broker.consume_all(target)) == 2 * RECORDS

        jvm = first.jvm_pid()
        os.kill(jvm, signal.SIGKILL)
        first.wait(30)
        second.reach("running")
        produce()
        second.read_to(3 * RECORDS)

    assert len(broker.consume_all(target)) == 3 * RECORDS
