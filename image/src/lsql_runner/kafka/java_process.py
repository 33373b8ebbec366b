"""A child process in Java with requests and responses as lines of JSON. It ends with this process.

Only this process has the other end of its input pipe. The pipe closes when this process ends, for whatever reason, and
the child ends when its input closes.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import Any

from lsql_runner.errors import Detail
from lsql_runner.jvm.java import OUT_OF_HEAP
from lsql_runner.kafka.reasons import EXITS

_EXIT_S = 5.0

Line = Mapping[str, Any]


class JavaGoneError(Exception):
    """The process ended.

    Attributes:
        reason: how it ended.
    """

    def __init__(self, reason: Detail) -> None:
        super().__init__(str(reason))
        self.reason = reason


class JavaTimeoutError(JavaGoneError):
    """The process did not answer in time and was killed."""


class JavaProcess:
    """A running process. The constructor starts it.

    Args:
        command: returns the command for a folder of temporary files, which is deleted with the process.
    """

    def __init__(self, command: Callable[[Path], Sequence[str]]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="lsql-brokers-")
        try:
            self._process = subprocess.Popen(
                command(Path(self._folder.name)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None,
                start_new_session=True,  # Ctrl-C must only reach this process, which may have a position to commit
            )
        except BaseException:
            self._folder.cleanup()
            raise
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._selector = DefaultSelector()
        self._selector.register(self._output, EVENT_READ)
        self._read = b""

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: Line, line_timeout_s: float) -> list[dict[str, Any]]:
        """The lines of the response; the last has `ok` or `error`.

        Raises:
            JavaGoneError: the process ended.
            JavaTimeoutError: no line arrived within `line_timeout_s`; the process was killed.
        """
        try:
            self._input.write(json.dumps(request).encode() + b"\n")
            self._input.flush()
        except (OSError, ValueError):  # the process ended, or `close_input` closed its input
            raise self._gone() from None
        lines: list[dict[str, Any]] = []
        while not lines or not ("ok" in lines[-1] or "error" in lines[-1]):
            lines.append(json.loads(self._line(time.monotonic() + line_timeout_s)))
        return lines

    def close_input(self) -> None:
        """Close its input, so that it ends. A thread that waits for a response gets JavaGoneError."""
        with suppress(OSError):
            self._input.close()

    def close(self) -> None:
        """Close its input and wait for its end; kill it if it does not end in time."""
        self.close_input()
        try:
            self._process.wait(_EXIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._selector.close()
        self._output.close()
        self._folder.cleanup()

    def _line(self, deadline: float) -> bytes:
        parts = [self._read]
        while b"\n" not in parts[-1]:
            if not self._selector.select(max(0.0, deadline - time.monotonic())):
                self._process.kill()
                raise JavaTimeoutError(EXITS("TIMEOUT"))
            part = os.read(self._output.fileno(), 1 << 16)
            if not part:
                raise self._gone()
            parts.append(part)
        line, self._read = b"".join(parts).split(b"\n", 1)
        return line

    def _gone(self) -> JavaGoneError:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_EXIT_S)
        code = self._process.poll()
        if code == OUT_OF_HEAP:
            return JavaGoneError(EXITS("HEAP_TOO_SMALL"))
        if code is not None and code < 0:
            return JavaGoneError(EXITS("SIGNAL", signal=-code))
        return JavaGoneError(EXITS("EXIT_CODE", code=str(code)))
