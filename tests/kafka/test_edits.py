"""A processor is started with a changed program: it does what the verdict of the running one has said.

The decisions are tested without an engine, in tests/unit. Only Spark shows that it reads the state that is continued.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.edits import CATALOG, EDITS, REPLACED, VALUE, with_topics
from devkit.in_process import in_process
from devkit.records import Record
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.events.state import State
from lsql_runner.formats.declared import as_declaration
from tests.conftest import TopicFactory
from tests.thorough import inputs

pytestmark = pytest.mark.timeout(180)

ALWAYS = {
    *("filter", "argument of one of two sums", "one more aggregate", "a wider type", "size of a window"),
    "WITHIN of a join",
}


@pytest.mark.parametrize("name", inputs(EDITS, lambda name: name in ALWAYS))
def test_a_start_does_what_the_verdict_says(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, name: str
) -> None:
    names = {each: topic(each) for each in ("t", "u", "o", "other")}
    topics = json.dumps(as_declaration({names[each]: CATALOG.schemas[each] for each in "tu"}))
    old, new = (with_topics(text, names) for text in EDITS[name][:2])
    app = f"app-{names['t']}"

    def produce() -> None:
        for source in "tu":
            broker.produce(names[source], [Record(b"k", VALUE)])

    produce()
    with in_process(engine, broker.bootstrap, old, app, tmp_path, LSQL_TOPICS=topics) as running:
        running.wait_for(lambda s: s.batches > 0)
        verdict = running.supervisor.verdict(new)
    produce()

    with in_process(engine, broker.bootstrap, new, app, tmp_path, LSQL_TOPICS=topics) as running:
        if verdict.starts:
            running.wait_for(lambda s: s.batches > 0)
        else:
            running.wait_for(lambda s: s.state is State.FAILED)
        error = running.status.reason

    assert verdict.starts == (name not in REPLACED)
    assert (error and error.code) == (verdict.error and verdict.error.code)
    if not verdict.starts:
        with in_process(
            engine, broker.bootstrap, new, app, tmp_path, LSQL_TOPICS=topics, LSQL_STATE_ON_CHANGE="rebuild"
        ) as running:
            assert running.wait_for(lambda s: s.batches > 0).reason is None
