"""`lsql state` for snapshots; tests/unit/state/test_snapshots.py has what they contain."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lsql_runner.cli.lsql import cli
from tests.unit.state.test_snapshots import Processor


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    Processor(tmp_path).run(0)
    return {"SQL_APP_ID": "app", "SQL_STATE_STORE_DIR": str(tmp_path)}


def run(environment: dict[str, str], *arguments: str) -> Result:
    return CliRunner(env=environment).invoke(cli, ["state", *arguments])


def test_snapshots_are_taken_listed_used_and_deleted(environment: dict[str, str]) -> None:
    results = [
        run(environment, *arguments.split())
        for arguments in ("snapshot monday", "list", "restore monday", "clone monday other", "prune --keep 0", "list")
    ]

    assert [result.exit_code for result in results] == [0] * 6
    taken, listed, restored, cloned, pruned, empty = (result.output for result in results)
    assert taken == "The snapshot monday has 1 queries, and 1 records.\n"
    assert listed.startswith("monday  ")
    assert restored.startswith("The next start continues from the snapshot monday of ")
    assert cloned == "The first start of other continues from the snapshot monday.\n"
    assert pruned.startswith("The snapshot monday of ")
    assert empty == ""


def test_the_list_is_printed_as_json(environment: dict[str, str]) -> None:
    run(environment, "snapshot", "monday")
    [snapshot] = json.loads(run(environment, "list", "--json").output)

    assert (snapshot["name"], snapshot["batches"], snapshot["positions"]) == (
        "monday",
        {"stateful-0": 0},
        {"t": {"0": 1}},
    )
