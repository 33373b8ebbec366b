"""The settings of the session."""

from dataclasses import replace
from pathlib import Path

import pytest

from lsql_runner.engine.session import CONTINUOUS_TASKS, SessionOptions, session_settings
from lsql_runner.jvm.workers import Workers, driver_settings


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


WORKERS = Workers(host="processor.example.com", port=7077, secret="0123456789abcdef")
IN_BOTH = {"spark.master", "spark.authenticate", "spark.driver.host", "spark.driver.bindAddress"}
"""Settings that a session has with and without workers."""


def test_a_session_without_workers_has_no_setting_of_a_cluster() -> None:
    settings = session_settings(SessionOptions(app_id="a", scratch=Path("/tmp/a"), threads=2))

    assert settings["spark.master"].startswith("local[")
    assert (settings["spark.driver.host"], settings["spark.driver.bindAddress"]) == ("127.0.0.1", "127.0.0.1")
    assert settings.keys() & driver_settings(WORKERS).keys() == IN_BOTH


def test_a_session_with_workers_differs_only_in_the_settings_of_the_cluster() -> None:
    options = SessionOptions(app_id="a", scratch=Path("/tmp/a"), threads=2)
    without = session_settings(options)
    del without["spark.default.parallelism"]

    assert session_settings(replace(options, workers=WORKERS)) == without | driver_settings(WORKERS)
