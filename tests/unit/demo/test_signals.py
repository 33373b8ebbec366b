"""The signals that end the demo. tests/kafka/test_demo.py sends them to a demo that runs."""

from __future__ import annotations

import subprocess
import sys

import pytest

SOURCE = "from demo.__main__ import _ends; print(*(number.name for number in _ends()))"


@pytest.mark.parametrize(
    ("ignored", "ends"),
    [("", "SIGINT SIGTERM SIGHUP"), ("HUP", "SIGINT SIGTERM"), ("HUP INT", "SIGTERM")],
    ids=["in a terminal", "under nohup", "under nohup in the background"],
)
def test_ignored_signals_stay_ignored(ignored: str, ends: str) -> None:
    trap = f"trap '' {ignored}; " if ignored else ""
    command = ["sh", "-c", f'{trap}exec "$0" -c "$1"', sys.executable, SOURCE]

    process = subprocess.run(command, capture_output=True, text=True, timeout=50, check=True)

    assert process.stdout.split() == ends.split()
