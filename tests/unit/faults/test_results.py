"""The comparison of tests/faults finds each kind of difference, and the models have the results that they describe."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from devkit.records import Record
from tests.faults.programs import FILTER, GROUPED, STREAM_STREAM, SUITES, TABLE_TABLE, TUMBLING, Program
from tests.faults.records import Sources
from tests.faults.results import (
    TOMBSTONE,
    Comparison,
    Group,
    Kind,
    changing,
    compare,
    deletable,
    every,
    every_one_of,
    final,
)


def written(*values: str, key: str = "k") -> list[Record]:
    return [Record(key.encode(), value.encode(), partition=0, offset=number) for number, value in enumerate(values)]


def compared(group: Group, records: Sequence[Record]) -> Comparison:
    return compare(
        records,
        {"k": group},
        lambda record: (record.key or b"").decode(),
        lambda record: (record.value or b"").decode(),
    )


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        (("a", "b", "c"), {}),
        (("a", "c"), {Kind.LOST: 1}),
        (("a", "b", "c", "b"), {Kind.DOUBLED: 1}),
        (("a", "b", "a", "b", "c"), {Kind.DOUBLED: 2}),
        (("b", "a", "c"), {Kind.DISORDERED: 1}),
        (("a", "b", "x", "c"), {Kind.UNEXPECTED: 1}),
        ((), {Kind.LOST: 3}),
    ],
)
def test_results_of_single_records_are_written_once_in_order(values: tuple[str, ...], counts: dict[Kind, int]) -> None:
    assert compared(every("abc"), written(*values)).counts == counts


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        (("1", "2", "3"), {}),
        (("2", "3"), {}),
        (("3",), {}),
        (("1", "2"), {Kind.LOST: 1}),
        (("1", "1", "3"), {Kind.DOUBLED: 1}),
        (("1", "3", "2"), {Kind.DISORDERED: 1}),
        (("1", "3", "4"), {Kind.UNEXPECTED: 1}),
    ],
)
def test_values_that_change_increase_to_the_last_one(values: tuple[str, ...], counts: dict[Kind, int]) -> None:
    assert compared(changing(["1", "2", "3"]), written(*values)).counts == counts


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        (("1", "null", "2", "null", "3"), {}),
        (("3",), {}),
        (("1", "3", "null"), {Kind.STALE: 1}),
        (("1", "2"), {Kind.STALE: 1}),
        ((), {Kind.STALE: 1}),
        (("1", "1", "3"), {Kind.DOUBLED: 1}),
    ],
)
def test_values_that_are_deleted_and_come_again_end_with_the_last_one(
    values: tuple[str, ...], counts: dict[Kind, int]
) -> None:
    assert compared(deletable(["1", "2", "3"], last="3"), written(*values)).counts == counts


def test_a_group_that_does_not_exist_in_the_end_is_deleted_or_was_never_written() -> None:
    group = deletable(["1"], last=TOMBSTONE)

    assert [compared(group, written(*values)).counts for values in ((), ("1", "null"), ("1",))] == [
        {},
        {},
        {Kind.STALE: 1},
    ]
    assert compared(final("1"), written("4", "2", "4", "1")).counts == {}


def test_one_of_several_possible_results_is_written_once() -> None:
    group = every_one_of([["a1", "a2"], ["b1", "b2"]])

    assert compared(group, written("a2", "b1")).counts == {}
    assert compared(group, written("a2", "a1", "b1")).counts == {Kind.DOUBLED: 1}


def test_a_group_without_order_accepts_any_order() -> None:
    assert compared(every("ab", is_ordered=False), written("b", "a")).counts == {}


def test_a_record_of_an_unknown_group_is_unexpected() -> None:
    assert compared(every("a"), [*written("a"), *written("a", key="other")]).counts == {Kind.UNEXPECTED: 1}


def test_a_difference_shows_the_record_with_its_headers() -> None:
    record = Record(b"k", b"x", headers=(("lsql.batch", b"app/q/3"), ("lsql.id", b"\x00\xff")), partition=1, offset=2)

    [difference] = compared(every(""), [record]).differences

    assert str(difference).endswith(
        "partition 1 offset 2 key b'k' value b'x' headers [lsql.batch=app/q/3, lsql.id=00ff]"
    )


def sources_of(program: Program, count: int) -> Sources:
    """The first records of a program, as the sources have them."""
    by_topic: dict[str, list[Record]] = {name: [] for name in program.sources}
    for name, record in [*program.first(), *(sent for number in range(count) for sent in program.records(number))]:
        by_topic[name].append(record)
    return by_topic


@pytest.mark.parametrize(
    "program", {program.name: program for suite in SUITES for program in suite.programs}.values(), ids=lambda p: p.name
)
def test_each_model_has_results_for_every_target(program: Program) -> None:
    sources = sources_of(program, 200)

    for name, target in program.targets.items():
        groups = target.model(sources)
        assert sum(len(group.required) + (group.last not in (None, TOMBSTONE)) for group in groups.values()) >= 5, name


def test_the_model_of_a_filter() -> None:
    groups = FILTER.targets["out"].model(sources_of(FILTER, 30))

    ids = sorted(json.loads(value)["id"] for group in groups.values() for value in group.positions)
    assert ids == [number for number in range(30) if number % 10 > 2]


def test_the_model_of_a_window() -> None:
    groups = TUMBLING.targets["out"].model(sources_of(TUMBLING, 210))

    assert sum(len(group.positions) for group in groups.values()) == 210
    assert {name.split()[1] for name in groups} == {"1700000000000", "1700000010000"}


def test_the_model_of_a_group() -> None:
    groups = GROUPED.targets["out"].model(sources_of(GROUPED, 12))

    assert list(groups["colour-1"].positions) == [
        '{"count": 1, "total": 2}',
        '{"count": 2, "total": 4}',
        '{"count": 3, "total": 6}',
    ]


def test_the_versions_of_joined_tables_never_decrease() -> None:
    groups = TABLE_TABLE.targets["out"].model(sources_of(TABLE_TABLE, 26 * 3))
    values = ['{"a": 0, "b": 0}', '{"a": 2, "b": 0}', '{"a": 1, "b": 1}', '{"a": 2, "b": 2}']
    records = [Record(b"key-0", value.encode()) for value in values]
    target = TABLE_TABLE.targets["out"]

    comparison = compare(records, {"key-0": groups["key-0"]}, target.group_of, target.result_of)

    assert comparison.counts == {Kind.DISORDERED: 1}


def test_the_model_of_joined_streams_has_the_payments_in_time_or_an_order_alone() -> None:
    groups = STREAM_STREAM.targets["out"].model(sources_of(STREAM_STREAM, 200))

    nths = [{json.loads(value)["nth"] for value in group.positions} for group in groups.values()]
    assert set().union(*nths) == {0, 1, None}
    assert all(len(each) == 1 for each in nths if None in each)
