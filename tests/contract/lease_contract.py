"""What a standby expects of a Lease. The suite runs on the server of devkit, and in tests/cluster on a real one."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import pytest

from lsql_runner.errors import LsqlError
from lsql_runner.lease.api import RestLeaseApi
from lsql_runner.lease.ports import LeaseChangedError
from lsql_runner.lease.record import LeaseRecord, record_of, with_record

HELD = LeaseRecord(
    holder="pod-0_1",
    address="10.0.0.7:8083",
    duration_s=4,
    renewed="2026-11-26T06:00:01.000000Z",
    acquired="2026-11-26T06:00:00.000000Z",
    transitions=3,
)


class LeaseUnderTest(Protocol):
    """A Lease that nobody holds."""

    def open(self, name: str = "") -> RestLeaseApi:
        """Access with the credentials of a pod; to the Lease under test, or to another one."""


class LeaseContract:
    """Reading and replacing a Lease."""

    def test_a_lease_of_the_chart_has_no_holder(self, subject: LeaseUnderTest) -> None:
        assert record_of(subject.open().read()) == LeaseRecord()

    def test_what_was_written_is_read(self, subject: LeaseUnderTest) -> None:
        api = subject.open()
        api.write(with_record(api.read(), HELD))

        assert record_of(subject.open().read()) == HELD

    def test_what_was_written_can_be_written_again(self, subject: LeaseUnderTest) -> None:
        api = subject.open()
        written = api.write(with_record(api.read(), HELD))
        api.write(with_record(written, replace(HELD, renewed="2026-11-26T06:00:02.000000Z")))

        assert record_of(api.read()).renewed == "2026-11-26T06:00:02.000000Z"

    def test_a_lease_without_a_holder_can_be_written(self, subject: LeaseUnderTest) -> None:
        api = subject.open()
        api.write(with_record(api.read(), LeaseRecord(duration_s=1, renewed=HELD.renewed, transitions=3)))

        assert (record_of(api.read()).holder, record_of(api.read()).transitions) == ("", 3)

    def test_a_lease_has_an_identity_which_a_write_keeps(self, subject: LeaseUnderTest) -> None:
        api = subject.open()
        uid = api.read()["metadata"]["uid"]

        assert uid
        assert api.write(with_record(api.read(), HELD))["metadata"]["uid"] == uid

    def test_of_two_that_have_read_the_same_version_the_second_one_is_refused(self, subject: LeaseUnderTest) -> None:
        one, other = subject.open(), subject.open()
        seen_by_one, seen_by_other = one.read(), other.read()
        one.write(with_record(seen_by_one, HELD))

        with pytest.raises(LeaseChangedError):
            other.write(with_record(seen_by_other, HELD))

    def test_another_lease_is_unavailable(self, subject: LeaseUnderTest) -> None:
        with pytest.raises(LsqlError) as caught:
            subject.open("another").read()

        assert caught.value.code == "LEASE_UNAVAILABLE"
