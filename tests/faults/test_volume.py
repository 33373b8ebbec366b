"""The volume with the state vanishes while a processor runs, and returns; or it is restored from a snapshot.

Fakes show the codes of each failure of a volume (tests/unit/runtime/test_control_loop_errors.py). Only Spark shows that
its queries fail then, and that no record is lost or repeated when the volume is back.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from devkit.broker import Broker
from tests.faults.points import POINTS
from tests.faults.programs import GROUPS, JOINS, Suite
from tests.faults.results import Kind
from tests.faults.scenario import ENDED, Scenario

pytestmark = pytest.mark.timeout(300)

RECORDS = 60
BATCHES = 4


def test_a_processor_whose_volume_vanished_begins_no_new_state_and_continues_when_it_is_back(
    broker: Broker, tmp_path: Path
) -> None:
    with Scenario(broker, GROUPS, tmp_path) as scenario:
        runner = scenario.start()
        scenario.feed(RECORDS)
        scenario.catch_up()
        [folder] = scenario.state.iterdir()
        folder.rename(tmp_path / "away")
        folder.touch()  # so that nothing can be written there
        scenario.feed(RECORDS)
        failed = runner.reach("restarting")
        assert failed["lastError"]["code"] == "QUERY_FAILED"
        stopped = runner.wait_for(lambda stream: stream["reason"] and stream["reason"]["code"] != "QUERY_FAILED")
        assert stopped["reason"]["code"] == "STATE_DIR_UNREADABLE"
        assert str(folder) in stopped["reason"]["message"]

        folder.unlink()
        (tmp_path / "away").rename(folder)
        scenario.catch_up()

        scenario.check("a volume that vanished")
        assert runner.traces() == []
        assert "\tat " not in runner.output()


@pytest.mark.parametrize("suite", [GROUPS, JOINS], ids=lambda suite: suite.name)
@pytest.mark.parametrize("during", ["a batch", "a pause"])
def test_a_restored_volume_whose_processor_is_killed_at_once_loses_no_result(
    broker: Broker, tmp_path: Path, suite: Suite, during: str
) -> None:
    """The targets have results of batches that the restored volume does not know. Its own batches of these numbers
    have other records, also the one that is planned and not written at the kill."""
    planned = next(point for point in POINTS if point.name == "after-offset-log")
    kill = replace(planned, arrival=1)
    copy = tmp_path / "snapshot"
    with Scenario(broker, suite, tmp_path) as scenario:
        agent = scenario.agent(kill)
        runner = scenario.start(agent)
        scenario.feed(RECORDS)
        scenario.catch_up()
        if during == "a batch":
            agent.armed.touch()
            scenario.feed(RECORDS)
            assert runner.wait(60) == ENDED
        else:
            runner.stop()
        shutil.copytree(scenario.state, copy)
        runner = scenario.start()
        scenario.catch_up()
        for _ in range(BATCHES):
            scenario.feed(RECORDS // BATCHES)
            scenario.catch_up()
        runner.stop()

        shutil.rmtree(scenario.state)
        copy.rename(scenario.state)
        scenario.feed(RECORDS)
        agent = scenario.agent(kill)
        agent.armed.touch()
        scenario.run_until_killed(agent)
        scenario.start()
        scenario.catch_up()

        scenario.check("a restored volume, killed at once", forgiven={Kind.DOUBLED, Kind.DISORDERED})
