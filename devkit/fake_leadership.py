"""The part of a process in the election of a leader, as a test decides it."""

from __future__ import annotations

from collections.abc import Callable

from lsql_runner.errors import LsqlError, report
from lsql_runner.events.leadership import LeadershipView
from lsql_runner.lease.election import Term


class FakeLeadership:
    """A Leadership that a test controls.

    Attributes:
        term: in which the process leads.
        lease: the identity of the Lease.
        error: of the Lease.
        is_replaced: what the process has passed to `guard`.
        calls: of `announce_end` and `release`, in order.
    """

    def __init__(self) -> None:
        self.term: Term | None = None
        self.lease = "b0a3"
        self.error: LsqlError | None = None
        self.is_replaced: Callable[[], bool] | None = None
        self.calls: list[str] = []

    def view(self) -> LeadershipView:
        error = None if self.error is None else report(self.error)
        return LeadershipView(leads=self.term is not None, holder="other", address="other:8083", term=1, error=error)

    def guard(self, is_replaced: Callable[[], bool]) -> None:
        self.is_replaced = is_replaced

    def announce_end(self) -> None:
        self.calls.append("announce_end")

    def release(self) -> None:
        self.calls.append("release")
