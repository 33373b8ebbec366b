"""The buffers of Kafka's clients have the sizes of the process that runs the tasks."""

from devkit.fake_runtime import FakeRuntime
from lsql_runner.container.budget import worker_budget

WORKERS = {"LSQL_WORKERS_SECRET": "0123456789abcdef", "LSQL_WORKERS_HOST": "processor", "LSQL_THREADS": "1"}


def fetch_bytes(runtime: FakeRuntime, **env: str) -> int:
    with runtime.process(**env) as running:
        running.turn()
    return runtime.engine.jobs[-1].source.fetch_bytes


def test_buffers_have_the_size_of_the_smallest_worker(runtime: FakeRuntime) -> None:
    own, small = fetch_bytes(runtime, **WORKERS), fetch_bytes(runtime, **WORKERS, LSQL_WORKERS_MEMORY="768Mi")

    assert small == (worker_budget(768).heap_mib << 20) // 8
    assert small < own


def test_the_tasks_of_a_worker_share_its_heap(runtime: FakeRuntime) -> None:
    fetched = fetch_bytes(runtime, **WORKERS, LSQL_WORKERS_MEMORY="768Mi", LSQL_WORKERS_THREADS="4")

    assert fetched == (worker_budget(768).heap_mib << 20) // 8 // 4


def test_threads_of_workers_change_nothing_without_workers(runtime: FakeRuntime) -> None:
    assert fetch_bytes(runtime, LSQL_THREADS="1", LSQL_WORKERS_THREADS="4") == fetch_bytes(runtime, LSQL_THREADS="1")
