"""Changes of mounted secrets."""

from pathlib import Path
from queue import Empty, Queue

import pytest

from lsql_runner.runtime.file_watch import FileWatch

DEADLINE_S = 10


def test_a_changed_file_is_reported_once(tmp_path: Path) -> None:
    unchanged, changed = tmp_path / "unchanged", tmp_path / "changed"
    unchanged.write_text("a")
    changed.write_text("b")
    changes: Queue[Path] = Queue()

    watch = FileWatch([unchanged, changed], changes.put, period_s=0.01)
    changed.write_text("c")

    assert changes.get(timeout=DEADLINE_S) == changed
    changed.write_text("d")
    with pytest.raises(Empty):
        changes.get(timeout=0.2)
    watch.close()


def test_a_file_that_is_missing_for_a_moment_is_not_reported(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a")
    changes: Queue[Path] = Queue()

    watch = FileWatch([secret], changes.put, period_s=0.01)
    secret.unlink()
    with pytest.raises(Empty):
        changes.get(timeout=0.2)
    written = tmp_path / "written"
    written.write_text("a")
    written.rename(secret)  # to write the secret itself would empty it for a moment
    with pytest.raises(Empty):
        changes.get(timeout=0.2)
    watch.close()
