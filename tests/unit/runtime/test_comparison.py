"""The comparison of the state of two queries, whose batches end at different times."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from lsql_runner.engine.port import StoredRows, StoreRead
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.runtime import comparison
from lsql_runner.runtime.comparison import DifferentGroup, compare

P0 = Partition("t", 0)


class Stores:
    """Two stores with pages of two rows. `green` is behind, a record less with each read of a key."""

    def __init__(self, blue: Mapping[str, object], green: Mapping[str, object], behind: int = 0) -> None:
        self._rows = {"blue": blue, "green": green}
        self._behind = behind

    def read(self, read: StoreRead) -> StoredRows:
        found = [{"key": key, "window": None, "value": value} for key, value in self._rows[read.store].items()]
        begin = int(read.cursor or 0)
        if read.key is not None:
            found = [row for row in found if row["key"] == read.key]
            self._behind -= read.store == "green"
        end = begin + 2
        position = 9 - max(0, self._behind) if read.store == "green" else 9
        return StoredRows(
            rows=json.dumps(found[begin:end]),
            cursor=str(end) if end < len(found) else None,
            batch=1,
            positions={P0: position},
            watermark_ms=None,
            planned_ms=0,
        )


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "_PAUSE_S", 0)


def test_groups_are_compared_in_the_fields_of_both() -> None:
    blue = {"a": {"n": 1}, "b": {"n": 2}, "c": {"n": 3}}
    green = {"a": {"n": 1, "s": 5}, "b": {"n": 9, "s": 5}, "d": {"n": 4, "s": 5}}

    found = compare("blue", "green", Stores(blue, green).read)

    assert (found.equal, found.different, found.unclear) == (1, 3, 0)
    assert found.differences == (
        DifferentGroup(key="b", window=None, blue={"n": 2}, green={"n": 9}),
        DifferentGroup(key="c", window=None, blue={"n": 3}, green=None),
        DifferentGroup(key="d", window=None, blue=None, green={"n": 4, "s": 5}),
    )


def test_a_group_that_differs_is_read_again_after_the_same_records() -> None:
    found = compare("blue", "green", Stores({"a": {"n": 1}}, {"a": {"n": 2}}, behind=3).read)

    assert (found.different, found.unclear) == (1, 0)


def test_a_group_without_states_after_the_same_records_is_unclear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "_DEADLINE_S", 0)
    found = compare("blue", "green", Stores({"a": {"n": 1}}, {"a": {"n": 2}}, behind=1_000).read)

    assert (found.different, found.unclear) == (0, 1)


def test_state_that_is_not_loaded_cannot_be_compared() -> None:
    with pytest.raises(LsqlError) as refused:
        compare("blue", "green", lambda _: None)

    assert refused.value.code == "STORE_NOT_LOADED"
