"""A program in Java that executes requests to brokers, with requests and responses as lines of JSON."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from lsql_runner.errors import Detail

Line = Mapping[str, Any]


class ChannelClosedError(Exception):
    """The program does not answer any more.

    Attributes:
        reason: why, as a reason of BROKER_UNREACHABLE.
    """

    def __init__(self, reason: Detail) -> None:
        super().__init__(str(reason))
        self.reason = reason


class ChannelTimeoutError(ChannelClosedError):
    """It did not answer in time and was ended."""


class Channel(ABC):
    """A running program. com.lsqlrunner.kafka.BrokerRequestLoop documents the lines."""

    def ask(self, request: Line, line_timeout_s: float) -> list[dict[str, Any]]:
        """The lines of the response; the last has `ok` or `error`.

        Raises:
            ChannelClosedError: the program ended.
            ChannelTimeoutError: no line arrived within `line_timeout_s`.
        """
        self._send(json.dumps(request))
        lines: list[dict[str, Any]] = []
        while not lines or not ("ok" in lines[-1] or "error" in lines[-1]):
            lines.append(json.loads(self._line(line_timeout_s)))
        return lines

    @property
    @abstractmethod
    def runs(self) -> bool:
        """Whether it can answer a request."""

    @abstractmethod
    def end(self) -> None:
        """Let it end. A thread that waits for a response gets ChannelClosedError."""

    @abstractmethod
    def close(self) -> None:
        """Let it end, wait for its end, and delete its files."""

    @abstractmethod
    def _send(self, request: str) -> None:
        """Send a request; raises ChannelClosedError."""

    @abstractmethod
    def _line(self, timeout_s: float) -> str | bytes:
        """The next line of the response; raises ChannelClosedError, ChannelTimeoutError."""
