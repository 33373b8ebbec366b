"""The signals that end the demo. tests/kafka/test_demo.py sends them to a demo that runs."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from demo.__main__ import main

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


def test_an_error_in_place_of_an_interrupt_is_the_end_that_the_user_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library in C, such as librdkafka's client, loses the interrupt, and reports another error."""

    def run(*_: object) -> int:
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            raise TypeError("expected configuration property name as type unicode string") from None
        return 1

    monkeypatch.setattr("demo.__main__._run", run)
    monkeypatch.setattr("sys.argv", ["demo"])
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        assert main() == 0
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
