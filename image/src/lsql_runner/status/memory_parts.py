"""The parts of the memory budget, and their use."""

from __future__ import annotations

from dataclasses import dataclass

from lsql_runner.container.budget import MemoryBudget, PartName
from lsql_runner.events.memory import JvmMemory
from lsql_runner.status.model import Status


@dataclass(frozen=True, slots=True)
class BudgetPart:
    """A part of the budget."""

    part: PartName
    budget_bytes: int
    used_bytes: int | None
    """None before the first measurement, and for what cannot be measured."""


def memory_parts(budget: MemoryBudget, status: Status) -> tuple[BudgetPart, ...]:
    """The parts of a processor's budget."""
    measured = status.memory
    jvm = None if measured is None else measured.jvm
    stores = _state_stores_bytes(status)
    return (
        BudgetPart("heap", budget.heap_mib << 20, None if jvm is None else jvm.heap_used_bytes),
        BudgetPart("state_stores", budget.state_stores_mib << 20, stores),
        BudgetPart("code_cache", budget.code_cache_mib << 20, None if jvm is None else jvm.code_cache_used_bytes),
        BudgetPart("jvm", budget.jvm_mib << 20, None if jvm is None else _rest_bytes(jvm, stores or 0)),
        BudgetPart("python", budget.python_mib << 20, None if measured is None else measured.python_bytes),
        BudgetPart("reserve", budget.reserve_mib << 20, None if measured is None else measured.kernel_bytes),
    )


def private_total_bytes(status: Status) -> int | None:
    """The memory of the Spark JVM and of Python that no file backs; None if one of them is not known."""
    measured = status.memory
    if measured is None or measured.jvm is None or measured.jvm.private_bytes is None or measured.python_bytes is None:
        return None
    return measured.jvm.private_bytes + measured.python_bytes


def _state_stores_bytes(status: Status) -> int | None:
    """The memory of all state stores in this process, at the end of their last batches; None before the first batch."""
    if status.workers is not None:
        return 0
    reports = [store for stores in status.stores.values() for store in stores.values()]
    is_stateless = bool(status.topics) and not status.stateful
    return sum(store.memory_bytes for store in reports) if reports or is_stateless else None


def _rest_bytes(jvm: JvmMemory, stores_bytes: int) -> int | None:
    """The memory of the JVM outside heap, code cache and state stores, as if all committed memory were in use."""
    native_bytes = jvm.native_bytes
    return None if native_bytes is None else max(0, native_bytes - stores_bytes)
