"""Watches the files of settings, for example mounted secrets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Event as Flag
from threading import Thread


class FileWatch:
    """Calls `on_change` once, with the path, when the content of a file differs from its content at the start.

    A file that cannot be read counts as unchanged: an orchestrator swaps mounted secrets in more than one step.
    """

    def __init__(self, files: Iterable[Path], on_change: Callable[[Path], None], period_s: float = 5.0) -> None:
        self._seen = {path: _digest(path) for path in files}
        self._on_change = on_change
        self._period_s = period_s
        self._ended = Flag()
        self._thread = Thread(target=self._run, name="file-watch", daemon=True)
        if self._seen:
            self._thread.start()

    def close(self) -> None:
        """Stop watching."""
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.wait(self._period_s):
            for path, before in self._seen.items():
                now = _digest(path)
                if now is not None and now != before:
                    self._on_change(path)
                    return


def _digest(path: Path) -> bytes | None:
    try:
        return hashlib.sha256(path.read_bytes()).digest()
    except OSError:
        return None
