"""The volume with the state vanishes while a processor runs, and returns.

Fakes show the codes of each failure of a volume (tests/unit/runtime/test_control_loop_errors.py). Only Spark shows that
its queries fail then, and that no record is lost or repeated when the volume is back.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from devkit.broker import Broker
from tests.faults.programs import GROUPS
from tests.faults.scenario import Scenario

pytestmark = pytest.mark.timeout(300)

RECORDS = 60


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
