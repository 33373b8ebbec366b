"""The memory that a program needs, from its plan and its settings."""

from __future__ import annotations

from lsql_runner.config.jvm_options import connector_mib, threads_of_tasks
from lsql_runner.config.settings import Settings
from lsql_runner.container.budget import WORKER_JVM_MIB, NetworkBuffers, needed_limit_mib, network_buffers
from lsql_runner.plan.queries import Plan
from lsql_runner.plan.stores import store_count


def needed_mib(plan: Plan, settings: Settings, partitions: int) -> int:
    """The smallest memory limit in MiB of a container that runs the plan with a number of state partitions.

    It is enough for the state in RocksDB, which is on disk, but not for one very large group: COLLECT of a million
    records, or a session with all records of a day, is in the heap as a whole.
    """
    stores = store_count(plan) * partitions
    return needed_limit_mib(len(plan.queries), stores, connector_mib(settings), settings.heap_mib)


def needed_worker_mib(plan: Plan, settings: Settings, partitions: int) -> int:
    """The smallest memory limit in MiB of a worker that runs the plan, also if it has all partitions of the state."""
    stores = store_count(plan) * partitions
    return needed_limit_mib(len(plan.queries), stores, WORKER_JVM_MIB + connector_mib(settings))


def buffers_of(plan: Plan, settings: Settings, heap_mib: int) -> NetworkBuffers:
    """The buffers of a plan's clients: a task has a consumer for each topic and, with exactly-once, a producer.

    Args:
        heap_mib: the heap of the process that runs the tasks.
    """
    threads = threads_of_tasks(settings)
    topics = sum(query.read_count if query.continuous else len(query.sources) for query in plan.queries)
    return network_buffers(heap_mib, topics * threads, len(plan.queries) * threads)
