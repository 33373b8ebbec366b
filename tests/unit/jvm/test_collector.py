"""The options of the garbage collector by the size of the heap."""

import os

import pytest

from lsql_runner.jvm.collector import SMALL_HEAP_MIB, collector_options


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


def test_a_small_heap_shrinks_after_a_full_collection() -> None:
    options = collector_options(SMALL_HEAP_MIB)

    assert "-XX:+UseSerialGC" in options
    assert "-XX:MaxHeapFreeRatio=30" in options


def test_spark_does_not_request_full_collections_each_minute() -> None:
    for heap_mib in (SMALL_HEAP_MIB, SMALL_HEAP_MIB + 1):
        assert "-Dspark.cleaner.periodicGC.interval=10min" in collector_options(heap_mib)


def test_a_large_heap_does_not_shrink() -> None:
    options = collector_options(SMALL_HEAP_MIB + 1)

    assert "-XX:+UseParallelGC" in options
    assert not [option for option in options if "HeapFreeRatio" in option]
