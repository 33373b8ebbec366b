"""Keeps temporary files of tests in memory, if the machine has enough."""

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
ENOUGH_BYTES = 4 << 30


def keep_temporary_files_in_memory() -> None:
    """Put `tmp_path`, checkpoints and the folders of brokers on a file system in memory.

    The tests sync thousands of files, which takes milliseconds each on a disk. Does nothing if TMPDIR is set, or if
    /dev/shm is small or mounted without execution of libraries (noexec).
    """
    if "TMPDIR" in os.environ or not MEMORY.is_dir():
        return
    runs_libraries = not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
    if runs_libraries and shutil.disk_usage(MEMORY).free > ENOUGH_BYTES:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)
