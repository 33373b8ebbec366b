"""State that a changed program cannot continue is built again from the records, on a real broker.

Fakes have no state that a rebuild could miss, and no batches that end at a position.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.records import Record
from devkit.runner import Runner
from devkit.waiting import wait_until
from tests.conftest import TopicFactory
from tests.kafka.changed_program import COUNT, FINAL, MINUTE, SUM, T0, WINDOW, WINDOW_SUM, ChangedProgram
from tests.thorough import inputs

REBUILD = {"LSQL_STATE_ON_CHANGE": "rebuild"}


def test_a_rebuilt_state_has_all_records_and_writes_only_new_results(program: ChangedProgram) -> None:
    program.add([T0] * 3)
    program.read_all(COUNT)
    before = program.results()
    program.add([T0])

    with program.run(SUM, **REBUILD, LSQL_MAX_RECORDS_PER_BATCH="1") as running:
        first = running.wait_for(lambda s: s.batches > 0)
    change, rebuild = first.warnings
    program.read_all(SUM)

    assert list(first.records_to_rebuild.values()) == [2]
    assert before[-1] == {"c": 3}
    assert program.results()[len(before) :] == [{"c": 4, "s": 10}]
    assert "different aggregates" in change
    assert "reads 3 records again" in rebuild


def test_a_program_that_is_changed_back_continues_the_state_of_before(program: ChangedProgram) -> None:
    program.add([T0] * 3)
    program.read_all(COUNT)
    program.read_all(SUM, **REBUILD)
    program.add([T0] * 2)

    [returns] = program.read_all(COUNT)

    assert program.results()[-1] == {"c": 5}
    assert "returns to the state" in returns
    assert program.read_all(SUM) != ()
    assert program.results()[-1] == {"c": 5, "s": 15}


def test_only_the_records_of_open_windows_are_read_again(program: ChangedProgram) -> None:
    program.add([T0, T0 + MINUTE, T0 + 2 * MINUTE + 1_000, T0 + 2 * MINUTE + 2_000])
    program.read_all(WINDOW)
    program.add([T0 + 2 * MINUTE])  # the event time moves after a batch
    program.read_all(WINDOW)
    before = len(program.results())
    program.add([T0, T0 + 2 * MINUTE])

    [_, rebuild] = program.read_all(WINDOW_SUM, **REBUILD)

    assert program.results()[before:] == [{"c": 4, "s": 3 + 4 + 5 + 7}]
    assert "reads 3 records again since 2023-11-14T22:16:00+00:00" in rebuild


def test_each_final_result_is_written_once(program: ChangedProgram) -> None:
    program.add([T0, T0 + MINUTE, T0 + 2 * MINUTE])
    with program.run(FINAL + WINDOW) as running:
        running.wait_for(lambda s: s.records_out == 2)
    program.add([T0 + 2 * MINUTE, T0 + 3 * MINUTE, T0 + 4 * MINUTE])

    with program.run(FINAL + WINDOW_SUM, **REBUILD) as running:
        running.wait_for(lambda s: s.records_out == 2)
    with program.run(FINAL + WINDOW_SUM) as running:
        program.add([T0 + 5 * MINUTE])
        running.wait_for(lambda s: s.records_out == 1)

    changed = [{"c": 2, "s": 3 + 4}, {"c": 1, "s": 5}, {"c": 1, "s": 6}]
    assert program.results() == [{"c": 1}, {"c": 1}, *changed]


def test_a_final_result_of_an_idle_topic_is_not_written_again(program: ChangedProgram) -> None:
    """The clock has closed the window, not a record: the event time of the records alone would open it again."""
    hop = WINDOW.replace("TUMBLE 1m", "HOP 8s,4s")
    program.add([T0])
    with program.run(FINAL + hop) as running:
        running.wait_for(lambda s: s.records_out == 2)

    with program.run(FINAL + hop.replace("COUNT(*) AS c", "COUNT(*) AS c, SUM(n) AS s"), **REBUILD) as running:
        running.wait_for(lambda s: s.batches > 0)
        program.add([T0 + MINUTE, T0 + 2 * MINUTE])
        running.wait_for(lambda s: s.records_out >= 2)

    assert program.results() == [{"c": 1}, {"c": 1}, {"c": 1, "s": 2}, {"c": 1, "s": 2}]


def test_a_table_is_read_again_although_its_stream_goes_on(
    program: ChangedProgram, broker: Broker, topic: TopicFactory
) -> None:
    names = topic("names", config={"retention.ms": "-1"})
    broker.produce(names, [Record(b"k", b'{"name": "Ada"}', timestamp_ms=T0)])
    program.declared[names] = {"value": {"format": "JSON", "schema": {"name": "string"}}}
    joined = f"FROM {{source}} AS s INNER JOIN (SELECT TABLE * FROM {names}) AS t"
    program.add([T0 + 1])
    program.read_all(f"SELECT STREAM s.n AS n, t.name AS name {joined}")
    program.add([T0 + 1])

    program.read_all(
        f"SELECT STREAM t.name AS name, COUNT(*) AS c {joined} GROUP BY t.name", LSQL_STATE_ON_CHANGE="reset"
    )

    assert program.results() == [{"n": 1, "name": "Ada"}, {"name": "Ada", "c": 1}]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("mode", inputs(["auto", "batch"], lambda mode: mode == "auto"))
def test_a_rebuild_that_is_killed_goes_on(broker: Broker, topic: TopicFactory, tmp_path: Path, mode: str) -> None:
    """Each result after the change is written once, and none is of a record before it."""
    source, target = topic(partitions=3), topic()
    users = [f"u{number % 7}" for number in range(210)]
    declared = json.dumps({source: {"value": {"format": "JSON", "schema": {"user": "string"}}}})

    def produce(part: slice) -> None:
        broker.produce(source, [Record(None, json.dumps({"user": user}).encode()) for user in users[part]])

    def program(more: str, **settings: str) -> Runner:
        sql = f"INSERT INTO {target} SELECT STREAM user, COUNT(*) AS n{more} FROM {source} GROUP BY user"
        sql = f"SET processing.mode='{mode}'; {sql}"
        return Runner(broker.bootstrap, sql, f"app-{source}", tmp_path, LSQL_TOPICS=declared, **settings)

    produce(slice(140))
    with program("") as runner:
        runner.read_to(140)
    before = len(broker.consume_all(target))
    produce(slice(140, 175))
    changed = program(", MAX(user) AS newest", **REBUILD, LSQL_MAX_RECORDS_PER_BATCH="10")
    left = [140]
    for _ in range(2):
        with changed as runner:
            wait_until(lambda runner=runner: _left(runner) < left[-1], "the rebuild has gone on", 60)  # type: ignore[misc]
            left.append(_left(runner))
            runner.crash()
    with changed as runner:
        runner.read_to(175)
        produce(slice(175, 210))
        runner.read_to(210)
        wait_until(lambda: _counts(broker, target, before)[1] == Counter(users), "all results", 30)

    assert left[1] > 0, left
    written, _ = _counts(broker, target, before)
    assert all(min(numbers) > 20 and numbers == sorted(set(numbers)) for numbers in written.values()), written


def _left(runner: Runner) -> int:
    """The records that a rebuild has still to read; many before it is planned."""
    return sum(int(query["recordsToRebuild"]) for query in runner.stream()["queries"]) if _is_planned(runner) else 1_000


def _is_planned(runner: Runner) -> bool:
    return bool(runner.stream()["queries"]) and runner.stream()["batches"] > 0


def _counts(broker: Broker, target: str, after: int) -> tuple[dict[str, list[int]], dict[str, int]]:
    """The counts of each user after so many results, and the last ones."""
    written: dict[str, list[int]] = defaultdict(list)
    for record in broker.consume_all(target)[after:]:
        value = json.loads(record.value or b"")
        assert "newest" in value
        written[value["user"]].append(value["n"])
    return written, {user: numbers[-1] for user, numbers in written.items()}
