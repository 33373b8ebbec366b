"""The options of a JVM that runs tasks, its memory and its threads, from settings."""

from __future__ import annotations

from lsql_runner.config.log_levels import LEVELS
from lsql_runner.config.settings import Settings
from lsql_runner.container.budget import CONNECTOR_MIB, MemoryBudget, worker_budget
from lsql_runner.container.limits import cores
from lsql_runner.jvm.spark_jvm import JvmOptions


def connector_mib(settings: Settings) -> int:
    """The memory of the connector in a JVM that runs tasks; 0 without one, as for state on a volume.

    A worker has no LSQL_STATE_URI outside the chart, but the jars.
    """
    scheme = settings.state_uri.partition("://")[0]
    return CONNECTOR_MIB if scheme not in ("", "file") or settings.state_jars is not None else 0


def memory_of_tasks(settings: Settings, own: MemoryBudget) -> MemoryBudget:
    """The budget of a process that runs tasks: the smallest worker's budget, if its limit is known, else `own`."""
    limit_mib = settings.workers_memory_mib
    return own if limit_mib is None else worker_budget(limit_mib, connector_mib(settings))


def threads_of_tasks(settings: Settings) -> int:
    """How many tasks run at the same time in a process that runs tasks: in a worker, if its threads are known."""
    of_worker = settings.workers_threads if settings.has_workers else 0
    return of_worker or settings.threads or cores()


def jvm_options_for(settings: Settings, memory: MemoryBudget) -> JvmOptions:
    """The options of the JVM of a processor, or of the executor of a worker, with this budget."""
    return JvmOptions(
        jars=settings.jars_dir,
        heap_mib=settings.heap_mib or memory.heap_mib,
        code_cache_mib=memory.code_cache_mib,
        state_stores_mib=memory_of_tasks(settings, memory).state_stores_mib,
        java_options=tuple(settings.java_options.split()),
        udf_dir=settings.udf_dir,
        state_jars=settings.state_jars,
        class_archive=settings.class_archive,
        log_level=LEVELS[settings.log_level].jvm,
        includes_values=settings.errors_include_values,
    )
