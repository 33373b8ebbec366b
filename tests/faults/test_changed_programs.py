"""A program that changes between a kill and the replay of the batch that was written in part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from devkit.broker import Broker
from tests.faults.points import CRASHES, POINTS, Guarantee
from tests.faults.programs import FILTER, TUMBLING, TWO_INSERTS, TWO_SOURCES, Program, Suite, Target
from tests.faults.records import Sources, key_of, result
from tests.faults.results import Group, every_one_of
from tests.faults.scenario import REQUIRED, Scenario

pytestmark = pytest.mark.timeout(300)

BEFORE = 60
BACKLOG = 100
DEADLINE_S = 60
TARGET_OFFSETS_S = 6.0
"""The offsets of the targets are saved within this time."""


def doubled_or_not(sources: Sources) -> Mapping[str, Group]:
    """A result before or after the change of the program."""
    groups: dict[str, list[list[str]]] = {}
    for record in sources["in"]:
        value = json.loads(record.value or b"")
        before = {"id": value["id"], "n": value["n"]}
        groups.setdefault(key_of(record), []).append([result(before), result({**before, "colour": value["colour"]})])
    return {key: every_one_of(each) for key, each in groups.items()}


CHANGED = replace(
    FILTER,
    name="changed",
    targets={"out": Target(model=doubled_or_not)},
    statements="INSERT INTO {out} SELECT STREAM id, n FROM {in}",
    records=lambda number: [
        (name, replace(record, value=(record.value or b"")[:-1] + b', "colour": "red"}'))
        for name, record in FILTER.records(number)
    ],
)


@pytest.mark.parametrize("mode", ["batch", "continuous"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("INSERT INTO {out} SELECT STREAM id, n FROM {in}", None, id="a new column"),
        pytest.param("INSERT INTO {out} SELECT STREAM * FROM {in}", "*", id="a new field of the source"),
    ],
)
def test_a_program_that_changes_between_the_kill_and_the_replay(
    broker: Broker, tmp_path: Path, mode: str, before: str, after: str | None
) -> None:
    names = {"batch": "records-acknowledged", "continuous": "at-an-acknowledgement-of-a-continuous-task"}
    point = replace(next(point for point in POINTS if point.name == names[mode]), arrival=1)
    program = replace(CHANGED, statements=before)
    with Scenario(broker, Suite(CHANGED.name, (program,), mode), tmp_path) as scenario:
        agent = scenario.agent(point)
        runner = scenario.start(agent)
        scenario.feed(BEFORE)
        scenario.catch_up()
        agent.armed.touch()
        scenario.feed(BACKLOG)
        runner.wait(60)
        changed = "INSERT INTO {out} SELECT STREAM id, n, colour FROM {in}" if after is None else before
        fields = {**FILTER.sources["in"], "colour": "string"}
        scenario.suite = Suite(CHANGED.name, (replace(program, statements=changed, sources={"in": fields}),), mode)
        scenario.start()
        scenario.catch_up()

        outcome = scenario.check("the program has changed")
    assert (outcome.total > 0) == (REQUIRED is Guarantee.AT_LEAST_ONCE)


def run_until_killed(scenario: Scenario, mode: str) -> None:
    """Run the program until it is killed after some records of a backlog."""
    agent = scenario.agent(CRASHES[mode])
    runner = scenario.start(agent)
    scenario.feed(BEFORE)
    scenario.catch_up()
    agent.armed.touch()
    scenario.feed(BACKLOG)
    runner.wait(DEADLINE_S)


def reordered(program: Program) -> str:
    """The INSERTs of a program in the opposite order."""
    return ";\n".join(reversed(program.statements.split(";")))


@pytest.mark.parametrize("mode", ["batch", "continuous"])
def test_inserts_with_one_target_that_are_reordered_between_the_kill_and_the_replay(
    broker: Broker, tmp_path: Path, mode: str
) -> None:
    with Scenario(broker, Suite(TWO_INSERTS.name, (TWO_INSERTS,), mode), tmp_path) as scenario:
        run_until_killed(scenario, mode)
        scenario.statements = reordered
        scenario.start()
        scenario.catch_up()

        outcome = scenario.check("the INSERTs were reordered")
    assert (outcome.total > 0) == (REQUIRED is Guarantee.AT_LEAST_ONCE)


# The other INSERT writes to the same target while it is away, and passes the offsets where its records are.
ONE_SOURCE = replace(
    TWO_SOURCES, statements=TWO_SOURCES.statements.split(";")[0], sources={"a": TWO_SOURCES.sources["a"]}
)


@pytest.mark.parametrize(
    ("mode", "programs", "without"),
    [
        pytest.param("batch", (TWO_SOURCES,), ONE_SOURCE, id="one of two, in batches"),
        pytest.param("continuous", (TWO_SOURCES,), ONE_SOURCE, id="one of two"),
        pytest.param("continuous", (FILTER, TUMBLING), TUMBLING, id="the last one without state"),
    ],
)
def test_an_insert_that_is_removed_after_a_kill_and_comes_back(
    broker: Broker, tmp_path: Path, mode: str, programs: tuple[Program, ...], without: Program
) -> None:
    suite = Suite("removed", programs, mode)
    with Scenario(broker, suite, tmp_path) as scenario:
        run_until_killed(scenario, mode)
        scenario.suite = Suite(suite.name, (without,), mode)
        runner = scenario.start()
        scenario.catch_up()
        with scenario.light_load():
            scenario.live_for(TARGET_OFFSETS_S)
        scenario.catch_up()
        runner.stop()
        scenario.suite = suite
        scenario.start()
        scenario.catch_up()

        outcome = scenario.check("an INSERT was removed and came back")
    assert (outcome.total > 0) == (REQUIRED is Guarantee.AT_LEAST_ONCE)
