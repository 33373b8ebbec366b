"""Which process is killed first when memory runs out, and how that is reported."""

import subprocess
import sys
from pathlib import Path

import pytest

from lsql_runner.container.out_of_memory import ExitReasons, heap_too_small, is_out_of_memory, raise_oom_score


def groups(folder: Path, *, kills: int, limit_mib: int) -> Path:
    (folder / "memory.events").write_text(f"oom_kill {kills}\n")
    (folder / "memory.max").write_text(f"{limit_mib << 20}\n")
    return folder


def test_a_child_with_a_raised_score_is_killed_before_its_parent() -> None:
    own = int(Path("/proc/self/oom_score_adj").read_text())

    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        raise_oom_score(child.pid)
        raised = int(Path(f"/proc/{child.pid}/oom_score_adj").read_text())

    assert raised == min(1000, own + 100)


def test_raising_the_score_of_an_ended_process_is_no_error() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()

    raise_oom_score(child.pid)


@pytest.mark.parametrize(
    ("code", "kills", "expected"),
    [
        (-9, 1, "the kernel killed it because the container reached its memory limit of 640 MiB"),
        (-9, 0, "killed by signal 9"),
        (-15, 1, "killed by signal 15"),
        (7, 1, "it exited with code 7"),
    ],
)
def test_a_kill_for_lack_of_memory_is_reported_with_the_limit(
    tmp_path: Path, code: int, kills: int, expected: str
) -> None:
    reasons = ExitReasons(groups(tmp_path, kills=4, limit_mib=640))

    groups(tmp_path, kills=4 + kills, limit_mib=640)

    assert reasons.describe(code) == expected
    assert is_out_of_memory(reasons.describe(code)) == ("memory limit" in expected)


def test_a_heap_that_is_too_small_is_a_lack_of_memory() -> None:
    assert is_out_of_memory(heap_too_small(256))
    assert not is_out_of_memory("killed by signal 9")
