"""What a start of `lsql run` loads."""

from __future__ import annotations

from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.runner import FAST_COMPILER, Runner
from tests.conftest import TopicFactory
from tests.kafka.test_run_stateless import input_record

FROM_THE_ARCHIVE = "shared objects file"
MOST_OUTSIDE = 0.1
"""The largest share of classes that the JVM may read from jars or generate: lambdas, and code of the queries."""


@pytest.mark.parametrize("mode", ["batch", "continuous"])
def test_the_first_batch_takes_its_classes_from_the_archive(
    broker: Broker, topic: TopicFactory, tmp_path: Path, mode: str
) -> None:
    source, target, log = topic(partitions=2), topic(partitions=2), tmp_path / "classes.log"
    broker.produce(source, [input_record(number) for number in range(10)])
    sql = f"SET processing.mode='{mode}'; INSERT INTO `{target}` SELECT STREAM id FROM `{source}` WHERE n > 4"
    options = f"{FAST_COMPILER} -Xlog:class+load:file={log}"

    with Runner(broker.bootstrap, sql, f"start-{target}", tmp_path / "state", JAVA_OPTS=options) as runner:
        runner.read_to(10)
        sources = [line.partition("source: ")[2] for line in log.read_text().splitlines()]

    outside = [source for source in sources if not source.startswith(FROM_THE_ARCHIVE)]
    assert len(outside) < MOST_OUTSIDE * len(sources)
