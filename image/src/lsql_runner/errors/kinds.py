"""The row of an error in the catalogue: its sentences, and how the runner handles it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from http import HTTPStatus
from string import Formatter

EXIT_USER = 1
"""Exit code: the SQL or the configuration is wrong."""
EXIT_RUNTIME = 3
"""Exit code: something outside the program failed."""


class Recovery(StrEnum):
    """The reaction of the supervisor to an error.

    If an error with WAIT ends a running query, the query is restarted, as with RETRY, and the new start waits.
    """

    WAIT = "wait"
    """Try the start again every second until something outside becomes available."""
    RETRY = "retry"
    """Restart with back-off."""
    FINAL = "final"
    """Fail. A user has to correct the cause and start the processor again."""


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """A row of the catalogue.

    Attributes:
        message: one sentence that describes the error, with slots for parameters.
        way_out: one or more sentences that say how to correct it, also with slots.
        exit_code: the exit code of a command that ends with the error.
        recovery: the reaction of the supervisor.
        http_status: the status of the response to a request that fails with the error.
        is_transient: whether it can disappear without any action of a user.
        is_shared: whether it concerns something that all programs need (Java, brokers, registry), so that it would
            occur with another program too.
        is_of_metadata: whether outdated metadata of the brokers can cause it, for a moment after a topic was created.
        is_of_case: whether the case file is invalid, and not its program.
    """

    message: str
    way_out: str
    _: KW_ONLY
    exit_code: int = EXIT_USER
    recovery: Recovery = Recovery.FINAL
    http_status: HTTPStatus = HTTPStatus.INTERNAL_SERVER_ERROR
    is_transient: bool = False
    is_shared: bool = False
    is_of_metadata: bool = False
    is_of_case: bool = False

    @property
    def slots(self) -> frozenset[str]:
        """The names of the parameters that the sentences take."""
        return slots_of(self.message, self.way_out)


def slots_of(*texts: str) -> frozenset[str]:
    """The names in braces."""
    return frozenset(name for text in texts for _, name, _, _ in Formatter().parse(text) if name)
