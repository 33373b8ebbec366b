"""Keeps a Lease, or waits for it, in a thread."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from threading import Condition, Thread

from lsql_runner.errors import ErrorReport, LsqlError, report
from lsql_runner.events.leadership import LeadershipView
from lsql_runner.lease.election import Candidate, Election, Term, TermLostError
from lsql_runner.lease.ports import LeaseApi, LeaseChangedError
from lsql_runner.lease.record import LeaseRecord, micro_time, record_of, with_record

_RELEASE_S = 3.0
"""A Lease that cannot be released within this time expires."""


class LeaseLeadership:
    """A Leadership by a Lease. The constructor starts a thread, `close` ends it and keeps the Lease.

    A leader that does not reach the API server goes on: while it alone is cut off, another process takes over, and the
    state directory and the brokers tell it.

    Args:
        api: of the Lease; `close` closes it.
        candidate: this process.
        renew_s: the time between two requests.
        on_lost: called once by the thread, when another process leads in place of this one.
    """

    def __init__(self, api: LeaseApi, candidate: Candidate, renew_s: float, on_lost: Callable[[], None]) -> None:
        self._api = api
        self._candidate = candidate
        self._renew_s = renew_s
        self._on_lost = on_lost
        self._election = Election(candidate)
        self._is_replaced: Callable[[], bool] = lambda: False
        self._found = LeaseRecord()
        self._error: ErrorReport | None = None
        self._wake = Condition()
        self._ended = False
        self._thread = Thread(target=self._run, name="lease", daemon=True)
        self._thread.start()

    @property
    def term(self) -> Term | None:
        return self._election.term

    def view(self) -> LeadershipView:
        term, found = self._election.term, self._found
        if term is not None:
            return LeadershipView(
                leads=True, holder=term.holder, address=self._candidate.address, term=term.number, error=self._error
            )
        return LeadershipView(
            leads=False, holder=found.holder, address=found.address, term=found.transitions, error=self._error
        )

    def guard(self, is_replaced: Callable[[], bool]) -> None:
        self._is_replaced = is_replaced

    def release(self) -> None:
        self._end()
        deadline = time.monotonic() + _RELEASE_S
        while self._election.term is not None and time.monotonic() < deadline:
            try:
                document = self._api.read()
                record = self._election.released(record_of(document), _now())
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
                self._wake.wait_for(lambda: self._ended, max(0.0, began + self._renew_s - time.monotonic()))
                if self._ended:
                    return

    def _turn(self) -> None:
        if self._election.term is not None and self._is_replaced():
            raise TermLostError("")
        try:
            document = self._api.read()
            self._found = record_of(document)
            wanted = self._election.wanted(self._found, time.monotonic(), _now())
            if wanted is not None:
                self._api.write(with_record(document, wanted))
                self._election.written(wanted)
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
