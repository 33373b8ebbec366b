"""States that an earlier version of the engine has written: this version continues them with the same results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from devkit.golden_states import FOLDER, STATES, GoldenState, unpack
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.engine.in_memory.queries import OutputRecord
from lsql_runner.plan.continuation import continue_from
from lsql_runner.plan.fingerprint import LAYOUTS, Fingerprint, fingerprint, operators

pytestmark = pytest.mark.timeout(180)


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name)
def test_a_golden_state_is_continued(state: GoldenState, engine: MemoryEngine, tmp_path: Path) -> None:
    unpack(state, tmp_path)
    continuation = continue_from(state.plan, Fingerprint.from_json(json.loads((tmp_path / "program.json").read_text())))
    assert continuation.changes == ()

    continued = engine.run(continuation.plan, state.after, checkpoints=tmp_path, already_read=state.before)

    uninterrupted = engine.run(state.plan, (*state.before, *state.after))
    assert (continued.error, uninterrupted.error) == (None, None)
    expected = [_written(record) for record in uninterrupted.records if record.batch >= len(state.before)]
    assert sorted(map(_written, continued.records), key=repr) == sorted(expected, key=repr)
    assert expected, "the later records change no result, so that the test checks nothing"


def test_every_layout_of_an_operator_has_a_golden_state() -> None:
    known = {name for state in STATES for query in fingerprint(state.plan).queries for name in operators(query.state)}

    assert known == set(LAYOUTS)


def test_every_golden_state_has_a_program() -> None:
    assert sorted(FOLDER.iterdir()) == sorted(state.archive for state in STATES)


def _written(record: OutputRecord) -> tuple[str, bytes | None, bytes | None, int]:
    return record.topic, record.key, record.value, record.timestamp_ms
