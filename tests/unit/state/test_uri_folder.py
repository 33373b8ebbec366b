"""The settings of a session whose checkpoints are in a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsql_runner.config.state_store import UriStore
from lsql_runner.state.uri_folder import store_settings

RETRIES = "ipc.client.connect.max.retries.on.timeouts"


@pytest.mark.parametrize(("options", "expected"), [((), "1"), (((RETRIES, "7"),), "7")])
def test_a_name_node_that_does_not_answer_is_not_waited_for_unless_it_is_set(
    options: tuple[tuple[str, str], ...], expected: str
) -> None:
    """Hadoop would try 45 times, for 20 seconds each."""
    found = store_settings(UriStore("hdfs://nameservice/path", options), Path("/scratch"))

    assert found[f"spark.hadoop.{RETRIES}"] == expected
