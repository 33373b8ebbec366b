"""How the memory limit of a container is divided, and the limit that a program needs."""

from dataclasses import replace

import pytest

from lsql_runner.container.budget import (
    CONNECTOR_MIB,
    SMALLEST_HEAP_MIB,
    WORKER_JVM_MIB,
    MemoryBudget,
    NetworkBuffers,
    StoreMemory,
    budget,
    needed_limit_mib,
    network_buffers,
    store_memory,
    worker_budget,
)

PROGRAMS = [(1, 0), (1, 2), (2, 4), (3, 4), (4, 8), (6, 24), (10, 40), (40, 0), (40, 160)]
"""Numbers of queries, and of stores."""


def test_the_default_limit_of_the_chart() -> None:
    divided = budget(768)

    assert divided == MemoryBudget(
        heap_mib=304, state_stores_mib=48, code_cache_mib=80, jvm_mib=208, python_mib=104, reserve_mib=24, limit_mib=768
    )
    assert divided.heap_mib + divided.outside_heap_mib + divided.reserve_mib == 768


def test_without_a_limit_the_parts_are_those_of_1_gib() -> None:
    assert budget(None) == replace(budget(1024), limit_mib=None)


@pytest.mark.parametrize("more_jvm_mib", [0, CONNECTOR_MIB, WORKER_JVM_MIB])
@pytest.mark.parametrize("limit_mib", [768, 1024, 1500, 2048, 8192])
def test_the_parts_fit_the_limit(limit_mib: int, more_jvm_mib: int) -> None:
    divided = budget(limit_mib, more_jvm_mib)

    assert limit_mib * 0.94 < divided.heap_mib + divided.outside_heap_mib <= limit_mib * 0.97


def test_a_larger_limit_gives_more_to_the_heap_the_state_stores_and_the_code_cache() -> None:
    small, large = budget(768), budget(2048)

    assert small.heap_mib < large.heap_mib
    assert small.state_stores_mib < large.state_stores_mib
    assert small.code_cache_mib < large.code_cache_mib


def test_the_heap_is_never_smaller_than_spark_accepts() -> None:
    assert budget(256).heap_mib == SMALLEST_HEAP_MIB


def test_a_connector_to_a_store_takes_its_memory_from_the_heap() -> None:
    divided = budget(768, CONNECTOR_MIB)

    assert divided.heap_mib == budget(768).heap_mib - CONNECTOR_MIB
    assert divided.heap_mib + divided.outside_heap_mib + divided.reserve_mib == 768
    assert worker_budget(1024, CONNECTOR_MIB).heap_mib == worker_budget(1024).heap_mib - CONNECTOR_MIB


@pytest.mark.parametrize(("queries", "stores"), PROGRAMS)
def test_a_program_with_a_connector_needs_its_memory_more(queries: int, stores: int) -> None:
    limit_mib = needed_limit_mib(queries, stores, CONNECTOR_MIB)

    assert limit_mib > needed_limit_mib(queries, stores) + CONNECTOR_MIB - 16  # both are rounded up
    assert budget(limit_mib, CONNECTOR_MIB).heap_mib >= 160 + 8 * (queries - 1) + (32 if stores else 0)


def test_a_stateless_program_needs_less_than_one_with_state() -> None:
    assert [needed_limit_mib(*program) for program in [(1, 0), (1, 2), (2, 4)]] == [576, 656, 672]


@pytest.mark.parametrize("more_jvm_mib", [0, CONNECTOR_MIB, WORKER_JVM_MIB])
@pytest.mark.parametrize(("queries", "stores"), PROGRAMS)
def test_the_limit_that_a_program_needs_gives_it_the_heap_that_it_needs(
    queries: int, stores: int, more_jvm_mib: int
) -> None:
    limit_mib = needed_limit_mib(queries, stores, more_jvm_mib)

    assert budget(limit_mib, more_jvm_mib).heap_mib >= 160 + 8 * (queries - 1) + (32 if stores else 0)
    assert limit_mib % 16 == 0


@pytest.mark.parametrize(
    ("state_stores_mib", "stores", "expected"),
    [
        (48, 2, StoreMemory(6, 6)),
        (48, 4, StoreMemory(3, 3)),
        (48, 12, StoreMemory(1, 1)),
        (48, 40, StoreMemory(1, 1)),
        (368, 2, StoreMemory(46, 46)),
        (48, 0, StoreMemory(12, 12)),
    ],
)
def test_three_quarters_of_the_share_of_a_store_are_its_cache_and_its_two_write_buffers(
    state_stores_mib: int, stores: int, expected: StoreMemory
) -> None:
    assert store_memory(state_stores_mib, stores) == expected


def test_stores_whose_shares_would_be_too_small_need_a_larger_limit() -> None:
    assert needed_limit_mib(1, 16) >= needed_limit_mib(1, 12) + 4 * (4 + 2)


def test_more_queries_and_stores_need_more() -> None:
    needed = [needed_limit_mib(*program) for program in PROGRAMS]

    assert needed[:7] == sorted(needed[:7])
    assert needed_limit_mib(40, 160) > needed_limit_mib(40, 0)


@pytest.mark.parametrize(
    ("heap_mib", "consumers", "producers", "expected"),
    [
        (304, 2, 1, NetworkBuffers(19 << 20, 38 << 20)),
        (304, 4, 2, NetworkBuffers(19 << 19, 19 << 20)),
        (160, 256, 1, NetworkBuffers(1 << 20, 20 << 20)),
        (4096, 2, 1, NetworkBuffers(64 << 20, 64 << 20)),
    ],
)
def test_the_buffers_of_all_clients_are_a_quarter_of_the_heap_within_bounds(
    heap_mib: int, consumers: int, producers: int, expected: NetworkBuffers
) -> None:
    assert network_buffers(heap_mib, consumers, producers) == expected


def test_the_executor_of_a_worker_shares_the_container_with_the_jvm_of_the_worker() -> None:
    assert worker_budget(1024).heap_mib == budget(1024).heap_mib - WORKER_JVM_MIB
