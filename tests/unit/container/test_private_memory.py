"""The memory of processes that no file backs."""

import os
from pathlib import Path

import pytest

from lsql_runner.container.private_memory import private_bytes

ROLLUP = """\
55d0a000-7ffd0000 ---p 00000000 00:00 0                          [rollup]
Rss:              {rss} kB
Pss_Anon:         {private} kB
Anonymous:        {rss} kB
"""


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """A process with the id 1 and a forked one with the id 2, which share 40 kB, and a process without a report."""
    for pid, rss, private in ((1, 100, 80), (2, 60, 40)):
        folder = tmp_path / str(pid)
        folder.mkdir()
        (folder / "smaps_rollup").write_text(ROLLUP.format(rss=rss, private=private))
    (tmp_path / "3").mkdir()
    (tmp_path / "3/smaps_rollup").write_text("Rss:  1 kB\n")
    return tmp_path


def test_pages_that_processes_share_count_once(proc: Path) -> None:
    assert private_bytes([1], proc) == 80 << 10
    assert private_bytes([1, 2], proc) == 120 << 10


@pytest.mark.parametrize("pids", [[], [3], [4], [1, 4]], ids=["none", "no figure", "ended", "one of two ended"])
def test_without_a_report_of_every_process_it_is_not_known(proc: Path, pids: list[int]) -> None:
    assert private_bytes(pids, proc) is None


def test_memory_that_this_process_allocates_is_private() -> None:
    before = private_bytes([os.getpid()])
    block = bytearray(os.urandom(1 << 20) * 32)
    after = private_bytes([os.getpid()])

    assert before is not None
    assert after is not None
    assert after - before > len(block) - (8 << 20)
