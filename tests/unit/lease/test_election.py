"""Who leads, as each candidate decides it from what it reads of the Lease."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsql_runner.lease.election import Candidate, Election, Term, TermLostError
from lsql_runner.lease.record import LeaseRecord

LEASE_S = 4
READ_S = 0.5


def election(name: str) -> Election:
    return Election(Candidate(name, f"{name}:8083", LEASE_S))


class Cluster:
    """A Lease in memory, and a clock. `skew_s` is how far the wall clocks of candidates differ from it."""

    def __init__(self) -> None:
        self.lease = LeaseRecord()
        self.now_s = 100.0

    def turn(self, candidate: Election, skew_s: float = 0.0) -> bool:
        """A turn of a candidate; whether it leads after it."""
        wanted = candidate.next_record(self.lease, self.now_s, str(self.now_s + skew_s))
        if wanted is not None:
            self.lease = wanted
            candidate.confirm(wanted)
        return candidate.term is not None

    def reads(self, candidate: Election, seconds: float, skew_s: float = 0.0) -> bool:
        """Looks of a candidate, several in each second, for some time; whether it leads in the end."""
        steps = round(seconds / READ_S)
        for _ in range(steps):
            self.now_s += seconds / steps
            self.turn(candidate, skew_s)
        return candidate.term is not None


def test_a_lease_that_nobody_holds_is_taken_at_once() -> None:
    cluster, one = Cluster(), election("one")

    assert cluster.turn(one)
    assert one.term == Term(1, "one")
    assert (cluster.lease.holder, cluster.lease.address, cluster.lease.duration_s) == ("one", "one:8083", LEASE_S)


def test_a_lease_that_is_renewed_is_not_taken() -> None:
    cluster, one, other = Cluster(), election("one"), election("other")
    for _ in range(20):
        assert cluster.turn(one)
        assert not cluster.turn(other)
        cluster.now_s += 1


def test_a_lease_that_is_not_renewed_is_taken_after_its_duration() -> None:
    cluster, one, other = Cluster(), election("one"), election("other")
    cluster.turn(one)
    cluster.turn(other)

    assert not cluster.reads(other, LEASE_S - 0.1)
    cluster.now_s += 0.2
    assert cluster.turn(other)
    assert other.term == Term(2, "other")


def test_the_duration_is_measured_from_the_first_read_with_the_own_clock() -> None:
    cluster, one, late = Cluster(), election("one"), election("late")
    cluster.turn(one, skew_s=-86_400)
    cluster.now_s += 1000

    assert not cluster.turn(late, skew_s=86_400)
    assert not cluster.reads(late, LEASE_S - READ_S, skew_s=86_400)
    assert cluster.reads(late, 2 * READ_S, skew_s=86_400)


def test_a_time_without_an_answer_does_not_count_because_the_leader_could_not_renew_either() -> None:
    cluster, one, other = Cluster(), election("one"), election("other")
    cluster.turn(one)
    cluster.turn(other)

    cluster.now_s += 60  # the API server does not answer, or this candidate is suspended
    assert not cluster.turn(other)
    assert cluster.turn(one)
    assert not cluster.turn(other)
    assert cluster.reads(other, LEASE_S)


def test_a_candidate_reads_again_when_the_lease_expires() -> None:
    cluster, one, other = Cluster(), election("one"), election("other")
    assert other.wait_s(cluster.now_s, longest_s=1) == 1
    cluster.turn(one)
    cluster.turn(other)
    assert not cluster.reads(other, LEASE_S - 0.2)

    assert other.wait_s(cluster.now_s, longest_s=1) == pytest.approx(0.2)
    assert other.wait_s(cluster.now_s + 0.1, longest_s=0.05) == 0.05
    assert one.wait_s(cluster.now_s, longest_s=1) == 1
    assert other.wait_s(cluster.now_s + 0.3, longest_s=0.5) == 0.5, "the API server does not answer"


def test_the_lease_of_a_leader_that_stops_is_shorter() -> None:
    cluster, one, other = Cluster(), election("one"), election("other")
    cluster.turn(one)
    cluster.turn(other)
    one.announce_end(lease_s=2)
    assert cluster.turn(one)
    cluster.turn(other)

    assert not cluster.reads(other, 1.5)
    assert cluster.reads(other, 1)


def test_a_candidate_that_stops_does_not_begin_to_lead() -> None:
    cluster, one = Cluster(), election("one")
    one.announce_end(lease_s=2)

    assert not cluster.turn(one)


def test_a_released_lease_is_taken_at_once() -> None:
    cluster, one, other = Cluster(), election("one"), election("other")
    cluster.turn(one)
    cluster.turn(other)
    released = one.release_record(cluster.lease, "later")
    assert released is not None
    cluster.lease = released

    assert cluster.turn(other)
    assert other.term == Term(2, "other")


def test_a_leader_that_finds_another_holder_has_lost_its_term() -> None:
    cluster, one, other = Cluster(), election("one"), election("other")
    cluster.turn(one)
    cluster.turn(other)
    assert cluster.reads(other, LEASE_S + READ_S)

    with pytest.raises(TermLostError) as caught:
        cluster.turn(one)
    assert caught.value.holder == "other"


def test_a_leader_that_finds_a_later_term_without_a_holder_has_lost_its_own() -> None:
    cluster, one, other = Cluster(), election("one"), election("other")
    cluster.turn(one)
    cluster.turn(other)
    assert cluster.reads(other, LEASE_S + READ_S)
    released = other.release_record(cluster.lease, "later")
    assert released is not None
    cluster.lease = released

    with pytest.raises(TermLostError):
        cluster.turn(one)


def test_a_process_that_was_replaced_does_not_release_the_lease_of_another() -> None:
    assert election("one").release_record(LeaseRecord(holder="other", transitions=2), "later") is None


def test_a_write_whose_answer_was_lost_counts() -> None:
    cluster, one = Cluster(), election("one")
    wanted = one.next_record(cluster.lease, cluster.now_s, "now")
    assert wanted is not None
    cluster.lease = wanted

    assert cluster.turn(one)
    assert one.term == Term(1, "one")


@given(
    st.lists(
        st.tuples(st.sampled_from(["one", "other", "third"]), st.floats(0, 3), st.booleans()), min_size=1, max_size=80
    )
)
def test_terms_increase_and_no_two_candidates_have_the_same_one(steps: list[tuple[str, float, bool]]) -> None:
    """Candidates take turns at random times. The API server refuses some writes, because another one was faster."""
    cluster = Cluster()
    candidates = {name: election(name) for name in ("one", "other", "third")}
    lost: set[str] = set()
    terms: dict[int, str] = {}
    for name, pause_s, is_refused in steps:
        if name in lost:
            continue
        read = cluster.lease
        cluster.now_s += pause_s
        try:
            wanted = candidates[name].next_record(read, cluster.now_s, str(cluster.now_s))
        except TermLostError:
            lost.add(name)
            continue
        if wanted is None or is_refused:
            continue
        assert wanted.transitions >= cluster.lease.transitions
        cluster.lease = wanted
        candidates[name].confirm(wanted)
        assert terms.setdefault(wanted.transitions, name) == name
