"""The options of the garbage collector by the size of the heap."""

import os

import pytest

from lsql_runner.jvm.spark_jvm import SMALL_HEAP_MIB, collector_options


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


def test_a_small_heap_shrinks_once_a_minute() -> None:
    options = collector_options(SMALL_HEAP_MIB)

    assert "-XX:+UseSerialGC" in options
    assert "-XX:MaxHeapFreeRatio=30" in options
    assert "-Dspark.cleaner.periodicGC.interval=1min" in options


def test_a_large_heap_is_not_collected_as_a_whole_each_minute() -> None:
    options = collector_options(SMALL_HEAP_MIB + 1)

    assert "-XX:+UseParallelGC" in options
    assert "-Dspark.cleaner.periodicGC.interval=10min" in options
    assert not [option for option in options if "HeapFreeRatio" in option]
