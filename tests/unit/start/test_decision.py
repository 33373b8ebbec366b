"""The decision about a start: situations in, actions out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.start.actions import ChangeMeaning, PinProgram, RegisterSchema, describe
from lsql_runner.state.offset_log import SavedCheckpoint
from tests.unit.start.situations import (
    AVRO,
    BEGIN,
    BEGIN_COUNT,
    BEGUN,
    COUNT,
    CREATE,
    DEAD_LETTERS,
    FILTER,
    HAD_STATE,
    OTHER_FILTER,
    P0,
    P1,
    PIN,
    READ,
    STATE,
    SUM,
    U0,
    WITH_WORKERS,
    Case,
    decision_of,
)

FILTERED = COUNT.replace("FROM t", "FROM t WHERE COALESCE(a, 0) > 1")


@pytest.mark.parametrize(
    ("case", "actions"),
    [
        pytest.param(Case(FILTER), [BEGIN, PIN], id="first start, target exists"),
        pytest.param(Case(FILTER, topics=()), [CREATE, BEGIN, PIN], id="first start, target missing"),
        pytest.param(
            Case(f"SET topic.o.partitions=3; SET topic.o.retention.ms=-1; {FILTER}", topics=()),
            ["create topic o with 3 partitions, retention.ms=-1", BEGIN, PIN],
            id="target with settings",
        ),
        pytest.param(
            Case(AVRO, topics=()),
            ["register the AVRO schema of subject o-value", CREATE, BEGIN, PIN],
            id="schema not registered",
        ),
        pytest.param(Case(AVRO, registered=True), [BEGIN, PIN], id="schema registered"),
        pytest.param(
            Case(f"{DEAD_LETTERS} {FILTER}", topics=()), [CREATE, "create topic dead", BEGIN, PIN], id="dead letters"
        ),
        pytest.param(HAD_STATE, [PIN], id="restart"),
        pytest.param(
            Case(OTHER_FILTER, old=FILTER, checkpoints={(3, "stateless"): READ}, generation=3),
            ["write program.json for generation 3"],
            id="stateless change",
        ),
        pytest.param(
            Case(SUM, old=COUNT, on_change="reset"),
            ["begin empty checkpoints in generation 1: stateful-1", PIN],
            id="stateful change, reset",
        ),
        pytest.param(
            Case(FILTER, generations=frozenset({1, 2})),
            ["begin empty checkpoints in generation 3: stateless", "write program.json for generation 3"],
            id="a crash before program.json was written",
        ),
        pytest.param(
            replace(HAD_STATE, checkpoints={}, on_loss="reset"), [BEGIN_COUNT, PIN], id="deleted checkpoint, reset"
        ),
        pytest.param(
            Case(
                f"{DEAD_LETTERS} {COUNT}",
                old=f"{DEAD_LETTERS} {COUNT}",
                checkpoints={(1, "stateful-0"): BEGUN, (1, "dead-letters"): BEGUN},
            ),
            [PIN],
            id="same dead letters",
        ),
        pytest.param(
            Case(COUNT, old=f"{DEAD_LETTERS} {COUNT}", checkpoints={(1, "stateful-0"): READ}),
            [PIN],
            id="dead letters no longer written: their run may go on later",
        ),
        pytest.param(
            replace(HAD_STATE, checkpoints={}, committed={}), [BEGIN_COUNT, PIN], id="no state and no position"
        ),
    ],
)
def test_a_situation_determines_the_actions(case: Case, actions: list[str]) -> None:
    assert [describe(action) for action in decision_of(case).actions] == actions


@pytest.mark.parametrize(
    ("case", "generation", "position"),
    [
        pytest.param(Case(FILTER), 1, {P0: 0, P1: 2}, id="no position"),
        pytest.param(Case(FILTER, committed={P0: 5}), 1, {P0: 5, P1: 2}, id="stateless without checkpoint"),
        pytest.param(HAD_STATE, 1, {P0: 5, P1: 3}, id="restart"),
        pytest.param(replace(HAD_STATE, committed={P0: 4}), 1, {P0: 5, P1: 3}, id="the group is behind the checkpoint"),
        pytest.param(
            replace(HAD_STATE, checkpoints={(1, "stateful-0"): BEGUN}, starts={"stateful-0": {P0: 1}}),
            1,
            {P0: 1, P1: 2},
            id="restart before the first batch",
        ),
        pytest.param(replace(HAD_STATE, checkpoints={}, on_loss="reset"), 1, {P0: 5, P1: 3}, id="state lost, reset"),
        pytest.param(
            replace(HAD_STATE, checkpoints={}, on_loss="rebuild"), 1, {P0: 0, P1: 2}, id="state lost, rebuild"
        ),
        pytest.param(
            replace(HAD_STATE, old=None, checkpoints={}, generations=frozenset(), on_loss="rebuild"),
            1,
            {P0: 0, P1: 2},
            id="directory lost, rebuild",
        ),
        pytest.param(replace(HAD_STATE, old=None, on_loss="reset"), 2, {P0: 5, P1: 3}, id="program.json lost, reset"),
        pytest.param(replace(HAD_STATE, sql=SUM, on_change="reset"), 1, {P0: 5, P1: 3}, id="replaced state"),
        pytest.param(
            replace(HAD_STATE, sql=SUM, on_change="reset", set_partitions=3), 2, {P0: 5, P1: 3}, id="other partitions"
        ),
    ],
)
def test_a_situation_determines_the_generation_and_the_position(
    case: Case, generation: int, position: dict[Partition, int]
) -> None:
    decision = decision_of(case)

    [start] = decision.positions.values()
    assert (decision.generation, start) == (generation, position)


def test_a_restart_before_the_first_batch_keeps_the_pinned_start() -> None:
    begun = replace(HAD_STATE, checkpoints={(1, "stateful-0"): BEGUN}, starts={"stateful-0": {P0: 1}})

    pin = decision_of(begun).actions[-1]

    assert isinstance(pin, PinProgram)
    assert pin.pinned.starts == {"stateful-0": {P0: 1, P1: 2}}


COPY = "INSERT INTO copy SELECT STREAM * FROM t"
FAR = SavedCheckpoint(planned={P0: 90, P1: 90}, ended={P0: 90, P1: 90})
BOTH = Case(
    f"{SUM}; {COPY}",
    old=f"{COUNT}; {COPY}",
    topics=("o", "copy"),
    checkpoints={(1, "stateful-0"): READ, (1, "stateless"): FAR},
    generations=frozenset({1}),
    committed={P0: 5, P1: 3},
    on_change="reset",
)


@pytest.mark.parametrize(
    ("case", "starts"),
    [
        pytest.param(
            BOTH, {"stateful-1": {P0: 5, P1: 3}, "stateless": {P0: 90, P1: 90}}, id="each continues at its own position"
        ),
        pytest.param(
            replace(BOTH, sql=f"{SUM}; {COPY.replace('copy', 'other')}"),
            {"stateful-1": {P0: 5, P1: 3}, "stateless": {P0: 90, P1: 90}},
            id="a new target begins at the position of the shared query",
        ),
        pytest.param(
            replace(BOTH, sql=f"{SUM.replace('INTO o', 'INTO copy')}; {COPY.replace('copy', 'o')}"),
            {"stateful-1": {P0: 90, P1: 90}, "stateless": {P0: 5, P1: 3}},
            id="the targets have changed places",
        ),
        pytest.param(
            replace(BOTH, sql=f"{SUM}; {COPY}; {COPY.replace('copy', 'o')}"),
            {"stateful-1": {P0: 5, P1: 3}, "stateless": {P0: 90, P1: 90}},
            id="an added INSERT begins at the position of the shared query",
        ),
        pytest.param(
            replace(BOTH, checkpoints={(1, "stateful-0"): READ}),
            {"stateful-1": {P0: 5, P1: 3}, "stateless": {P0: 5, P1: 3}},
            id="a lost checkpoint",
        ),
        pytest.param(
            replace(
                BOTH, checkpoints={(1, "stateful-0"): BEGUN, (1, "stateless"): FAR}, starts={"stateful-0": {P0: 4}}
            ),
            {"stateful-1": {P0: 4, P1: 3}, "stateless": {P0: 90, P1: 90}},
            id="a query without a batch",
        ),
    ],
)
def test_a_query_with_new_state_begins_where_its_targets_were_written_to(
    case: Case, starts: dict[str, dict[Partition, int]]
) -> None:
    assert decision_of(case).positions == starts


def test_a_query_that_replaces_another_begins_at_its_position() -> None:
    case = replace(BOTH, sql=f"{COUNT}; {COPY}; INSERT INTO copy SELECT STREAM * FROM u", on_change="fail")

    decision = decision_of(case)

    assert decision.generation == 1
    assert decision.start_offsets["stateless"] == {P0: 90, P1: 90, U0: 0}


@pytest.mark.parametrize(
    ("case", "later", "first_batches"),
    [
        pytest.param(HAD_STATE, [], set(), id="restart"),
        pytest.param(
            replace(HAD_STATE, sql=SUM, on_change="reset"), [], {"stateful-1"}, id="the earlier state is kept"
        ),
        pytest.param(
            replace(HAD_STATE, sql=SUM, on_change="reset", env={"LSQL_STATE_KEEP_GENERATIONS": "0"}),
            ["delete the checkpoint of query stateful-0 in generation 1"],
            {"stateful-1"},
            id="the earlier state is not kept",
        ),
        pytest.param(
            replace(HAD_STATE, sql=SUM, on_change="reset", set_partitions=3),
            ["delete the state of all generations but 2"],
            {"stateful-0"},
            id="state with other partitions",
        ),
        pytest.param(
            replace(HAD_STATE, generation=3, generations=frozenset({1, 3}), checkpoints={(3, "stateful-0"): BEGUN}),
            ["delete the state of all generations but 3"],
            {"stateful-0"},
            id="restart before the first batch",
        ),
        pytest.param(
            replace(HAD_STATE, generation=3, generations=frozenset({1, 3}), checkpoints={(3, "stateful-0"): READ}),
            ["delete the state of all generations but 3"],
            set(),
            id="restart after the first batch",
        ),
    ],
)
def test_old_generations_are_deleted_after_the_first_batches(
    case: Case, later: list[str], first_batches: set[str]
) -> None:
    decision = decision_of(case)

    assert [describe(action) for action in decision.later] == later
    assert decision.first_batches == first_batches


@pytest.mark.parametrize(
    ("case", "code"),
    [
        pytest.param(replace(HAD_STATE, checkpoints={}), "STATE_LOST", id="checkpoint lost"),
        pytest.param(replace(HAD_STATE, old=None, checkpoints={}), "STATE_LOST", id="directory lost"),
        pytest.param(
            replace(HAD_STATE, checkpoints={}, sql=SUM, on_change="rebuild"), "STATE_LOST", id="lost, and changed"
        ),
        pytest.param(replace(HAD_STATE, sql=SUM), "STATE_INCOMPATIBLE", id="another aggregate"),
        pytest.param(replace(HAD_STATE, sql=FILTER), "STATE_INCOMPATIBLE", id="no aggregate any more"),
        pytest.param(
            replace(HAD_STATE, sql=FILTERED, env={"LSQL_STATE_ON_MEANING_CHANGE": "refuse"}),
            "STATE_MEANING_CHANGED",
            id="another meaning",
        ),
        pytest.param(Case(AVRO, incompatibility="no default"), "SCHEMA_INCOMPATIBLE", id="schema"),
    ],
)
def test_a_start_is_refused_in_these_situations(case: Case, code: str) -> None:
    with pytest.raises(LsqlError) as caught:
        decision_of(case)

    assert caught.value.code == code


def test_a_refusal_names_group_and_path() -> None:
    with pytest.raises(LsqlError) as lost:
        decision_of(replace(HAD_STATE, checkpoints={}))
    with pytest.raises(LsqlError) as other:
        decision_of(replace(HAD_STATE, sql=SUM))

    assert lost.value.params == {"group": "lsql-processor", "path": str(STATE / "1")}
    assert other.value.params["path"] == str(STATE)


def test_a_state_with_a_new_meaning_is_continued_with_a_warning() -> None:
    decision = decision_of(replace(HAD_STATE, sql=FILTERED))

    assert (decision.generation, decision.positions) == (1, decision_of(HAD_STATE).positions)
    assert ChangeMeaning(1, "stateful-0") in decision.actions
    [warning] = decision.warnings
    assert warning.startswith("INSERT INTO o has a different filter before its stateful operator. It applies from here")


def test_a_changed_program_gives_a_warning() -> None:
    changed, replaced = decision_of(replace(HAD_STATE, sql=SUM, on_change="reset")).warnings

    assert "The program changed" in changed
    assert replaced == "INSERT INTO o starts with empty state at the last position of its targets."
    assert decision_of(HAD_STATE).warnings == ()


@pytest.mark.parametrize(
    ("committed", "warnings"),
    [
        pytest.param({P0: 5, P1: 3}, 0, id="the same"),
        pytest.param({P0: 6, P1: 3}, 0, id="a batch may have been running"),
        pytest.param({P0: 7, P1: 3}, 1, id="ahead by more than a batch"),
        pytest.param({P0: 7, P1: 1}, 1, id="one partition ahead"),
    ],
)
def test_a_checkpoint_that_is_older_than_the_group_is_a_warning(committed: dict[Partition, int], warnings: int) -> None:
    decision = decision_of(replace(HAD_STATE, committed=committed))

    assert len(decision.warnings) == warnings
    assert all("older than the position of the consumer group" in warning for warning in decision.warnings)


@pytest.mark.parametrize(
    ("case", "partitions"),
    [
        pytest.param(Case(COUNT), 2, id="first start: the partitions of the topic"),
        pytest.param(Case(COUNT, set_partitions=3), 3, id="first start with a setting"),
        pytest.param(Case(f"SET state.partitions=4; {COUNT}", set_partitions=3), 4, id="first start with a key"),
        pytest.param(replace(HAD_STATE, had_partitions=5), 5, id="another default keeps what there is"),
        pytest.param(replace(HAD_STATE, set_partitions=2), 2, id="the setting names what there is"),
        pytest.param(replace(HAD_STATE, sql=f"SET state.partitions=2; {COUNT}"), 2, id="the key names what there is"),
        pytest.param(replace(HAD_STATE, had_partitions=5, sql=SUM, on_change="reset"), 5, id="replaced state"),
        pytest.param(
            replace(HAD_STATE, sql=f"SET state.partitions=4; {COUNT}", on_change="reset"), 4, id="another key, reset"
        ),
        pytest.param(
            Case(f"SET state.partitions=4; {FILTER}", old=FILTER, checkpoints={(1, "stateless"): READ}),
            4,
            id="no state",
        ),
    ],
)
def test_state_keeps_its_partitions(case: Case, partitions: int) -> None:
    decision = decision_of(case)

    pin = decision.actions[-1]
    assert isinstance(pin, PinProgram)
    assert (decision.state_partitions, pin.pinned.state_partitions) == (partitions, partitions)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(replace(HAD_STATE, sql=f"SET state.partitions=4; {COUNT}"), id="key of the program"),
        pytest.param(replace(HAD_STATE, set_partitions=4), id="setting"),
    ],
)
def test_another_number_of_partitions_is_refused_with_both_numbers(case: Case) -> None:
    with pytest.raises(LsqlError) as caught:
        decision_of(case)

    assert caught.value.code == "STATE_INCOMPATIBLE"
    assert caught.value.params["change"] == "state.partitions is 4, and the state has 2 partitions"


def test_a_schema_is_registered_with_its_kind_and_text() -> None:
    action = decision_of(Case(AVRO)).actions[0]

    assert isinstance(action, RegisterSchema)
    assert (action.schema.kind, action.schema.subject, '"a"' in action.schema.text) == ("AVRO", "o-value", True)


@pytest.mark.parametrize(("limit", "warnings"), [("512Mi", 1), ("2Gi", 0), ("", 0)])
def test_a_worker_that_is_too_small_is_a_warning(limit: str, warnings: int) -> None:
    workers = {"LSQL_WORKERS_HOST": "processor", "LSQL_WORKERS_MEMORY": limit}

    texts = decision_of(Case(COUNT, env=workers)).warnings

    assert len([text for text in texts if "workers.resources.limits.memory" in text]) == warnings


@pytest.mark.parametrize(("container_mib", "warnings"), [(None, 0), (639, 1), (640, 0)])
def test_a_container_that_is_too_small_is_a_warning_while_the_processor_runs(
    container_mib: int | None, warnings: int
) -> None:
    decision = decision_of(Case(FILTER, container_mib=container_mib))

    assert len(decision.warnings) == warnings
    assert all("needs about 640 MiB" in warning for warning in decision.warnings)


@pytest.mark.parametrize(
    ("mode", "env", "expected"),
    [
        ("continuous", WITH_WORKERS, ["processing.mode is continuous"]),
        ("auto", WITH_WORKERS, []),
        ("continuous", {}, []),
    ],
)
def test_the_continuous_mode_with_workers_is_a_warning(mode: str, env: Mapping[str, str], expected: list[str]) -> None:
    decision = decision_of(Case(f"SET processing.mode='{mode}'; {FILTER}", env=env))

    assert [warning.split(",")[0] for warning in decision.warnings] == expected
