"""Identities of records, computed by Spark: equal for the same result of the same INSERT, distinct otherwise."""

from __future__ import annotations

import pytest
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lsql_runner.compile.identity import HIGH, LOW, RowIdentity, identity_columns
from lsql_runner.compile.packed import pack
from lsql_runner.engine.in_memory.engine import MemoryEngine

pytestmark = pytest.mark.timeout(180)  # the first test waits for the JVM


def place() -> RowIdentity:
    return RowIdentity((F.col("partition"), F.col("offset")), of_record=True)


@pytest.fixture
def places(engine: MemoryEngine) -> DataFrame:
    """The places of 3 x 50 source records, among them the first and last possible ones."""
    numbers = engine.session.range(150)
    partition = F.when(F.col("id") < 50, 0).when(F.col("id") < 100, 1).otherwise(2**31 - 1).cast("int")
    offset = F.when(F.col("id") % 50 == 49, 2**62).otherwise(F.col("id") % 50)
    return numbers.select(partition.alias("partition"), offset.alias("offset"))


def identities(rows: DataFrame, identity: RowIdentity, insert: str = "t#0/s") -> list[tuple[int, int]]:
    return [(row[HIGH], row[LOW]) for row in rows.select(*identity_columns(identity, insert)).collect()]


def unnested(rows: DataFrame, identity: RowIdentity, name: str, elements: int) -> tuple[DataFrame, RowIdentity]:
    """As a LATERAL over an array of so many elements."""
    array: Column = F.sequence(F.lit(0), F.lit(elements - 1))
    return rows.select("*", F.posexplode(array).alias(name, f"{name}_element")), identity.unnested(F.col(name))


def test_a_source_record_has_one_identity_with_its_place(places: DataFrame) -> None:
    ids = identities(places, place())

    assert len(set(ids)) == len(ids) == 150
    assert [(high & 0xFFFFFFFF, low) for high, low in ids] == [tuple(row) for row in places.collect()]


@pytest.mark.parametrize("insert", ["t#0/s", "t#1/s", "u#0/s", "t#0/r"])
def test_inserts_have_different_identities_of_a_record(places: DataFrame, insert: str) -> None:
    others = {name: set(identities(places, place(), name)) for name in ("t#0/s", "t#1/s", "u#0/s", "t#0/r")}

    assert all(others[insert].isdisjoint(others[name]) for name in others if name != insert)
    assert set(identities(places, place(), insert)) == others[insert]


def test_the_elements_of_an_array_have_different_identities(places: DataFrame) -> None:
    rows, identity = unnested(places.where("offset < 3"), place(), "pos", 3_000)

    ids = identities(rows, identity)

    assert len(set(ids)) == len(ids) == 9 * 3_000


def test_the_elements_of_nested_arrays_have_different_identities(places: DataFrame) -> None:
    outer, outer_identity = unnested(places.where("offset < 3"), place(), "pos", 40)
    rows, identity = unnested(outer, outer_identity, "inner", 50)

    ids = identities(rows, identity)

    assert len(set(ids)) == len(ids) == 9 * 40 * 50


def test_an_element_keeps_the_place_of_its_record(places: DataFrame) -> None:
    rows, identity = unnested(places, place(), "pos", 2)

    assert {(high & 0xFFFFFFFF, low) for high, low in identities(rows, identity)} == {
        tuple(row) for row in places.collect()
    }


def test_a_group_has_one_identity_for_each_insert(engine: MemoryEngine) -> None:
    rows = engine.session.range(10_000).select((F.col("id") % 5_000).cast("string").cast("binary").alias("id"))
    group = RowIdentity((F.col("id"),))

    ids = identities(rows, group, "t#0/s")

    assert len(set(ids)) == 5_000
    assert ids[:5_000] == ids[5_000:]
    assert set(ids).isdisjoint(identities(rows, group, "t#1/s"))


def test_a_row_of_the_left_side_without_a_right_one_is_not_the_reverse(engine: MemoryEngine) -> None:
    schema = "l BINARY, r BINARY"
    rows = engine.session.createDataFrame([(b"x", None), (None, b"x"), (b"x", b"x"), (b"", b"x")], schema)
    pair = RowIdentity((pack({"left": F.col("l"), "right": F.col("r")}),))

    assert len(set(identities(rows, pair))) == 4


def test_the_columns_have_the_names_that_the_sink_expects(places: DataFrame) -> None:
    assert places.select(*identity_columns(place(), "t#0/s")).dtypes == [("id_high", "bigint"), ("id_low", "bigint")]
