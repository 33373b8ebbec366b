"""The lock on the state of a processor at a URI, where the kernel has none: a lease.

    lock/<number>     the holder, and how often it has renewed the lease

The file with the largest number says who holds the lock. Its holder writes it again every RENEW_S seconds. Another
process takes the lock by creating the next number, which only one process can, if the holder has released it or has not
renewed it for LEASE_S seconds. A holder that could not renew it for LEASE_S seconds ends before, by its own clock.

If a Lease of Kubernetes chooses the process that runs the program, the process with a later term of the same Lease
takes the lock at once. The file is then the record of the owner of the state (state.owner), who ends as soon as there
is a larger number.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from threading import Event as Flag
from threading import Thread
from typing import Any

from lsql_runner.errors import DetailTable, LsqlError
from lsql_runner.state.folder import StateFolder
from lsql_runner.state.owner import OwnerNumber, newest_number
from lsql_runner.state.volume_lock import LockHeldError

RENEW_S = 4.0
LEASE_S = 15.0
MARGIN_S = 3.0
"""Another process waits for the lease and this time, in which a holder that noticed its end has ended."""
WAIT_S = LEASE_S + MARGIN_S + 2 * RENEW_S
"""How long a start waits for the lock. A holder that runs has renewed it by then."""
_CAUSES = DetailTable({"NO_ANSWER": "the store did not answer in this time, or the process was suspended"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A process that wants the lock. It has a machine; or a Lease, a term and an owner."""

    machine: str = ""
    """A text that is the same in processes of which only one runs at a time, because they lock a directory on their
    machine."""
    lease: str = ""
    """What no other Lease has, of the Lease that decides which one of several processes has the lock. Two clusters may
    have Leases of the same name, and each of them a process that leads."""
    term: int = 0
    """The number of the term of this process."""
    owner: str = ""
    """A line that no other process has. Who knows it can prove that it reads the state."""

    def follows(self, document: Mapping[str, Any]) -> bool:
        """Whether to take the lock of a process at once: it has ended, or a Lease has chosen this process after it."""
        if self.lease:
            return document.get("lease") == self.lease and int(document.get("term", 0)) <= self.term
        return bool(self.machine) and document.get("machine") == self.machine

    def document(self) -> dict[str, str | int]:
        """The fields of its file."""
        if self.lease:
            return {"lease": self.lease, "term": self.term, "owner": self.owner}
        return {"machine": self.machine}


class StoreLock:
    """The lock of a processor. The constructor waits for it.

    Args:
        folder: of the processor; it may not exist.
        holder: this process.
        on_lost: called once, in a thread: with STATE_LOCK_EXPIRED when the lease could not be renewed, with
            PROCESSOR_REPLACED when another process has the lock.
        wait_s: the longest wait, in seconds.
        now_s: a clock that also advances while the process is suspended.

    Raises:
        LockHeldError: another process holds the lock.
        LsqlError: of the store.
    """

    def __init__(
        self,
        folder: StateFolder,
        holder: Holder,
        on_lost: Callable[[LsqlError], None],
        *,
        wait_s: float = WAIT_S,
        now_s: Callable[[], float] = lambda: time.clock_gettime(time.CLOCK_BOOTTIME),
        poll_s: float = 1.0,
    ) -> None:
        self._processor = folder
        self._folder = folder / "lock"
        self._holder = holder
        self._on_lost = on_lost
        self._now_s = now_s
        self._poll_s = poll_s
        self._renewals = 0
        self._renewed_s = 0.0
        self._fault: str = _CAUSES("NO_ANSWER")
        self._number = self._take(wait_s)
        self.owner = OwnerNumber(self._folder, self._number, holder.owner)
        self._closed = Flag()
        self._threads = [
            Thread(target=work, name=name, daemon=True)
            for name, work in (("renew lease", self._renew_until_closed), ("watch lease", self._watch_until_closed))
        ]
        for thread in self._threads:
            thread.start()

    # --- taking it ---

    def _take(self, wait_s: float) -> int:
        began_s = self._now_s()
        seen: tuple[int, bytes] | None = None
        seen_s = began_s
        while True:
            asked_s = self._now_s()
            number = newest_number(self._folder)
            content = self._folder.read(str(number)) or b""
            if (number, content) != seen:
                seen, seen_s = (number, content), asked_s
            if self._is_free(content) or asked_s - seen_s > LEASE_S + MARGIN_S:
                self._renewed_s = self._now_s()
                created = self._folder.create(str(number + 1), self._document())
                if created and newest_number(self._folder) == number + 1:
                    self._delete_older(number + 1)
                    return number + 1
            if asked_s - began_s >= wait_s:
                raise LockHeldError(_holder(content))
            time.sleep(self._poll_s)

    def _is_free(self, content: bytes) -> bool:
        document = _read(content)
        return not content or bool(document.get("released")) or self._holder.follows(document)

    def _delete_older(self, number: int) -> None:
        with suppress(OSError, LsqlError):  # the next holder deletes them
            for name in self._folder.file_names():
                if name.isdigit() and int(name) < number:
                    self._folder.delete(name)

    def _document(self, released: bool = False) -> bytes:
        holder = {"host": socket.gethostname(), "pid": os.getpid(), **self._holder.document()}
        return json.dumps({**holder, "renewals": self._renewals, "released": released}).encode()

    # --- keeping it ---

    def _renew_until_closed(self) -> None:
        while not self._closed.wait(RENEW_S):
            if self._is_replaced_or_renewed():
                return

    def _is_replaced_or_renewed(self) -> bool:
        """Renew the lease; whether another process has the lock."""
        asked_s = self._now_s()
        try:
            if self.owner.is_replaced():
                self._lose(LsqlError("PROCESSOR_REPLACED", app=self._processor.name))
                return True
            self._renewals += 1
            self._folder.write(str(self._number), self._document())
        except LsqlError as error:  # the next attempt may succeed
            self._fault = str(error.params.get("reason", error.code))
        else:
            self._renewed_s = asked_s
            self._fault = _CAUSES("NO_ANSWER")
        return False

    def _watch_until_closed(self) -> None:
        while not self._closed.wait(min(1.0, self._poll_s)):
            if self._now_s() - self._renewed_s > LEASE_S:
                self._lose(
                    LsqlError("STATE_LOCK_EXPIRED", uri=str(self._processor), seconds=LEASE_S, reason=self._fault)
                )

    def _lose(self, error: LsqlError) -> None:
        if not self._closed.is_set():
            self._closed.set()
            self._on_lost(error)

    def close(self) -> None:
        """Release the lock."""
        if self._closed.is_set():
            return
        self._closed.set()
        for thread in self._threads:
            thread.join(RENEW_S)
        with suppress(OSError, LsqlError):  # then the next process waits for the end of the lease
            if not self.owner.is_replaced():
                self._folder.write(str(self._number), self._document(released=True))


def owner_of(folder: StateFolder) -> str:
    """The line of the process that has the lock of a folder; empty if it has none.

    Raises:
        LsqlError: of the store.
    """
    lock = folder / "lock"
    return str(_read(lock.read(str(newest_number(lock))) or b"").get("owner", ""))


def _read(content: bytes) -> dict[str, Any]:
    with suppress(ValueError):
        document = json.loads(content)
        if isinstance(document, dict):
            return document
    return {}


def _holder(content: bytes) -> str:
    document = _read(content)
    return f"{document['pid']} on {document['host']}" if {"pid", "host"} <= document.keys() else "unknown"
