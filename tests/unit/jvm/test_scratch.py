"""The temporary folders of the JVM and of processes that were killed."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from lsql_runner.errors import LsqlError
from lsql_runner.jvm.scratch import ScratchFolder, check_executable


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_it_exists_until_it_is_closed(temporary: Path) -> None:
    scratch = ScratchFolder()
    (scratch.path / "a file").touch()
    assert scratch.path.parent == temporary

    scratch.close()
    scratch.close()

    assert list(temporary.iterdir()) == []


def test_the_folder_of_a_killed_process_is_deleted(temporary: Path) -> None:
    script = (
        "import os, tempfile; from lsql_runner.jvm.scratch import ScratchFolder; "
        f"tempfile.tempdir = {str(temporary)!r}; folder = ScratchFolder(); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script], check=False, timeout=30)
    [abandoned] = temporary.iterdir()

    scratch = ScratchFolder()

    assert not abandoned.exists()
    assert scratch.path.exists()
    scratch.close()


def test_the_folder_of_a_running_process_is_kept(temporary: Path) -> None:
    first, second = ScratchFolder(), ScratchFolder()

    assert {first.path, second.path} == set(temporary.iterdir())
    first.close()
    second.close()


def test_the_folder_of_a_child_process_that_still_runs_is_kept(temporary: Path) -> None:
    script = (
        "import os, subprocess, tempfile; from lsql_runner.jvm.scratch import ScratchFolder; "
        f"tempfile.tempdir = {str(temporary)!r}; folder = ScratchFolder(); "
        "child = subprocess.Popen(['cat'], pass_fds=(folder.lock_file,)); os.kill(os.getpid(), 9)"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE) as process:
        process.wait(30)
        [abandoned] = temporary.iterdir()

        ScratchFolder().close()

        assert abandoned.exists()  # `cat` runs until its input is closed


def test_folders_without_a_lock_are_kept(temporary: Path) -> None:
    others = temporary / "lsql-jvm-begins", temporary / "lsql-jvm-file", temporary / "lsql-broker-1"
    for folder in others:
        folder.mkdir()
    (temporary / "lsql-broker-1" / "lock").touch()

    ScratchFolder().close()

    assert set(others) == set(temporary.iterdir())


def test_a_folder_on_a_file_system_without_programs_is_refused(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_executable(temporary)
    check_executable(temporary / "missing")  # the JVM reports it
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_NOEXEC | os.ST_NOSUID))

    with pytest.raises(LsqlError) as caught:
        check_executable(temporary)

    assert (caught.value.code, caught.value.params) == ("TEMPORARY_FOLDER_NOEXEC", {"path": str(temporary)})
