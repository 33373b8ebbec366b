"""The lock on the state directory while the JVM of a killed process still runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from lsql_runner.errors import LsqlError
from lsql_runner.state.directory import StateDir

pytestmark = pytest.mark.timeout(120)

RUN = """
import sys
from pathlib import Path
from devkit.engines import quick_jvm
from lsql_runner.jvm.spark_jvm import SparkJvm
from lsql_runner.state.directory import StateDir

state = StateDir(Path(sys.argv[1]), "app")
jvm = SparkJvm(quick_jvm(), (state.lock_file,))
print(jvm.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def orphan(tmp_path: Path) -> Iterator[int]:
    """The pid of a JVM that is stopped, and whose Python process was killed."""
    command = [sys.executable, "-c", RUN, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        jvm = int(process.stdout.readline())
        os.kill(jvm, signal.SIGSTOP)
        process.kill()
    yield jvm
    with suppress(ProcessLookupError):
        os.kill(jvm, signal.SIGKILL)


def test_a_start_is_refused_while_the_jvm_of_a_killed_process_runs(orphan: int, tmp_path: Path) -> None:
    with pytest.raises(LsqlError) as caught:
        StateDir(tmp_path, "app", wait_s=0.2)

    assert caught.value.code == "STATE_DIR_IN_USE"


def test_a_start_waits_for_the_end_of_the_jvm_of_a_killed_process(orphan: int, tmp_path: Path) -> None:
    began = time.monotonic()
    os.kill(orphan, signal.SIGCONT)  # its input is closed: it ends

    StateDir(tmp_path, "app", wait_s=60).close()

    assert time.monotonic() - began < 15
