"""The options of the garbage collector by the size of the heap."""

import os

import pytest

from lsql_runner.jvm.collector import FIRST_OLD_MIB, SMALL_HEAP_MIB, collector_options


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


def test_a_small_heap_shrinks_after_a_full_collection() -> None:
    options = collector_options(SMALL_HEAP_MIB)

    assert "-XX:+UseSerialGC" in options
    assert "-XX:MaxHeapFreeRatio=30" in options


def test_new_objects_have_less_space_if_they_live_as_long_as_a_record() -> None:
    assert "-Xmn91m" in collector_options(304)
    assert "-Xmn45m" in collector_options(304, is_continuous=True)


def test_spark_does_not_request_full_collections_each_minute() -> None:
    for heap_mib in (SMALL_HEAP_MIB, SMALL_HEAP_MIB + 1):
        assert "-Dspark.cleaner.periodicGC.interval=10min" in collector_options(heap_mib)


def test_a_large_heap_does_not_shrink() -> None:
    options = collector_options(SMALL_HEAP_MIB + 1)

    assert "-XX:+UseParallelGC" in options
    assert not [option for option in options if "HeapFreeRatio" in option]


@pytest.mark.parametrize(
    ("heap_mib", "first_mib"),
    [(40, 40), (400, 120 + FIRST_OLD_MIB), (SMALL_HEAP_MIB + 1, 2 * FIRST_OLD_MIB), (16_384, 512)],
    ids=["at most the whole heap", "a small heap", "a large heap", "not less than by default"],
)
def test_the_space_for_old_objects_is_large_enough_for_those_of_the_cache(heap_mib: int, first_mib: int) -> None:
    assert f"-XX:InitialHeapSize={first_mib}m" in collector_options(heap_mib)
