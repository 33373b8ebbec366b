"""Work in a thread beside a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from threading import Event, Thread
from types import TracebackType
from typing import Self


class Background(ABC):
    """Runs `_work` in a thread within the block."""

    def __init__(self, name: str) -> None:
        self._is_ended = Event()
        self._thread = Thread(target=self._work, name=name, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_ended.set()
        self._thread.join()

    @abstractmethod
    def _work(self) -> None:
        """Ends soon after `_is_ended` is set."""
