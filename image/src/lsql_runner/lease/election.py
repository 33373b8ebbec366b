"""Decides which process leads, from the content of a Lease. Pure: no clock, no threads, no requests.

A process that does not lead measures with its own monotonic clock for how long the Lease has not changed. Clocks of
different machines are never compared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lsql_runner.lease.record import LeaseRecord

_LONGEST_PERIOD = 0.5
"""The longest time between two reads that counts as a time without a change, as a part of the Lease's duration."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A process that wants to lead."""

    holder: str
    """A name that no other process has, and that it does not have again after a restart."""
    address: str
    """Host and port of its API."""
    lease_s: int
    """How long others wait for a renewal before they lead."""


@dataclass(frozen=True, slots=True)
class Term:
    """The time in which a process leads."""

    number: int
    """Larger than the number of the previous term."""
    holder: str

    @property
    def text(self) -> str:
        """The number and the holder in one line."""
        return f"{self.number} {self.holder}"


class TermLostError(Exception):
    """Another process leads now. `holder` is its name; empty if it has released the Lease again."""

    def __init__(self, holder: str) -> None:
        super().__init__(holder)
        self.holder = holder


class Election:
    """The view of one candidate.

    Attributes:
        term: the term in which the candidate leads; None while it does not.
    """

    def __init__(self, candidate: Candidate) -> None:
        self._candidate = candidate
        self._seen: LeaseRecord | None = None
        self._unchanged_s = 0.0
        self._read_at_s = 0.0
        self._ends = False
        self.term: Term | None = None

    def next_record(self, current: LeaseRecord, now_s: float, time: str) -> LeaseRecord | None:
        """The record to write in place of the current one; None if another process leads.

        Args:
            current: the content of the Lease, which was just read.
            now_s: the monotonic clock, in seconds.
            time: the wall clock, in the form of a Lease.

        Raises:
            TermLostError: this candidate led, and another one has taken its place.
        """
        own = self._candidate
        if current.holder == own.holder:
            return replace(current, address=own.address, duration_s=own.lease_s, renewed=time)
        if self.term is not None and (current.holder or current.transitions != self.term.number):
            raise TermLostError(current.holder)
        if self._ends or (current.holder and not self._has_expired(current, now_s)):
            return None
        return LeaseRecord(
            holder=own.holder,
            address=own.address,
            duration_s=own.lease_s,
            renewed=time,
            acquired=time,
            transitions=current.transitions + (self.term is None),
        )

    def announce_end(self, lease_s: int) -> None:
        """This candidate stops: it does not begin to lead, and its next renewals last for at most `lease_s`."""
        self._candidate = replace(self._candidate, lease_s=min(lease_s, self._candidate.lease_s))
        self._ends = True

    def wait_s(self, now_s: float, longest_s: float) -> float:
        """How long to wait until the next read: until the Lease expires, at most `longest_s`."""
        seen = self._seen
        if self.term is not None or seen is None or not seen.holder:
            return longest_s
        until_expiry_s = self._read_at_s + seen.duration_s - self._unchanged_s - now_s
        return min(longest_s, until_expiry_s) if until_expiry_s > 0 else longest_s  # the read at the expiry has failed

    def confirm(self, record: LeaseRecord) -> None:
        """Record that the API server has stored a result of `next_record`: this candidate leads."""
        self.term = Term(record.transitions, record.holder)

    def release_record(self, current: LeaseRecord, time: str) -> LeaseRecord | None:
        """The record to write so that another process can lead immediately; None if this one does not lead any more."""
        if current.holder != self._candidate.holder:
            return None
        return replace(current, holder="", address="", duration_s=1, renewed=time)

    def _has_expired(self, current: LeaseRecord, now_s: float) -> bool:
        """Whether the Lease has not changed for its duration.

        A long time between two reads does not count: the API server did not answer, so the leader could not renew
        the Lease either, or this process was suspended.
        """
        since_read_s, self._read_at_s = now_s - self._read_at_s, now_s
        if current != self._seen:
            self._seen, self._unchanged_s = current, 0.0
        elif since_read_s <= current.duration_s * _LONGEST_PERIOD:
            self._unchanged_s += since_read_s
        return self._unchanged_s >= current.duration_s
