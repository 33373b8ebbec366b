"""The parts of the memory budget, and what is used of each."""

from dataclasses import replace

from devkit.fake_engine import MEMORY
from devkit.fake_processor import SCENARIOS
from lsql_runner.container.budget import budget
from lsql_runner.events.processor import MemoryMeasured
from lsql_runner.status.current import status_after
from lsql_runner.status.memory_parts import memory_parts, private_total_bytes
from lsql_runner.status.model import Status

MIB = 1 << 20
RUNNING = SCENARIOS["running"]().status()
"""A program with two state stores."""


def used(status: Status) -> dict[str, int | None]:
    return {part.part: part.used_bytes for part in memory_parts(budget(768), status)}


def test_the_parts_are_those_of_the_budget() -> None:
    parts = {part.part: part.budget_bytes // MIB for part in memory_parts(budget(768), Status())}

    assert parts == {"heap": 304, "state_stores": 48, "code_cache": 80, "jvm": 208, "python": 104, "reserve": 24}
    assert sum(parts.values()) == 768


def test_nothing_is_known_before_the_first_measurement() -> None:
    assert set(used(Status()).values()) == {None}
    assert private_total_bytes(Status()) is None


def test_the_state_stores_use_the_sum_of_their_reports() -> None:
    stores = [store for reports in RUNNING.stores.values() for store in reports.values()]

    assert used(RUNNING)["state_stores"] == sum(store.memory_bytes for store in stores) > 0


def test_a_program_without_state_uses_nothing_for_state_stores() -> None:
    assert used(replace(RUNNING, stores={}, stateful=False))["state_stores"] == 0
    assert used(replace(RUNNING, stores={}))["state_stores"] is None


def test_with_workers_the_processor_has_no_state_stores() -> None:
    parts = used(replace(RUNNING, workers=()))

    assert (parts["state_stores"], parts["jvm"]) == (0, (380 - 160 - 44) * MIB)


def test_the_rest_of_the_jvm_is_what_heap_code_and_state_stores_leave_of_its_private_memory() -> None:
    parts = used(RUNNING)
    stores = parts["state_stores"]

    assert (parts["heap"], parts["code_cache"]) == (100 * MIB, 40 * MIB)
    assert stores is not None
    assert parts["jvm"] == (380 - 160 - 44) * MIB - stores


def test_the_rest_of_the_jvm_is_never_negative() -> None:
    small = MemoryMeasured(0, replace(MEMORY, private_bytes=100 * MIB))

    assert used(status_after(small, Status()))["jvm"] == 0


def test_memory_that_the_kernel_does_not_report_is_not_known() -> None:
    status = status_after(MemoryMeasured(0, replace(MEMORY, private_bytes=None)), Status())

    assert (used(status)["jvm"], used(status)["python"], used(status)["reserve"]) == (None, None, None)
    assert private_total_bytes(status) is None


def test_private_memory_is_that_of_the_jvm_and_of_python() -> None:
    assert private_total_bytes(RUNNING) == (380 + 112) * MIB
