"""A program that changes between a kill and the replay of the batch that was written in part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from devkit.broker import Broker
from tests.faults.points import CRASHES, POINTS, Guarantee
from tests.faults.programs import FILTER, TWO_INSERTS, Program, Sources, Suite, Target, key_of, result
from tests.faults.results import Group, every_one_of
from tests.faults.scenario import REQUIRED, Scenario

pytestmark = pytest.mark.timeout(300)

BEFORE = 60
BACKLOG = 100
DEADLINE_S = 60


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


def reordered(program: Program) -> str:
    """The INSERTs of a program in the opposite order."""
    return ";\n".join(reversed(program.statements.split(";")))


@pytest.mark.parametrize("mode", ["batch", "continuous"])
def test_inserts_with_one_target_that_are_reordered_between_the_kill_and_the_replay(
    broker: Broker, tmp_path: Path, mode: str
) -> None:
    with Scenario(broker, Suite(TWO_INSERTS.name, (TWO_INSERTS,), mode), tmp_path) as scenario:
        agent = scenario.agent(CRASHES[mode])
        runner = scenario.start(agent)
        scenario.feed(BEFORE)
        scenario.catch_up()
        agent.armed.touch()
        scenario.feed(BACKLOG)
        runner.wait(DEADLINE_S)
        scenario.statements = reordered
        scenario.start()
        scenario.catch_up()

        outcome = scenario.check("the INSERTs were reordered")
    assert (outcome.total > 0) == (REQUIRED is Guarantee.AT_LEAST_ONCE)
