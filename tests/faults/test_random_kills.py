"""Processors under a light load that are killed at random instants lose no result.

`KILLS` is the number of kills, `SEED` determines what is killed and when, the number of source partitions, the order of
the INSERTs at each start, and before which starts the volume is restored from a snapshot.
"""

from __future__ import annotations

import os
import shutil
import signal
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from random import Random, SystemRandom

import pytest

from devkit.broker import Broker
from devkit.waiting import wait_until
from tests.faults.programs import CONTINUOUS, STATELESS, SUITES, Program, Suite
from tests.faults.results import Kind
from tests.faults.scenario import Scenario

KILLS = int(os.environ.get("KILLS") or 6)
SEED = os.environ.get("SEED") or str(SystemRandom().randrange(1 << 32))
MOST_KILLS = 5
"""Of one processor."""
START_S = 6.0
"""The API of a processor responds this long before its first batch, or longer."""
RUN_S = 2.0
TARGET_OFFSETS_S = 60.0
"""The offsets of the targets are saved within this time, on a busy machine; in real time when a batch is closed."""
PARTITIONS = (1, 3, 5)
"""Of each source."""
RECORDS_AFTER_LAST_KILL = 20

pytestmark = pytest.mark.timeout(120 + 120 * MOST_KILLS)


class Victim(Enum):
    """What is killed."""

    JVM = "JVM"
    CHILD = "child"
    BOTH = "JVM and child"


class Since(Enum):
    """When the time to a kill begins."""

    START = "the start"
    """The API responds. A kill in a start is one in a recovery."""
    BATCH = "the first batch"
    OFFSETS = "the first save of the targets' offsets"


@dataclass(frozen=True, slots=True)
class Kill:
    """A kill some time after a moment of a run. The start before it may follow a restore."""

    victim: Victim
    since: Since
    after_s: float
    order: int
    """Of the INSERTs: a seed."""
    restores: bool = False
    """Whether the volume is restored before the start, from the snapshot that is taken after each second kill."""

    def __str__(self) -> str:
        restored = " of a restored volume" if self.restores else ""
        return f"{self.victim.value} {self.after_s:.2f} s after {self.since.value}{restored}, order {self.order}"


def rounds() -> list[object]:
    """Suite, number and kills of each processor: every suite in turn, with at most MOST_KILLS kills."""
    count = max(min(len(SUITES), KILLS), -(-KILLS // MOST_KILLS))
    shares = [KILLS // count + (number < KILLS % count) for number in range(count)]
    return [
        pytest.param(suite, number, shares[number], id=f"{suite.name}-{number}")
        for number, suite in enumerate((SUITES * count)[:count])
    ]


def planned(random: Random) -> list[Kill]:
    """The next kill, or two in a row: the second one in the recovery from the first."""
    since = random.choices(list(Since), [4, 4, 2])[0]
    times = {Since.START: START_S, Since.BATCH: RUN_S, Since.OFFSETS: RUN_S}
    kill = Kill(
        random.choice(list(Victim)),
        since,
        random.uniform(0, times[since]),
        random.randrange(100),
        restores=random.random() < 0.2,
    )
    if random.random() < 0.3:
        return [kill, replace(kill, since=Since.START, after_s=random.uniform(0, START_S), restores=False)]
    return [kill]


def with_partitions(suite: Suite, partitions: int) -> Suite:
    """The suite with another number of partitions of each source."""
    return replace(suite, programs=tuple(replace(program, partitions=partitions) for program in suite.programs))


def in_order(program: Program, order: int) -> str:
    """The statements of a program with its INSERTs in another order."""
    statements = program.statements.split(";")
    if all(each.strip().startswith("INSERT") for each in statements):
        Random(order).shuffle(statements)
    return ";".join(statements)


def reordered(suite: Suite, order: int) -> Suite:
    """The suite with its programs in another order."""
    programs = list(suite.programs)
    Random(order).shuffle(programs)
    return replace(suite, programs=tuple(programs))


@pytest.mark.parametrize(("suite", "number", "kills"), rounds())
def test_kills_at_random_instants(broker: Broker, tmp_path: Path, suite: Suite, number: int, kills: int) -> None:
    random = Random(f"{SEED} {number}")
    partitions = random.choice(PARTITIONS)
    done: list[str] = []
    context = f"SEED={SEED} round {number}, {partitions} partitions, kills: "
    plan = [kill for _ in range(kills) for kill in planned(random)][:kills]
    plan[0] = replace(plan[0], restores=False)  # there is no snapshot yet
    with Scenario(broker, with_partitions(suite, partitions), tmp_path) as scenario:
        scenario.feed(RECORDS_AFTER_LAST_KILL)
        snapshot = tmp_path / "snapshot"
        with scenario.light_load():
            for kill in plan:
                done.append(str(kill))
                if kill.restores:
                    shutil.rmtree(scenario.state)
                    shutil.copytree(snapshot, scenario.state)
                try:
                    carry_out(kill, scenario)
                except AssertionError as error:
                    raise AssertionError(f"{context}{done}: {error}") from error
                if len(done) % 2:
                    shutil.rmtree(snapshot, ignore_errors=True)
                    shutil.copytree(scenario.state, snapshot)
        scenario.feed(RECORDS_AFTER_LAST_KILL)
        scenario.start()
        scenario.catch_up()

        # A batch with state that was not saved is written again. Without state, a record is identified for all time.
        # A restored volume does not know later results, for example bounds of a session that were extended then.
        has_state = suite not in (STATELESS, CONTINUOUS)
        has_restored = any(kill.restores for kill in plan)
        forgiven = {Kind.DOUBLED, Kind.DISORDERED, Kind.STALE} if has_restored and has_state else set()
        outcome = scenario.check(f"{context}{done}", forgiven=forgiven)
    print(f"{suite.name}: {outcome.total} results doubled after {done}")


def carry_out(kill: Kill, scenario: Scenario) -> None:
    """Start the processor, kill it, and wait for its end."""
    scenario.suite = reordered(scenario.suite, kill.order)
    scenario.statements = lambda program: in_order(program, kill.order)
    runner = scenario.start()
    if kill.since is not Since.START:
        runner.wait_for(lambda stream: stream["recordsIn"] > 0, condition="a batch")
    if kill.since is Since.OFFSETS:
        saved = target_offsets(scenario)
        wait_until(lambda: target_offsets(scenario) != saved, "the targets' offsets", TARGET_OFFSETS_S)
    scenario.live_for(kill.after_s)
    jvm, child = runner.jvm_pid(), runner.child_pid()
    if kill.victim is not Victim.CHILD:
        os.kill(jvm, signal.SIGKILL)
    if kill.victim is not Victim.JVM:
        os.kill(child, signal.SIGKILL)
    scenario.await_end(jvm)


def target_offsets(scenario: Scenario) -> list[bytes]:
    """The offsets of the targets that the queries have saved."""
    return [file.read_bytes() for file in sorted(scenario.state.rglob("target-offsets"))]
