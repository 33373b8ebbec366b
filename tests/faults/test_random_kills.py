"""Processors under a light load that are killed at random instants lose no result.

`KILLS` is the number of kills, `SEED` determines what is killed and when.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from random import Random, SystemRandom

import pytest

from devkit.broker import Broker
from tests.faults.programs import SUITES, Suite
from tests.faults.scenario import Scenario

KILLS = int(os.environ.get("KILLS") or 15)
SEED = os.environ.get("SEED") or str(SystemRandom().randrange(1 << 32))
MOST_KILLS = 5
"""Of one processor."""
START_S = 6.0
"""The API of a processor responds this long before its first batch, or longer."""
RUN_S = 2.0
RECORDS_AFTER_LAST_KILL = 20

pytestmark = pytest.mark.timeout(120 + 60 * MOST_KILLS)


class Victim(Enum):
    """What is killed."""

    JVM = "JVM"
    WORKER = "worker"
    BOTH = "JVM and worker"


@dataclass(frozen=True, slots=True)
class Kill:
    """A kill some time after the API responds, or after the first new records have been processed."""

    victim: Victim
    in_start: bool
    after_s: float

    def __str__(self) -> str:
        since = "the start" if self.in_start else "the first batch"
        return f"{self.victim.value} {self.after_s:.2f} s after {since}"


def rounds() -> list[object]:
    """Suite, number and kills of each processor: every suite in turn, with at most MOST_KILLS kills."""
    count = max(min(len(SUITES), KILLS), -(-KILLS // MOST_KILLS))
    shares = [KILLS // count + (number < KILLS % count) for number in range(count)]
    return [
        pytest.param(suite, number, shares[number], id=f"{suite.name}-{number}")
        for number, suite in enumerate((SUITES * count)[:count])
    ]


def planned(random: Random) -> Kill:
    """The next kill. A kill during a start is that of a recovery."""
    in_start = random.random() < 0.4
    return Kill(random.choice(list(Victim)), in_start, random.uniform(0, START_S if in_start else RUN_S))


@pytest.mark.parametrize(("suite", "number", "kills"), rounds())
def test_kills_at_random_instants(broker: Broker, tmp_path: Path, suite: Suite, number: int, kills: int) -> None:
    random = Random(f"{SEED} {number}")
    done: list[str] = []
    context = f"SEED={SEED} round {number}, kills: "
    with Scenario(broker, suite, tmp_path) as scenario:
        scenario.feed(RECORDS_AFTER_LAST_KILL)
        with scenario.light_load():
            for _ in range(kills):
                kill = planned(random)
                done.append(str(kill))
                try:
                    carry_out(kill, scenario)
                except AssertionError as error:
                    raise AssertionError(f"{context}{done}: {error}") from error
        scenario.feed(RECORDS_AFTER_LAST_KILL)
        scenario.start()
        scenario.catch_up()

        outcome = scenario.check(f"{context}{done}")
    print(f"{suite.name}: {outcome.total} results doubled after {done}")


def carry_out(kill: Kill, scenario: Scenario) -> None:
    """Start the processor, kill it, and wait for its end."""
    runner = scenario.start()
    if not kill.in_start:
        runner.wait_for(lambda stream: stream["recordsIn"] > 0, condition="a batch")
    scenario.live_for(kill.after_s)
    jvm, worker = runner.jvm_pid(), runner.worker_pid()
    if kill.victim is not Victim.WORKER:
        os.kill(jvm, signal.SIGKILL)
    if kill.victim is not Victim.JVM:
        os.kill(worker, signal.SIGKILL)
    scenario.await_end(jvm)
