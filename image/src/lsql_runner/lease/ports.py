"""The protocols of the package: access to a Lease, and the part of a process in the election."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from lsql_runner.events.leadership import LeadershipView
from lsql_runner.lease.election import Term


class LeaseChangedError(Exception):
    """Another process has written the Lease since it was read."""


class LeaseApi(Protocol):
    """Access to one Lease."""

    def read(self) -> dict[str, Any]:
        """The Lease object.

        Raises:
            LsqlError: LEASE_UNAVAILABLE.
        """

    def write(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Replace the Lease object, if it still has the version of the document. Returns it with its new version.

        Raises:
            LeaseChangedError: it has another version.
            LsqlError: LEASE_UNAVAILABLE. The object may have been replaced nevertheless.
        """

    def close(self) -> None:
        """Close the connection."""


class Leadership(Protocol):
    """Whether this process leads."""

    @property
    def term(self) -> Term | None:
        """The term in which it leads; None while another process does, or none."""

    @property
    def lease(self) -> str:
        """The identity of the Lease: another Lease of the same name has another one. Empty until the Lease was read."""

    def view(self) -> LeadershipView:
        """The leader, as far as it is known."""

    def guard(self, is_replaced: Callable[[], bool]) -> None:
        """Call a function before each renewal; if it returns true, another process has taken over."""

    def announce_end(self) -> None:
        """This process stops. It does not begin to lead, and another one leads sooner if it is killed meanwhile."""

    def release(self) -> None:
        """Let another process lead immediately, after this one has stopped writing. It does not lead again."""
