"""The thread that keeps a Lease, on a server in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from threading import Event

import pytest

from devkit.lease_server import LeaseServer, lease_server
from devkit.waiting import wait_until
from lsql_runner.lease.api import RestLeaseApi
from lsql_runner.lease.election import Candidate
from lsql_runner.lease.leadership import LeaseLeadership

RENEW_S = 0.02
LEASE_S = 1
DEADLINE_S = 20


@pytest.fixture
def server() -> Iterator[LeaseServer]:
    with lease_server() as server:
        yield server


Start = Callable[..., tuple[LeaseLeadership, Event]]


@pytest.fixture
def start(server: LeaseServer) -> Iterator[Start]:
    with ExitStack() as until_end:

        def started(name: str, lease_s: int = LEASE_S) -> tuple[LeaseLeadership, Event]:
            lost = Event()
            candidate = Candidate(name, f"{name}:8083", lease_s)
            leadership = LeaseLeadership(RestLeaseApi(server.connection), candidate, RENEW_S, lost.set)
            until_end.callback(leadership.close)
            return leadership, lost

        yield started


def leads(leadership: LeaseLeadership) -> bool:
    return leadership.term is not None


def test_the_first_process_leads_and_the_second_one_knows_its_address(start: Start) -> None:
    first, _ = start("first", lease_s=300)
    wait_until(lambda: leads(first), "a leader", DEADLINE_S)
    second, _ = start("second")
    wait_until(lambda: second.view().holder == "first", "the holder", DEADLINE_S)

    assert (second.view().leads, second.view().address, second.term) == (False, "first:8083", None)


def test_a_leader_knows_the_identity_of_its_lease(start: Start, server: LeaseServer) -> None:
    first, _ = start("first")
    wait_until(lambda: leads(first), "a leader", DEADLINE_S)

    assert server.document is not None
    assert first.lease == server.document["metadata"]["uid"]


def test_a_released_lease_passes_to_the_second_process_at_once(start: Start, server: LeaseServer) -> None:
    first, lost = start("first", lease_s=300)
    wait_until(lambda: leads(first), "a leader", DEADLINE_S)
    second, _ = start("second")
    wait_until(lambda: second.view().holder == "first", "the holder", DEADLINE_S)
    first.release()

    wait_until(lambda: leads(second), "the next leader", DEADLINE_S)
    assert (server.record.holder, server.record.transitions) == ("second", 2)
    assert not lost.is_set()


def test_a_leader_sends_one_request_for_each_renewal(start: Start, server: LeaseServer) -> None:
    first, _ = start("first")
    wait_until(lambda: leads(first), "a leader", DEADLINE_S)
    writes, reads = server.requests["PUT"], server.requests["GET"]
    wait_until(lambda: server.requests["PUT"] > writes + 5, "renewals", DEADLINE_S)

    assert server.requests["GET"] == reads


def test_a_leader_goes_on_after_another_client_has_changed_the_lease(start: Start, server: LeaseServer) -> None:
    first, lost = start("first")
    wait_until(lambda: leads(first), "a leader", DEADLINE_S)
    server.change(lambda lease: {**lease, "metadata": {**lease["metadata"], "labels": {"team": "fleet"}}})
    renewed = server.record.renewed
    wait_until(lambda: server.record.renewed != renewed, "a renewal", DEADLINE_S)

    assert server.document is not None
    assert (server.document["metadata"]["labels"], lost.is_set()) == ({"team": "fleet"}, False)


def test_the_lease_of_a_leader_that_stops_is_short_at_once(server: LeaseServer) -> None:
    first = LeaseLeadership(RestLeaseApi(server.connection), Candidate("first", "first:8083", 300), 100, lambda: None)
    with closing(first):
        wait_until(lambda: leads(first), "a leader", DEADLINE_S)
        assert server.record.duration_s == 300
        first.announce_end()

        wait_until(lambda: server.record.duration_s == 2, "the short lease", DEADLINE_S)
        assert leads(first)


def test_a_process_that_ends_without_a_release_is_replaced_after_the_lease(start: Start) -> None:
    first, _ = start("first")
    wait_until(lambda: leads(first), "a leader", DEADLINE_S)
    second, _ = start("second")
    wait_until(lambda: second.view().holder == "first", "the holder", DEADLINE_S)
    first.close()

    wait_until(lambda: leads(second), "the next leader", DEADLINE_S)


def test_a_leader_that_finds_another_holder_is_told_once_and_stops(start: Start, server: LeaseServer) -> None:
    first, lost = start("first")
    wait_until(lambda: leads(first), "a leader", DEADLINE_S)
    spec = {"holderIdentity": "other", "leaseTransitions": 2, "leaseDurationSeconds": 60}
    server.store({"metadata": {"name": "orders"}, "spec": spec})

    assert lost.wait(DEADLINE_S)


def test_a_leader_whose_state_directory_has_another_owner_is_told_without_the_api_server(
    start: Start, server: LeaseServer
) -> None:
    first, lost = start("first")
    wait_until(lambda: leads(first), "a leader", DEADLINE_S)
    server.refusal = 500
    first.guard(lambda: True)

    assert lost.wait(DEADLINE_S)


def test_a_leader_goes_on_while_the_api_server_does_not_answer(start: Start, server: LeaseServer) -> None:
    first, lost = start("first")
    wait_until(lambda: leads(first), "a leader", DEADLINE_S)
    server.refusal = 500
    wait_until(lambda: first.view().error is not None, "an error", DEADLINE_S)

    assert leads(first)
    assert not lost.is_set()
    server.refusal = None
    wait_until(lambda: first.view().error is None, "an answer", DEADLINE_S)
    assert leads(first)


@pytest.mark.parametrize(("status", "reason"), [(403, "REFUSED"), (None, "MISSING")])
def test_a_standby_says_why_it_cannot_use_the_lease(
    start: Start, server: LeaseServer, status: int | None, reason: str
) -> None:
    server.refusal = status
    server.document = None
    standby, _ = start("standby")
    wait_until(lambda: standby.view().error is not None, "an error", DEADLINE_S)

    error = standby.view().error
    assert error is not None
    assert (error.code, getattr(error.params["reason"], "code", "")) == ("LEASE_UNAVAILABLE", reason)
