"""Shows the progress of set-up."""

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

REFRESH_S = 0.5
WIDTH = 100


class Progress:
    """Prints a line when a step ends; on a terminal also the running steps and their times."""

    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._running: dict[str, float] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._refresh, daemon=True)
        self._is_terminal = output.isatty()

    def step(self, title: str, work: Callable[[], bool]) -> None:
        """Run a step. `work` returns whether it did anything."""
        began = time.monotonic()
        with self._lock:
            self._running[title] = began
        result = "failed"
        try:
            result = "done in {:.0f} s" if work() else "up to date"
        finally:
            with self._lock:
                del self._running[title]
                self._clear()
                print(f"  {title}: {result.format(time.monotonic() - began)}", file=self._output, flush=True)

    def __enter__(self) -> Self:
        if self._is_terminal:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        with self._lock:
            self._clear()

    def _refresh(self) -> None:
        while not self._ended.wait(REFRESH_S):
            with self._lock:
                now = time.monotonic()
                shown = "; ".join(
                    f"{title.split(' (')[0]} {now - began:.0f} s" for title, began in self._running.items()
                )
                self._clear()
                self._output.write(f"  ... {shown}"[:WIDTH])
                self._output.flush()

    def _clear(self) -> None:
        """Remove the line of running steps."""
        if self._is_terminal:
            self._output.write("\r\x1b[K")
