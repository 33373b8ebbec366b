"""Keeps a Lease, or waits for it, in a thread."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from threading import Condition, Thread
from typing import Any

from lsql_runner.errors import ErrorReport, LsqlError, report
from lsql_runner.events.leadership import LeadershipView
from lsql_runner.lease.election import Candidate, Election, Term, TermLostError
from lsql_runner.lease.ports import LeaseApi, LeaseChangedError
from lsql_runner.lease.record import LeaseRecord, micro_time, record_of, with_record

_RELEASE_S = 3.0
"""A Lease that cannot be released within this time expires."""
_READS = 2
"""How often a process that does not lead reads the Lease in the time between two renewals."""
_RETRIES = 4
"""How often a leader tries in this time, when the API server refuses or does not answer."""
_END_LEASE_S = 2
"""The duration of the Lease of a process that stops: it may be killed at any time. If it is replaced although it runs,
another process repeats its last batch, no more."""
_END_RENEW_S = 0.5


class LeaseLeadership:
    """A Leadership by a Lease. The constructor starts a thread, `close` ends it and keeps the Lease.

    A leader that does not reach the API server continues. If another process takes over meanwhile, the state directory
    and the brokers refuse what this one writes.

    A leader sends one request for each renewal. It reads the Lease only after a write that failed.

    Args:
        api: of the Lease; `close` closes it.
        candidate: this process.
        renew_s: the time between two renewals.
        on_lost: called once by the thread, when another process leads in place of this one.
    """

    def __init__(self, api: LeaseApi, candidate: Candidate, renew_s: float, on_lost: Callable[[], None]) -> None:
        self._api = api
        self._candidate = candidate
        self._renew_s = renew_s
        self._on_lost = on_lost
        self._election = Election(candidate)
        self._is_replaced: Callable[[], bool] = lambda: False
        self._current = LeaseRecord()
        self._uid = ""
        self._own: dict[str, Any] | None = None
        self._error: ErrorReport | None = None
        self._wake = Condition()
        self._is_due = False
        self._ended = False
        self._thread = Thread(target=self._run, name="lease", daemon=True)
        self._thread.start()

    @property
    def term(self) -> Term | None:
        return self._election.term

    @property
    def lease(self) -> str:
        return self._uid

    def view(self) -> LeadershipView:
        term, current = self._election.term, self._current
        if term is not None:
            return LeadershipView(
                leads=True, holder=term.holder, address=self._candidate.address, term=term.number, error=self._error
            )
        return LeadershipView(
            leads=False, holder=current.holder, address=current.address, term=current.transitions, error=self._error
        )

    def guard(self, is_replaced: Callable[[], bool]) -> None:
        self._is_replaced = is_replaced

    def announce_end(self) -> None:
        with self._wake:
            self._election.announce_end(_END_LEASE_S)
            self._renew_s = min(self._renew_s, _END_RENEW_S)
            self._is_due = True
            self._wake.notify()

    def release(self) -> None:
        self._end()
        deadline = time.monotonic() + _RELEASE_S
        while self._election.term is not None and time.monotonic() < deadline:
            try:
                document = self._api.read()
                record = self._election.release_record(record_of(document), _now())
                if record is not None:
                    self._api.write(with_record(document, record))
                return
            except LeaseChangedError:
                continue
            except LsqlError:
                time.sleep(0.1)

    def close(self) -> None:
        """End the thread and close the connection."""
        self._end()
        self._api.close()

    def _end(self) -> None:
        with self._wake:
            self._ended = True
            self._wake.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            began = time.monotonic()
            try:
                self._turn()
            except TermLostError:
                self._on_lost()
                return
            with self._wake:
                # The period includes the request, so that a slow API server does not shorten the lease.
                self._wake.wait_for(lambda: self._ended or self._is_due, self._wait_s(began, time.monotonic()))
                self._is_due = False
                if self._ended:
                    return

    def _wait_s(self, began_s: float, now_s: float) -> float:
        """The time until the next turn, after one that began at `began_s`."""
        if self._election.term is None:
            pause_s = self._renew_s / _READS
        else:
            pause_s = self._renew_s if self._own is not None else self._renew_s / _RETRIES
        return self._election.wait_s(now_s, max(0.0, began_s + pause_s - now_s))

    def _turn(self) -> None:
        if self._election.term is not None and self._is_replaced():
            raise TermLostError("")
        document, self._own = self._own, None
        try:
            if document is None:
                document = self._api.read()
            self._current = record_of(document)
            self._uid = str(document["metadata"].get("uid", ""))
            record = self._election.next_record(self._current, time.monotonic(), _now())
            if record is not None:
                self._own = self._api.write(with_record(document, record))
                self._election.confirm(record)
            self._error = None
        except LeaseChangedError:
            pass  # the next turn reads what another process has written
        except LsqlError as error:
            self._error = report(error)


def _now() -> str:
    return micro_time(time.time())


def own_host(machine: str) -> str:
    """The address that the name of this machine has, IPv6 in brackets; the name if it has none.

    The kubelet writes name and address of a pod to its /etc/hosts.
    """
    try:
        address = str(socket.getaddrinfo(machine, None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError:
        return machine
    return f"[{address}]" if ":" in address else address
