"""The contract of kafka.ports.Brokers: one suite for the fake, and for the clients with a real broker.

A subclass defines the fixture `subject`. tests/contract runs the suite on the fake, tests/kafka on both clients.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Literal, Protocol

import pytest

from lsql_runner.errors import Detail, LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.offset_ranges import RangeReader
from lsql_runner.kafka.ports import NO_LIMIT_MS, Brokers, RawRecord, Right, TopicLimits, TopicRequest

DEADLINE_S = 30.0
MISSING_TOPIC = "there-is-no-such-topic"


class BrokersUnderTest(Protocol):
    """Brokers, and methods that prepare them without the port."""

    brokers: Brokers

    def topic(self, partitions: int = 1, config: Mapping[str, str] | None = None) -> str:
        """Creates a topic, and returns its name."""

    def produce(
        self, topic: str, *values: bytes | None, key: bytes | None = b"k", partition: int = 0, at_ms: int | None = None
    ) -> None:
        """Writes records, with a timestamp if it is given."""

    def delete_records(self, topic: str, before: int) -> None:
        """Deletes the records of partition 0 before an offset."""

    def member(self, group: str, topic: str) -> AbstractContextManager[None]:
        """In the block, a consumer of the topic is a member of the group."""


def unused_name(prefix: str) -> str:
    """A name that no other test uses."""
    return f"{prefix}-{uuid.uuid4().hex[:8]}"


def topics_with(brokers: Brokers, name: str, *, present: bool = True) -> dict[str, int]:
    """All topics, after waiting until a topic exists, or no longer exists: brokers create and delete asynchronously."""
    deadline = time.monotonic() + DEADLINE_S
    while (name in (topics := brokers.topics())) is not present:
        assert time.monotonic() < deadline, f"{name}: {topics}"
        time.sleep(0.05)
    return topics


class TopicReaderContract:
    def test_topics_have_their_number_of_partitions(self, subject: BrokersUnderTest) -> None:
        name = subject.topic(partitions=3)

        assert subject.brokers.topics()[name] == 3

    def test_a_topic_that_is_created_again_has_another_id(self, subject: BrokersUnderTest) -> None:
        name = unused_name("recreated")
        subject.brokers.create(TopicRequest(name, partitions=1))
        topics_with(subject.brokers, name)
        first = subject.brokers.topic_ids([name, MISSING_TOPIC])
        assert subject.brokers.topic_ids([name]) == first

        subject.brokers.delete_topic(name)
        topics_with(subject.brokers, name, present=False)
        assert subject.brokers.topic_ids([name]) == {}

        subject.brokers.create(TopicRequest(name, partitions=1))
        topics_with(subject.brokers, name)
        second = subject.brokers.topic_ids([name])
        assert first.keys() == second.keys() == {name}
        assert first != second
        assert all(len(topic_id) == 32 and int(topic_id, 16) for topic_id in (first[name], second[name]))

    def test_begins_and_ends_are_offsets(self, subject: BrokersUnderTest) -> None:
        name = subject.topic(partitions=2)
        subject.produce(name, b"v", b"v", b"v", partition=1)
        both = [Partition(name, 0), Partition(name, 1)]

        assert subject.brokers.ends(both) == {both[0]: 0, both[1]: 3}
        assert subject.brokers.begins(both) == {both[0]: 0, both[1]: 0}
        assert subject.brokers.ends([]) == {}

    def test_records_are_found_by_their_time(self, subject: BrokersUnderTest) -> None:
        name = subject.topic(partitions=2, config={"retention.ms": "-1"})
        for at_ms in (5_000, 3_000, 7_000):
            subject.produce(name, b"v", at_ms=at_ms)
        both = [Partition(name, 0), Partition(name, 1)]

        assert subject.brokers.since(both, 4_000) == {both[0]: 0, both[1]: 0}
        assert subject.brokers.since(both, 6_000) == {both[0]: 2, both[1]: 0}
        assert subject.brokers.since(both, 7_001) == {both[0]: 3, both[1]: 0}
        assert subject.brokers.since([], 1) == {}

    def test_a_sample_has_the_newest_records_of_all_partitions(self, subject: BrokersUnderTest) -> None:
        name = subject.topic(partitions=2)
        for n in range(10):
            subject.produce(name, b"%d" % n, partition=n % 2)

        sample = subject.brokers.sample(name, 4)

        assert sorted(record.value or b"" for record in sample) == [b"6", b"7", b"8", b"9"]
        assert subject.brokers.sample(subject.topic(), 4) == []

    def test_a_sample_of_large_records_is_smaller(
        self, subject: BrokersUnderTest, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(RangeReader, "sample_bytes", 2_500)
        name = subject.topic()
        subject.produce(name, *(b"v" * 990 for _ in range(8)), key=b"k" * 10)

        assert [record.offset for record in subject.brokers.sample(name, 8)] == [0, 1, 2]

    def test_a_sample_leaves_out_deleted_records(self, subject: BrokersUnderTest) -> None:
        name = subject.topic()
        subject.produce(name, *(b"%d" % n for n in range(5)))
        subject.delete_records(name, 3)
        partition = Partition(name, 0)

        assert subject.brokers.begins([partition]) == {partition: 3}
        assert [record.value for record in subject.brokers.sample(name, 5)] == [b"3", b"4"]
        assert subject.brokers.record(partition, 1) is None

    def test_a_record_is_read_by_its_offset(self, subject: BrokersUnderTest) -> None:
        name = subject.topic()
        subject.produce(name, b"1", key=b"a")
        subject.produce(name, None, key=None)
        partition = Partition(name, 0)

        assert subject.brokers.record(partition, 1) == RawRecord(partition, 1, None, None)
        assert subject.brokers.record(partition, 0) == RawRecord(partition, 0, b"a", b"1")
        assert subject.brokers.record(partition, 2) is None


class GroupPositionsContract:
    def test_a_committed_position_is_read_back(self, subject: BrokersUnderTest) -> None:
        name, group = subject.topic(partitions=2), unused_name("group")
        subject.produce(name, b"v", b"v", b"v", partition=1)
        first, second = Partition(name, 0), Partition(name, 1)
        assert subject.brokers.group_positions(group, [first, second]) == {}

        subject.brokers.commit(group, {second: 2})

        assert subject.brokers.group_positions(group, [first, second]) == {second: 2}
        assert subject.brokers.group_positions(group, []) == {}

    def test_the_metadata_of_a_commit_is_read_back(self, subject: BrokersUnderTest) -> None:
        name, group = subject.topic(partitions=2), unused_name("group")
        subject.produce(name, b"v", b"v", b"v", partition=1)
        first, second = Partition(name, 0), Partition(name, 1)
        assert subject.brokers.group_metadata(group, [first, second]) == {}

        subject.brokers.commit(group, {first: 0, second: 2}, {name: '{"host": "ü"}', "another": "x"})
        assert subject.brokers.group_metadata(group, [first, second]) == dict.fromkeys((first, second), '{"host": "ü"}')

        subject.brokers.commit(group, {second: 2})
        assert subject.brokers.group_metadata(group, [first, second]) == {first: '{"host": "ü"}'}
        assert subject.brokers.group_metadata(group, []) == {}

    def test_a_commit_keeps_the_other_partitions(self, subject: BrokersUnderTest) -> None:
        name, group = subject.topic(partitions=2), unused_name("group")
        first, second = Partition(name, 0), Partition(name, 1)
        subject.brokers.commit(group, {first: 0, second: 0})
        subject.produce(name, b"v")

        subject.brokers.commit(group, {first: 1})

        assert subject.brokers.group_positions(group, [first, second]) == {first: 1, second: 0}

    def test_only_members_may_commit_to_their_group(self, subject: BrokersUnderTest) -> None:
        name, group = subject.topic(), unused_name("group")
        partition = Partition(name, 0)

        with subject.member(group, name), pytest.raises(LsqlError) as caught:
            subject.brokers.commit(group, {partition: 0})

        assert (caught.value.code, caught.value.params) == ("GROUP_IN_USE", {"group": group})
        assert subject.brokers.group_positions(group, [partition]) == {}
        subject.brokers.commit(group, {partition: 0})
        assert subject.brokers.group_positions(group, [partition]) == {partition: 0}

    def test_an_existing_and_a_missing_group_can_be_deleted(self, subject: BrokersUnderTest) -> None:
        partition, group = Partition(subject.topic(), 0), unused_name("group")
        subject.brokers.commit(group, {partition: 0})

        subject.brokers.delete_group(group)

        assert subject.brokers.group_positions(group, [partition]) == {}
        subject.brokers.delete_group("there-is-no-such-group")


class TopicAdminContract:
    def test_a_topic_is_created_as_requested_and_only_once(self, subject: BrokersUnderTest) -> None:
        name = unused_name("created")

        is_created = [
            subject.brokers.create(TopicRequest(name, 2, 1, (("max.message.bytes", "70000"),))),
            subject.brokers.create(TopicRequest(name, 5)),
        ]

        assert is_created == [True, False]
        assert topics_with(subject.brokers, name)[name] == 2
        assert subject.brokers.limits([name]) == {name: TopicLimits(70_000, before_ms=NO_LIMIT_MS, after_ms=3_600_000)}

    def test_a_check_creates_nothing(self, subject: BrokersUnderTest) -> None:
        name = unused_name("checked")

        subject.brokers.check_create(TopicRequest(name, 2))

        assert subject.brokers.create(TopicRequest(name, 1))
        topics_with(subject.brokers, name)
        subject.brokers.check_create(TopicRequest(name, 1))  # an existing topic is not an error

    def test_an_invalid_setting_is_refused_by_the_check_and_by_the_creation(self, subject: BrokersUnderTest) -> None:
        request = TopicRequest("invalid", config=(("retention.ms", "soon"),))

        with pytest.raises(LsqlError) as checked:
            subject.brokers.check_create(request)
        with pytest.raises(LsqlError) as created:
            subject.brokers.create(request)

        for error in (checked.value, created.value):
            assert (error.code, error.params["topic"]) == ("TOPIC_REFUSED", "invalid")
            assert "retention.ms" in str(error.params["reason"])

    def test_an_existing_and_a_missing_topic_can_be_deleted(self, subject: BrokersUnderTest) -> None:
        name = unused_name("deleted")
        subject.brokers.create(TopicRequest(name, 1))
        topics_with(subject.brokers, name)

        subject.brokers.delete_topic(name)

        topics_with(subject.brokers, name, present=False)
        subject.brokers.delete_topic(name)

    def test_limits_are_those_of_existing_topics(self, subject: BrokersUnderTest) -> None:
        small = subject.topic(config={"max.message.bytes": "70000"})
        compacted = subject.topic(config={"max.message.bytes": "3000000", "cleanup.policy": "delete,compact"})

        timed = subject.topic(config={"message.timestamp.before.max.ms": "9000"})
        appended = subject.topic(config={"message.timestamp.type": "LogAppendTime"})
        times = {"before_ms": NO_LIMIT_MS, "after_ms": 3_600_000}

        assert subject.brokers.limits([small, compacted, timed, appended, MISSING_TOPIC]) == {
            small: TopicLimits(70_000, compacted=False, **times),
            compacted: TopicLimits(3_000_000, compacted=True, **times),
            timed: TopicLimits(1_048_588, before_ms=9_000, after_ms=3_600_000),
            appended: TopicLimits(1_048_588, before_ms=NO_LIMIT_MS, after_ms=NO_LIMIT_MS),
        }
        assert subject.brokers.limits([]) == {}


class ClientWithRights(Protocol):
    """Brokers whose client has only the rights that were granted to it."""

    brokers: Brokers

    def topic(self) -> str:
        """Creates a topic without rights on it, and returns its name."""

    def allow_topic(self, name: str, right: Right) -> None:
        """Grants a right on a topic."""

    def allow_group(self, name: str, right: Literal["Describe", "Read"]) -> None:
        """Grants a right on a consumer group."""

    def allow_transactional_ids(self, prefix: str) -> None:
        """Grants Write on all transactional ids with a prefix."""


class AccessChecksContract:
    """The fixture `limited` is a ClientWithRights."""

    def test_each_missing_right_on_a_topic_is_named(self, limited: ClientWithRights) -> None:
        first, second = limited.topic(), limited.topic()
        needed: dict[str, list[Right]] = {first: ["Read", "Write"], second: ["Write"]}

        def refusal() -> Mapping[str, object]:
            return missing(lambda: limited.brokers.check_topics(needed))

        assert refusal() == {"rights": "Read, Write", "topic": first}
        limited.allow_topic(first, "Write")
        assert refusal() == {"rights": "Read", "topic": first}
        limited.allow_topic(first, "Read")
        assert refusal() == {"rights": "Write", "topic": second}
        limited.allow_topic(second, "Write")
        limited.brokers.check_topics(needed)

    def test_a_topic_that_does_not_exist_is_not_checked(self, limited: ClientWithRights) -> None:
        name = unused_name("created-later")
        limited.allow_topic(name, "Write")

        limited.brokers.check_topics({name: ["Read", "Write"]})
        limited.brokers.check_topics({})

    def test_a_group_is_refused_until_it_may_be_read(self, limited: ClientWithRights) -> None:
        name = unused_name("group")

        assert missing(lambda: limited.brokers.check_group(name)) == {"name": name}
        limited.allow_group(name, "Describe")
        assert missing(lambda: limited.brokers.check_group(name)) == {"name": name}
        limited.allow_group(name, "Read")
        limited.brokers.check_group(name)

    def test_a_transactional_id_is_refused_until_its_prefix_is_allowed(self, limited: ClientWithRights) -> None:
        app = unused_name("app")
        name = f"{app}/validate"

        assert missing(lambda: limited.brokers.check_transactional_id(name)) == {"name": name}
        limited.allow_transactional_ids(f"{app}/")
        limited.brokers.check_transactional_id(name)
        limited.brokers.check_transactional_id(name)


def missing(check: Callable[[], None]) -> Mapping[str, object]:
    """The missing rights that a refused check names."""
    with pytest.raises(LsqlError) as caught:
        check()
    reason = caught.value.params["reason"]
    assert caught.value.code == "BROKER_REFUSED"
    assert isinstance(reason, Detail)
    return reason.params


class UnreachableBrokersContract:
    """The fixture `unreachable` has brokers that do not respond."""

    def test_every_request_is_refused_as_unreachable(self, unreachable: Brokers) -> None:
        requests: list[Callable[[], object]] = [
            unreachable.topics,
            lambda: unreachable.create(TopicRequest("t")),
            lambda: unreachable.check_create(TopicRequest("t")),
            lambda: unreachable.ends([Partition("t", 0)]),
            lambda: unreachable.check_topics({"t": ["Read"]}),
            lambda: unreachable.check_group("t"),
            lambda: unreachable.check_transactional_id("t"),
        ]
        for request in requests:
            with pytest.raises(LsqlError) as caught:
                request()
            assert caught.value.code == "BROKER_UNREACHABLE"
        assert unreachable.limits(["t"]) == {}
