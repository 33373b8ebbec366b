"""The memory that a program needs, from its plan and its settings."""

from __future__ import annotations

from lsql_runner.config.settings import Settings
from lsql_runner.container.budget import SECOND_JVM_MIB, needed_limit_mib
from lsql_runner.container.limits import cores
from lsql_runner.kafka.client_choice import java_only_setting
from lsql_runner.plan.queries import Plan


def second_jvm_mib(settings: Settings) -> int:
    """The memory of the JVM with Kafka's Java client; 0 if librdkafka supports all settings."""
    if not settings.bootstrap_servers or java_only_setting(settings.connection) is None:
        return 0
    return SECOND_JVM_MIB


def needed_mib(plan: Plan, settings: Settings) -> int:
    """The smallest memory limit in MiB of a container that runs the plan.

    It is enough for the state in RocksDB, which is on disk, but not for one very large group: COLLECT of a million
    records, or a session with all records of a day, is in the heap as a whole.
    """
    threads = settings.threads or cores()
    stores = sum(len(query.stores) for query in plan.queries) * threads
    return needed_limit_mib(len(plan.queries), stores, second_jvm_mib(settings), settings.heap_mib)
