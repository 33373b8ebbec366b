"""POST /verdict on fakes: its verdict is what a start with the other program then does, and it changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from devkit.fake_runtime import APP_ID, FakeRuntime
from lsql_runner.events.state import State
from lsql_runner.start.changed_program import ProgramVerdict, verdict_on

TARGETS = "SET autocreate=true;"
COUNT = f"{TARGETS} INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t GROUP BY g"


@pytest.fixture
def runtime(tmp_path: Path) -> FakeRuntime:
    """A processor with the state of COUNT."""
    runtime = FakeRuntime(tmp_path, COUNT)
    runtime.brokers.add_topic("t")
    runtime.brokers.produce("t", (b"k", b'{"g": "x", "a": 1}'))
    with runtime.process() as running:
        running.run()
    return runtime


def verdict(runtime: FakeRuntime, sql: str, **env: str) -> ProgramVerdict:
    """The verdict while the processor of COUNT runs."""
    with runtime.process(**env) as running:
        changes = list(runtime.brokers.changes)
        found = verdict_on(sql, runtime.settings(**env), runtime.brokers, None, running.state_dir)
        assert runtime.brokers.changes == changes
    return found


@pytest.mark.parametrize(
    ("sql", "verdicts", "code"),
    [
        (COUNT, ["keeps"], None),
        (COUNT.replace("FROM t", "FROM t WHERE g IS NOT NULL"), ["keeps from here on"], None),
        (COUNT.replace("GROUP", "WINDOW BY TUMBLE 1m GROUP"), ["new generation"], "STATE_INCOMPATIBLE"),
        (f"{COUNT}; {COUNT.replace('INTO o', 'INTO p').removeprefix(TARGETS)}", ["keeps", "adds"], None),
        (f"{TARGETS} INSERT INTO p SELECT STREAM g FROM t", ["adds", "removes"], "STATE_INCOMPATIBLE"),
        (f"SET state.partitions=7; {COUNT}", ["keeps"], "STATE_INCOMPATIBLE"),
        (COUNT.replace("COUNT(*)", "COUNT(missing)"), [], "FIELD_UNKNOWN"),
        (COUNT.replace("FROM t", "FROM missing"), [], "TOPIC_UNKNOWN"),
    ],
)
def test_the_verdict_is_what_a_start_does(
    runtime: FakeRuntime, sql: str, verdicts: list[str], code: str | None
) -> None:
    found = verdict(runtime, sql)

    assert ([each.verdict for each in found.inserts], found.error and found.error.code) == (verdicts, code)
    runtime.sql = sql
    if verdicts:
        with runtime.process() as running:
            running.turn()
            assert (running.state, running.reason) == ((State.RUNNING, None) if found.starts else (State.FAILED, code))


def test_the_settings_of_the_processor_decide_whether_it_would_start(runtime: FakeRuntime) -> None:
    filtered, windowed = COUNT.replace("FROM t", "FROM t WHERE g IS NOT NULL"), COUNT.replace("BY g", "BY a")

    refused = verdict(runtime, filtered, LSQL_STATE_ON_MEANING_CHANGE="refuse")
    reset = verdict(runtime, windowed, LSQL_STATE_ON_CHANGE="reset")

    assert refused.error is not None
    assert (refused.error.code, reset.starts) == ("STATE_MEANING_CHANGED", True)
    assert [each.verdict for each in reset.inserts] == ["new generation"]


def test_a_program_that_was_never_pinned_only_adds(tmp_path: Path) -> None:
    runtime = FakeRuntime(tmp_path, COUNT)
    runtime.brokers.add_topic("t")
    runtime.brokers.produce("t", (b"k", b'{"g": "x"}'))
    with runtime.process() as running:
        (runtime.folder / APP_ID / "program.json").unlink()

        found = verdict_on(COUNT, runtime.settings(), runtime.brokers, None, running.state_dir)

    assert [each.verdict for each in found.inserts] == ["adds"]
