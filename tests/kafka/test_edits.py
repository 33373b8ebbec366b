"""A processor is started with a changed program: it does what the verdict of the running one has said.

The decisions are tested without an engine, in tests/unit. Only Spark shows that it reads the state that is continued.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.edits import CATALOG, CONVERTED, KEPT, NEW_MEANINGS, REPLACED, Edit
from devkit.in_process import in_process
from devkit.records import Record
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.events.state import State
from lsql_runner.formats.declared import as_declaration
from tests.conftest import TopicFactory
from tests.thorough import inputs

pytestmark = pytest.mark.timeout(180)

EDITS = {**KEPT, **NEW_MEANINGS, **CONVERTED, **REPLACED}
ALWAYS = {
    *("filter", "argument of one of two sums", "one more aggregate", "a wider type", "size of a window"),
    "WITHIN of a join",
}
VALUE = b'{"p": {"x": 1, "y": 2}, "g": "g", "a": 5, "d": 2.5, "xs": [1], "ys": [2]}'


@pytest.mark.parametrize("name", inputs(EDITS, lambda name: name in ALWAYS))
def test_a_start_does_what_the_verdict_says(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, name: str
) -> None:
    names = {each: topic(each) for each in ("t", "u", "o", "other")}
    topics = json.dumps(as_declaration({names[each]: CATALOG.schemas[each] for each in "tu"}))
    edit: Edit = EDITS[name]
    old, new = (_with_topics(text, names) for text in edit[:2])
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


def _with_topics(program: str, names: dict[str, str]) -> str:
    """The program with other names of topics."""
    read = re.sub(r"(?i)\b(from|join) ([tu])\b(?! as)", r"\1 {\2} AS \2", program)
    read = re.sub(r"(?i)\b(from|join) ([tu]) as", r"\1 {\2} AS", read)
    written = re.sub(r"(?i)\binto (o|other)\b", r"INTO {\1}", read)
    return re.sub(r"\{(\w+)\}", lambda match: names[match[1]], f"SET autocreate=true; {written}")
