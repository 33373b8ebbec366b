"""Two `lsql run` on one state directory, of which a Lease chooses one: the leader is killed, and suspended.

Only real processes can be suspended and continue, and only real brokers refuse what the suspended one writes then.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from devkit.broker import Broker
from tests.conftest import TopicFactory
from tests.faults.replacements import check_replacements

pytestmark = pytest.mark.timeout(600)


@pytest.mark.parametrize("guarantee", ["exactly_once_v2", "at_least_once"])
def test_a_leader_that_is_killed_or_suspended_is_replaced_and_fenced(
    broker: Broker, topic: TopicFactory, tmp_path: Path, guarantee: str
) -> None:
    check_replacements(broker, topic, (tmp_path, tmp_path), guarantee)
