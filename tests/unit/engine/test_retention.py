"""How many batches a checkpoint keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsql_runner.engine.port import Retention
from lsql_runner.engine.retention import kept_batches, kept_by, kept_entries
from lsql_runner.events.batches import Partition
from lsql_runner.state.folder import LocalFolder
from lsql_runner.state.offset_log import append_committed
from tests.unit.plan.test_fingerprint import planned

COUNT = "INSERT INTO counts SELECT STREAM COUNT(*) AS n FROM t GROUP BY g"


@pytest.mark.parametrize(
    ("pace_ms", "files", "size", "kept"),
    [
        pytest.param(500, 4, 10_000, 300, id="at the pace of queries with state, as many as can be listed"),
        pytest.param(10_000, 4, 10_000, 100, id="a slow pace: not less than Spark keeps"),
        pytest.param(4_000, 4, 10_000, 150, id="ten minutes"),
        pytest.param(0, 4, 0, 300, id="no pace"),
        pytest.param(500, 40, 10_000, 200, id="many files"),
        pytest.param(500, 4, 256 << 10, 256, id="large batches"),
        pytest.param(500, 4, 5 << 20, 100, id="very large batches"),
    ],
)
def test_a_checkpoint_keeps_ten_minutes_within_bounds(pace_ms: int, files: int, size: int, kept: int) -> None:
    assert kept_batches(Retention(), pace_ms, files, size) == kept


@pytest.mark.parametrize(
    ("retention", "kept"),
    [
        pytest.param(Retention(3_600_000, 256 << 20), 7200, id="an hour"),
        pytest.param(Retention(3_600_000, 32 << 20), 2048, id="bytes on the volume, in blocks"),
        pytest.param(Retention(10_000), 100, id="not less than Spark keeps"),
    ],
)
def test_a_chosen_time_is_kept_within_the_chosen_bytes(retention: Retention, kept: int) -> None:
    assert kept_batches(retention, 500, 4, 10_000) == kept


@pytest.mark.parametrize(
    ("retention", "kept"),
    [(Retention(), 600), (Retention(3_600_000), 3600), (Retention(604_800_000), 8192), (Retention(1_000), 1)],
    ids=["ten minutes", "an hour", "the bytes of files in blocks", "one entry"],
)
def test_a_query_without_state_keeps_entries_of_a_second(retention: Retention, kept: int) -> None:
    assert kept_entries(retention, 1000) == kept


def test_the_size_of_a_batch_is_measured_when_the_query_starts(tmp_path: Path) -> None:
    [query] = planned(COUNT).queries

    def kept() -> int:
        return kept_by(query, LocalFolder(tmp_path), Retention(), pace_ms=500, state_partitions=2)

    assert kept() == 100
    for batch in range(120):
        append_committed(LocalFolder(tmp_path), batch, [{Partition("t", 0): batch}], 200)
    assert kept() == 300

    (tmp_path / "state").mkdir()
    with (tmp_path / "state/1.changelog").open("wb") as file:
        file.truncate(120 * 512 << 10)

    assert 120 <= kept() <= 128
