"""A child process in Java with requests and responses as lines of JSON. It ends with this process.

Only this process has the other end of its input pipe. The pipe closes when this process ends, for whatever reason, and
the child ends when its input closes.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector

from lsql_runner.errors import Detail
from lsql_runner.jvm.java import OUT_OF_HEAP
from lsql_runner.kafka.channel import Channel, ChannelClosedError, ChannelTimeoutError
from lsql_runner.kafka.reasons import EXITS, REASONS

_EXIT_S = 5.0


class JavaProcess(Channel):
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

    def end(self) -> None:
        with suppress(OSError):
            self._input.close()

    def close(self) -> None:
        """Close its input and wait for its end; kill it if it does not end in time."""
        self.end()
        try:
            self._process.wait(_EXIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._selector.close()
        self._output.close()
        self._folder.cleanup()

    def _send(self, request: str) -> None:
        try:
            self._input.write(request.encode() + b"\n")
            self._input.flush()
        except (OSError, ValueError):  # the process ended, or `end` closed its input
            raise ChannelClosedError(self._exit()) from None

    def _line(self, timeout_s: float) -> bytes:
        deadline = time.monotonic() + timeout_s
        parts = [self._read]
        while b"\n" not in parts[-1]:
            if not self._selector.select(max(0.0, deadline - time.monotonic())):
                self._process.kill()
                raise ChannelTimeoutError(REASONS("JVM_GONE", reason=EXITS("TIMEOUT")))
            part = os.read(self._output.fileno(), 1 << 16)
            if not part:
                raise ChannelClosedError(self._exit())
            parts.append(part)
        line, self._read = b"".join(parts).split(b"\n", 1)
        return line

    def _exit(self) -> Detail:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_EXIT_S)
        code = self._process.poll()
        if code == OUT_OF_HEAP:
            reason = EXITS("HEAP_TOO_SMALL")
        elif code is not None and code < 0:
            reason = EXITS("SIGNAL", signal=-code)
        else:
            reason = EXITS("EXIT_CODE", code=str(code))
        return REASONS("JVM_GONE", reason=reason)
