"""`make demo`: it shows output, Ctrl-C ends it with 0, and no process or file remains."""

import json
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from devkit.docs import ROOT
from tests.thorough import inputs

FIRST_OUTPUT_S = 90
"""Deadline on a machine that runs other tests; docs/decisions/0007 has the seconds of an idle one."""
END_S = 60


class Demo:
    """A demo without a terminal, with its temporary files in a separate folder."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self._child = subprocess.Popen(
            [sys.executable, "-m", "demo", *options],
            cwd=ROOT,
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": str(folder), "LANG": "C.UTF-8"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._watchdog = threading.Timer(FIRST_OUTPUT_S, self._child.terminate)  # it ends gracefully
        self._watchdog.start()
        assert self._child.stdout is not None
        self.lines = self._child.stdout

    def read_until(self, pattern: str) -> str:
        """The output up to the first line that matches the pattern.

        Raises:
            AssertionError: the demo ended before; the message is all of its output.
        """
        seen = ""
        for line in self.lines:
            seen += line
            if re.search(pattern, line):
                return seen
        raise AssertionError(f"ended without {pattern!r}:\n{seen}")

    def wait(self) -> int:
        """The exit code; pytest shows the rest of the output of a test that fails."""
        print(self.lines.read())
        return self._child.wait(END_S)

    def close(self) -> None:
        self._watchdog.cancel()
        if self._child.poll() is None:
            self._child.terminate()
        self.wait()
        self.lines.close()

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal, and let the demo end without the watchdog."""
        self._watchdog.cancel()
        self._child.send_signal(number)

    def remaining(self) -> list[str]:
        """Processes with the demo's folder in their command or environment, and files in the folder."""
        mark = str(self.folder).encode()
        named = [
            path.parent.name
            for path in Path("/proc").glob("[0-9]*/cmdline")
            if mark in _content(path) or mark in _content(path.parent / "environ")
        ]
        return named + [str(path) for path in self.folder.iterdir()]


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def response_of(seen: str, path: str) -> dict[str, Any]:
    """A response of the processor's API, whose address is in the output of the demo."""
    address = re.search(r"http://127\.0\.0\.1:\d+/", seen)
    assert address is not None
    with urllib.request.urlopen(address[0] + path, timeout=20) as response:
        document: dict[str, Any] = json.load(response)
    return document


def stream_in_picture() -> dict[str, Any]:
    """The response of /stream at the time when the picture of the docs was taken."""
    responses: dict[str, Any] = json.loads((ROOT / "docs/images/processor-page.json").read_text(encoding="utf-8"))
    return responses["stream"]  # type: ignore[no-any-return]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for the demo's temporary files."""
    inside = tmp_path / "demo"
    inside.mkdir()
    return inside


@pytest.mark.timeout(180)
def test_the_demo_shows_output_and_an_interrupt_ends_everything(folder: Path) -> None:
    demo = Demo(folder)
    try:
        seen = demo.read_until(r"first output after [\d.]+ s")
        stream = response_of(seen, "stream")
        demo.send_signal(signal.SIGINT)
        code = demo.wait()
    finally:
        demo.close()

    assert code == 0
    assert stream["deliveryGuarantee"] == stream_in_picture()["deliveryGuarantee"], "take it again: make pictures"
    assert stream["reads"] == "open", "the page looks up rows of the state"
    assert demo.remaining() == []


@pytest.mark.timeout(180)
@pytest.mark.parametrize("number", inputs([signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], signal.SIGHUP.__eq__))
def test_no_signal_leaves_anything_running(folder: Path, number: signal.Signals) -> None:
    demo = Demo(folder)
    try:
        demo.read_until("the broker runs")
        demo.send_signal(number)
        code = demo.wait()
    finally:
        demo.close()

    assert code == (-number if number is signal.SIGKILL else 0)
    deadline = time.monotonic() + END_S
    while demo.remaining() and time.monotonic() < deadline:  # after a kill the reaper ends the other processes
        time.sleep(0.05)
    assert demo.remaining() == []


@pytest.mark.timeout(180)
def test_an_error_of_the_program_is_shown_with_its_position(folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "wrong.sql"
    program.write_text("SET autocreate=true; INSERT INTO fast\nSELECT STREAM Sped FROM iot_data")
    demo = Demo(folder, "--sql", str(program))
    try:
        seen = demo.read_until("To fix it")
        code = demo.wait()
    finally:
        demo.close()

    assert "FIELD_UNKNOWN: iot_data has no field Sped." in seen
    assert "SQL, line 2, column 15" in seen
    assert code == 1
    assert demo.remaining() == []


def test_a_missing_program_file_is_wrong_usage(folder: Path) -> None:
    demo = Demo(folder, "--sql", "no-such.sql")
    try:
        demo.read_until("no-such.sql cannot be read")
        code = demo.wait()
    finally:
        demo.close()

    assert code == 2
