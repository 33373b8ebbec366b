"""The settings of the session."""

from pathlib import Path

import pytest

from lsql_runner.engine.session import CONTINUOUS_TASKS, SessionOptions, session_settings


@pytest.mark.parametrize(("threads", "dispatchers"), [(1, "2"), (2, "2"), (8, "8")])
def test_task_slots_of_continuous_queries_need_no_threads_that_dispatch_messages(
    threads: int, dispatchers: str
) -> None:
    settings = session_settings(SessionOptions(app_id="a", scratch=Path("/tmp/a"), threads=threads))

    assert settings["spark.master"] == f"local[{threads + CONTINUOUS_TASKS}]"
    assert settings["spark.rpc.netty.dispatcher.numThreads"] == dispatchers


@pytest.mark.parametrize("small_batches", [False, True])
def test_small_steps_are_interpreted_only_where_all_batches_are_small(small_batches: bool) -> None:
    settings = session_settings(SessionOptions(app_id="a", scratch=Path("/tmp/a"), small_batches=small_batches))

    assert settings.get("spark.sql.codegen.factoryMode") == ("NO_CODEGEN" if small_batches else None)
