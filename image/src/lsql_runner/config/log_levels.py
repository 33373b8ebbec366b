"""The log levels: the values of ROOT_LOG_LEVEL and of the console's `log_level`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from lsql_runner.errors import DetailError, DetailTable, LsqlError

_EXPECTED = DetailTable({"ONE_OF": "one of {known}"})


@dataclass(frozen=True, slots=True)
class LogLevel:
    """The lines that are logged at a level."""

    threshold: int
    """The least severe level of Python's logging that is logged."""
    jvm: str = "OFF"
    """The log4j level of the JVM. Logs of Spark and Kafka are only useful for debugging."""
    shows_stack_traces: bool = False
    """Whether an internal error is raised with its stack trace."""
    includes_noisy_libraries: bool = False
    """Whether libraries are logged that log every call."""


_EVERYTHING = LogLevel(logging.DEBUG, "INFO", shows_stack_traces=True, includes_noisy_libraries=True)
LEVELS: dict[str, LogLevel] = {
    "ALL": _EVERYTHING,
    "TRACE": _EVERYTHING,
    "DEBUG": LogLevel(logging.DEBUG, "WARN", shows_stack_traces=True),
    "INFO": LogLevel(logging.INFO),
    "WARN": LogLevel(logging.WARNING),
    "WARNING": LogLevel(logging.WARNING),
    "ERROR": LogLevel(logging.ERROR),
    "FATAL": LogLevel(logging.CRITICAL),
    "CRITICAL": LogLevel(logging.CRITICAL),
    "OFF": LogLevel(logging.CRITICAL + 1),
}
"""By name of log4j (as in the SQL runner of Lenses) or of Python."""


def level_name(text: str) -> str:
    """The name in LEVELS that a text, in upper or lower case, gives.

    Raises:
        DetailError: there is no such level.
    """
    name = text.strip().upper()
    if name not in LEVELS:
        raise DetailError(_EXPECTED("ONE_OF", known=", ".join(LEVELS)))
    return name


def is_debugging(environment: Mapping[str, str]) -> bool:
    """Whether the log level is one of those with stack traces."""
    level = LEVELS.get(environment.get("ROOT_LOG_LEVEL", "").strip().upper())
    return level is not None and level.shows_stack_traces


def internal_error(error: Exception) -> LsqlError:
    """The error of a command for a fault of the runner; with a debug log level, its stack trace is printed instead."""
    return LsqlError("INTERNAL", reason=f"{type(error).__name__}: {error}", reference="ROOT_LOG_LEVEL=DEBUG")
