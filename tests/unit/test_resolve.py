"""Who is asked first for a topic's schema: the program, what is declared, what was pinned, then a sample."""

from collections.abc import Iterable, Mapping

import pytest

from lsql_runner.batches import Partition
from lsql_runner.bind.catalog import (
    BYTES_FORMAT,
    JSON_FORMAT,
    STRING_FORMAT,
    Origin,
    Serde,
    TopicSchema,
)
from lsql_runner.errors import LsqlError
from lsql_runner.kafka.brokers import RawRecord, TopicRequest
from lsql_runner.runtime.resolve import Knowledge, resolve_catalog
from lsql_runner.sql.parser import parse
from lsql_runner.types import BYTES, STRING, describe, parse_type

PROGRAM = "INSERT INTO target SELECT STREAM * FROM orders"


class FakeBrokers:
    """Topics with their records as (key, value); `asked` lists the topics that were sampled."""

    def __init__(self, **topics: list[tuple[bytes | None, bytes | None]]) -> None:
        self._records = topics
        self.asked: list[str] = []

    def topics(self) -> dict[str, int]:
        return dict.fromkeys(self._records, 3)

    def sample(self, topic: str, limit: int) -> list[RawRecord]:
        self.asked.append(topic)
        records = [
            RawRecord(Partition(topic, 0), offset, key, value)
            for offset, (key, value) in enumerate(self._records[topic])
        ]
        return records[-limit:]

    def create(self, request: TopicRequest) -> None:
        raise NotImplementedError

    def largest_batch(self, topics: Iterable[str]) -> int | None:
        raise NotImplementedError

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        raise NotImplementedError

    def begins(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        raise NotImplementedError

    def group_positions(self, group: str, partitions: Iterable[Partition]) -> dict[Partition, int]:
        raise NotImplementedError

    def commit(self, group: str, positions: Mapping[Partition, int]) -> None:
        raise NotImplementedError

    def record(self, partition: Partition, offset: int) -> RawRecord | None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


def known(schema: str, origin: Origin) -> dict[str, TopicSchema]:
    value = Serde(JSON_FORMAT, parse_type(schema))
    return {"orders": TopicSchema("orders", Serde(STRING_FORMAT, STRING), value, origin)}


def resolved(
    brokers: FakeBrokers,
    program: str = PROGRAM,
    declared: Mapping[str, TopicSchema] | None = None,
    pinned: Mapping[str, TopicSchema] | None = None,
) -> TopicSchema:
    knowledge = Knowledge(declared or {}, pinned or {}, sample_records=2)
    return resolve_catalog(parse(program), brokers, knowledge).schemas["orders"]


def test_a_sample_is_taken_where_nothing_is_known() -> None:
    schema = resolved(FakeBrokers(orders=[(b"k", b'{"id": 1}')]))

    assert (str(schema.key.format), describe(schema.value.type)) == ("STRING", "struct<id: long>")
    assert (schema.origin, schema.partitions) == ("sampled", 3)


def test_what_is_declared_is_not_sampled() -> None:
    brokers = FakeBrokers(orders=[(b"k", b'{"id": 1}')])

    schema = resolved(brokers, declared=known("struct<id: string>", "declared"))

    assert describe(schema.value.type) == "struct<id: string>"
    assert (schema.origin, schema.partitions, brokers.asked) == ("declared", 3, [])


def test_what_is_declared_goes_before_what_is_pinned() -> None:
    declared, pinned = known("struct<id: string>", "declared"), known("struct<id: long>", "declared")

    assert (
        describe(resolved(FakeBrokers(orders=[]), declared=declared, pinned=pinned).value.type) == "struct<id: string>"
    )


def test_what_is_pinned_keeps_its_types_and_takes_new_fields() -> None:
    brokers = FakeBrokers(orders=[(b"k", b'{"id": "text", "color": "red"}')])

    schema = resolved(brokers, pinned=known("struct<id: long>", "declared"))

    assert (schema.origin, describe(schema.value.type)) == ("pinned", "struct<id: long, color: string>")


def test_what_is_pinned_holds_for_an_empty_topic() -> None:
    schema = resolved(FakeBrokers(orders=[]), pinned=known("struct<id: long>", "declared"))

    assert (schema.origin, describe(schema.value.type)) == ("pinned", "struct<id: long>")


def test_a_format_in_the_program_goes_before_all() -> None:
    brokers = FakeBrokers(orders=[(b"k", b'{"id": 1}')])
    program = f"{PROGRAM} WHERE _ktype = BYTES AND _vtype = STRING"
    declared, pinned = known("struct<id: string>", "declared"), known("struct<id: long>", "declared")

    schema = resolved(brokers, program, declared, pinned)

    assert (schema.key, schema.value) == (Serde(BYTES_FORMAT, BYTES), Serde(STRING_FORMAT, STRING))
    assert schema.origin == "sampled"


def test_a_format_in_the_program_that_agrees_changes_nothing() -> None:
    declared = known("struct<id: string>", "declared")

    schema = resolved(FakeBrokers(orders=[]), f"{PROGRAM} WHERE _vtype = JSON", declared)

    assert schema.origin == "declared"


@pytest.mark.parametrize("records", [[], [(b"k", None)]])
def test_a_topic_that_says_nothing_is_waited_for(records: list[tuple[bytes | None, bytes | None]]) -> None:
    with pytest.raises(LsqlError) as caught:
        resolved(FakeBrokers(orders=records))

    assert (caught.value.code, caught.value.params) == ("SCHEMA_WAITING", {"topic": "orders"})


def test_keys_that_are_all_null_pass_through() -> None:
    assert resolved(FakeBrokers(orders=[(None, b'{"id": 1}')])).key == Serde(STRING_FORMAT, STRING)


def test_a_missing_topic_is_left_to_the_binder() -> None:
    catalog = resolve_catalog(parse(PROGRAM), FakeBrokers(other=[]), Knowledge({}, {}))

    assert (dict(catalog.schemas), catalog.existing) == ({}, frozenset({"other"}))
