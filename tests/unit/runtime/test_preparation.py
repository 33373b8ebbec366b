"""A start on fakes: a refusal changes nothing, whatever else the start would have changed before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from devkit.fake_runtime import APP_ID, FakeRuntime
from lsql_runner.errors import LsqlError

KEYED = (b"k", b'{"g": "x", "a": 3}')
TARGETS = "SET defaults.topic.autocreate=true;"
COUNT = f"{TARGETS} INSERT INTO o STORE VALUE AS AVRO SELECT STREAM COUNT(*) AS n FROM t GROUP BY g"
SUM = COUNT.replace("COUNT(*)", "SUM(a)")
LETTERS = "SET dead.letter.queue='dead'; SET error.policy.read='dlq';"


def runtime(folder: Path, sql: str = COUNT, **env: str) -> FakeRuntime:
    """One with a source that holds a record, and with a registry."""
    made = FakeRuntime(folder, sql, **env)
    made.brokers.add_topic("t", 2)
    made.brokers.produce("t", KEYED)
    return made


def snapshot(made: FakeRuntime) -> tuple[object, ...]:
    """Everything that a start may change."""
    state = made.folder / APP_ID
    files = {path.relative_to(state): path.read_bytes() for path in state.rglob("*") if path.is_file()}
    files.pop(Path("lock"), None)
    return list(made.brokers.changes), made.registry.texts(), files


def refused(made: FakeRuntime) -> LsqlError:
    with pytest.raises(LsqlError) as caught, made.process():
        pass
    return caught.value


def lose_state(made: FakeRuntime) -> None:
    for file in (made.folder / APP_ID / "1").rglob("*"):
        if file.is_file():
            file.unlink()


def change_aggregate(made: FakeRuntime) -> None:
    made.sql = f"{LETTERS} {SUM.replace('INTO o', 'INTO other')}"


def lose_and_drop_dead_letters(made: FakeRuntime) -> None:
    """Without dead letters their checkpoint is to be deleted, but the state is lost too."""
    lose_state(made)
    made.sql = COUNT.replace("INTO o", "INTO other")


def spoil_program_file(made: FakeRuntime) -> None:
    (made.folder / APP_ID / "program.json").write_text("{}")


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lose_state, "STATE_LOST"),
        (lose_and_drop_dead_letters, "STATE_LOST"),
        (change_aggregate, "STATE_INCOMPATIBLE"),
        (spoil_program_file, "STATE_UNREADABLE"),
    ],
)
def test_a_refused_state_changes_nothing(tmp_path: Path, spoil: Callable[[FakeRuntime], None], code: str) -> None:
    made = runtime(tmp_path, f"{LETTERS} {COUNT}")
    with made.process() as running:
        running.run()
    spoil(made)
    before = snapshot(made)

    assert refused(made).code == code
    assert snapshot(made) == before


def test_a_schema_that_the_registry_refuses_changes_nothing(tmp_path: Path) -> None:
    first = "INSERT INTO first STORE VALUE AS AVRO SELECT STREAM a FROM t"
    made = runtime(tmp_path, f"{TARGETS} {first}; {COUNT.removeprefix(TARGETS)}")
    made.registry.register("o-value", "AVRO", '{"type": "record", "name": "R", "fields": []}')
    made.registry.strict.add("o-value")
    before = snapshot(made)

    with made.process() as running:  # somebody may change the subject's rules: it is tried again
        assert running.reason == "SCHEMA_INCOMPATIBLE"
    assert snapshot(made) == before


def test_a_topic_that_the_brokers_refuse_changes_nothing(tmp_path: Path) -> None:
    made = runtime(tmp_path)
    made.brokers.topic_refusal = "Replication factor: 3 larger than available brokers: 1."
    before = snapshot(made)

    with made.process() as running:
        assert running.reason == "TOPIC_REFUSED"
    assert snapshot(made) == before


def test_a_setting_of_a_topic_that_the_brokers_refuse_changes_nothing(tmp_path: Path) -> None:
    made = runtime(tmp_path, f"SET topic.o.retention.ms=soon; {COUNT}")
    before = snapshot(made)

    with made.process() as running:
        assert running.reason == "TOPIC_REFUSED"
    assert snapshot(made) == before


def test_a_registry_that_is_away_changes_nothing(tmp_path: Path) -> None:
    made = runtime(tmp_path)
    made.registry.outage = LsqlError("REGISTRY_UNREACHABLE", urls="http://r", reason="no answer")
    before = snapshot(made)

    with made.process() as running:
        assert running.reason == "REGISTRY_UNREACHABLE"
    assert snapshot(made) == before


def test_a_start_registers_creates_and_pins(tmp_path: Path) -> None:
    made = runtime(tmp_path)

    with made.process() as running:
        running.run()

    assert made.brokers.changes == ["create o"]
    assert made.registry.ids("o-value") == (1,)
    sink = made.engine.jobs[0].plan.topic_sinks[0]
    assert sink.value_id == 1
    assert running.saved.saved().pinned is not None


def test_a_second_start_changes_nothing_outside(tmp_path: Path) -> None:
    made = runtime(tmp_path)
    with made.process() as running:
        running.run()
    made.registry.register("o-value", "AVRO", '{"type": "record", "name": "Newer", "fields": []}')
    made.registry.strict.add("o-value")  # the older schema would now be refused as a new version
    before = made.brokers.changes.copy(), made.registry.ids("o-value")

    with made.process() as running:
        running.turn()

    assert (made.brokers.changes, made.registry.ids("o-value")) == before
    assert made.engine.jobs[-1].plan.topic_sinks[0].value_id == 1


def test_two_inserts_write_into_one_topic_with_a_schema_each(tmp_path: Path) -> None:
    insert = "INSERT INTO o STORE VALUE AS AVRO SELECT STREAM"
    made = runtime(tmp_path, f"{TARGETS} {insert} a FROM t; {insert} g FROM t")

    with made.process() as running:
        running.run()

    assert [sink.value_id for sink in made.engine.jobs[0].plan.topic_sinks] == [1, 2]


def test_the_checkpoint_of_dead_letters_is_deleted_where_they_read_other_topics(tmp_path: Path) -> None:
    made = runtime(tmp_path, f"{LETTERS} {COUNT}")
    with made.process() as running:
        running.run()
    assert (1, "dead-letters") in running.saved.saved().checkpoints
    made.sql = COUNT

    with made.process() as running:
        running.turn()

    assert running.saved.saved().checkpoints == {(1, "stateful-0")}
