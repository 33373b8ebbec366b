"""`lsql run` when it ends before it connects to brokers or starts a JVM."""

from __future__ import annotations

from pathlib import Path

from ci.tools.ports import free_port
from devkit.runner import Runner


def test_a_file_in_place_of_the_state_directory_is_refused(tmp_path: Path) -> None:
    in_the_way = tmp_path / "state"
    in_the_way.write_text("a file")
    runner = Runner(f"127.0.0.1:{free_port()}", "INSERT INTO a SELECT STREAM * FROM b", "refused", in_the_way)

    output = runner.run_until_refused()

    assert runner.exit_code == 1
    assert "STATE_DIR_UNWRITABLE" in output
    assert runner.traces() == []
