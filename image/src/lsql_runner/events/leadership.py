"""Which of the processes of a processor leads."""

from __future__ import annotations

from dataclasses import dataclass

from lsql_runner.errors import ErrorReport


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadershipView:
    """The leader, as far as a process knows."""

    leads: bool
    """Whether it is this process."""
    holder: str = ""
    """The leader; empty if there is none."""
    address: str = ""
    """Host and port of the leader's API."""
    term: int = 0
    """The number of the leader's term."""
    error: ErrorReport | None = None
    """Why the Lease could not be read or renewed the last time."""


@dataclass(frozen=True, slots=True)
class LeadershipChanged:
    """The leader, or its data, has changed."""

    at_ms: int
    leadership: LeadershipView
