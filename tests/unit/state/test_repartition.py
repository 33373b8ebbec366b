"""`lsql state repartition` with a fake of Spark's operation: what it refuses, and what a failure or a kill leaves."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Catalog, Serde, TopicSchema
from lsql_runner.offline import repartition
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.fingerprint import fingerprint
from lsql_runner.plan.repartitioning import fixed_operator
from lsql_runner.state.directory import StateDir
from lsql_runner.state.folder import LocalFolder, StateFolder
from lsql_runner.state.repartition import Repartitioned, repartition_state
from lsql_runner.state.saved_state import Pinned, SavedState, saved_state
from lsql_runner.types import LONG, STRING, Field, Struct

VALUE = Serde(JSON_FORMAT, Struct((Field("g", STRING), Field("a", LONG))))
CATALOG = Catalog({name: TopicSchema(name, Serde(STRING_FORMAT, STRING), VALUE) for name in "tu"})
COUNT = "INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t GROUP BY g"
COUNTED_PAIRS = """INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t INNER JOIN u ON t.g = u.g WITHIN 1m
WINDOW BY TUMBLE 1m GROUP BY t.g"""
TABLE_JOIN = "INSERT INTO o SELECT TABLE t.a AS a, u.a AS b FROM t JOIN u"
OLD, NEW = "1/stateful-0/state/0/0/5.changelog", "2/stateful-0/state/0/0/5.changelog"


class Killed(BaseException):
    """Ends the command where it is, as a signal does."""


def pinned(sql: str) -> Pinned:
    described = fingerprint(plan_text(f"SET autocreate=true; {sql}", CATALOG).plan)
    return Pinned(sql=sql, fingerprint=described, schemas={}, generation=1, state_partitions=2, versions={"v": "1"})


def state_of(root: Path, sql: str = COUNT, offsets: int = 3, commits: int = 3) -> Path:
    """The directory of a processor whose query has planned and ended these numbers of batches."""
    with closing(StateDir(root, "app")) as state:
        state.begin_checkpoint(1, "stateful-0")
        for folder, number in (("offsets", offsets), ("commits", commits)):
            (state.path / "1/stateful-0" / folder).mkdir()
            for batch in range(number):
                (state.path / "1/stateful-0" / folder / str(batch)).touch()
        (state.path / OLD).parent.mkdir(parents=True)
        (state.path / OLD).write_text("changes")
        state.pin(pinned(sql))
        return state.path


def run(root: Path, partitions: int = 4, fails: BaseException | None = None) -> tuple[Repartitioned, list[Path]]:
    """The result, and the checkpoints that were divided."""
    divided: list[Path] = []

    def divide(checkpoints: Sequence[StateFolder], number: int) -> None:
        assert number == partitions
        divided.extend(Path(str(checkpoint)) for checkpoint in checkpoints)
        for checkpoint in checkpoints:
            checkpoint.write("state/0/0/5.changelog", b"divided")
        if fails is not None:
            raise fails

    with closing(StateDir(root, "app", wait_s=0)) as state:
        return repartition_state(state, partitions, divide), divided


def refusal(root: Path, partitions: int = 4) -> LsqlError:
    with pytest.raises(LsqlError) as caught:
        run(root, partitions)
    return caught.value


def content(path: Path) -> tuple[SavedState, dict[str, str]]:
    """What a start finds in the directory of a processor."""
    files = {str(file.relative_to(path)): file.read_text() for file in path.rglob("*") if file.is_file()}
    return saved_state(LocalFolder(path)), {name: text for name, text in files.items() if name != "lock"}


def test_the_next_generation_has_the_divided_state_and_the_new_number(tmp_path: Path) -> None:
    path = state_of(tmp_path)

    result, divided = run(tmp_path)

    assert result == Repartitioned(2, 4, 2)
    assert divided == [path / "2/stateful-0"]
    saved = saved_state(LocalFolder(path))
    assert saved.pinned == replace(pinned(COUNT), generation=2, state_partitions=4)
    assert saved.generations == {2}
    assert (path / NEW).read_text() == "divided"


def test_state_that_was_replaced_is_not_kept(tmp_path: Path) -> None:
    path = state_of(tmp_path)
    with closing(StateDir(tmp_path, "app")) as state:
        state.pin(replace(pinned(COUNT), kept=pinned(COUNT).fingerprint))

    run(tmp_path)

    assert saved_state(LocalFolder(path)).pinned == replace(pinned(COUNT), generation=2, state_partitions=4)


def test_state_with_this_number_already_is_left_alone(tmp_path: Path) -> None:
    before = content(state_of(tmp_path))

    assert run(tmp_path, partitions=2) == (Repartitioned(2, 2, 1), [])
    assert content(tmp_path / "app") == before


@pytest.mark.parametrize(
    "failure", [Killed(), LsqlError("REPARTITION_FAILED", query="stateful-0", reason="r"), OSError(28, "full")]
)
def test_after_a_failure_the_state_is_that_of_before(tmp_path: Path, failure: BaseException) -> None:
    before = content(state_of(tmp_path))

    with suppress(Killed, LsqlError):
        run(tmp_path, fails=failure)

    assert content(tmp_path / "app") == before


def test_a_full_volume_is_reported_with_the_first_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = content(state_of(tmp_path))

    def full(source: str, target: str, **_: object) -> None:
        raise OSError(28, "No space left on device", target)

    monkeypatch.setattr(shutil.copytree, "__defaults__", (False, None, full, False, False))
    error = refusal(tmp_path)

    assert error.code == "STATE_DIR_UNWRITABLE"
    assert str(error.params["reason"]).count("No space left on device") == 1
    assert content(tmp_path / "app") == before


def test_what_a_kill_has_left_is_replaced(tmp_path: Path) -> None:
    path = state_of(tmp_path)
    (path / "2/stateful-0/state/0/3").mkdir(parents=True)
    (path / "2/stateful-0/state/0/3/5.changelog").write_text("left by a kill")

    run(tmp_path)

    assert not (path / "2/stateful-0/state/0/3").exists()
    assert (path / NEW).read_text() == "divided"


def test_a_kill_after_the_new_number_is_saved_leaves_the_new_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = state_of(tmp_path)

    def killed(*_: object) -> None:
        raise Killed

    monkeypatch.setattr(StateDir, "drop_others", killed)
    with pytest.raises(Killed):
        run(tmp_path)

    saved = saved_state(LocalFolder(path))
    assert saved.pinned is not None
    assert (saved.pinned.generation, saved.pinned.state_partitions) == (2, 4)
    assert (path / NEW).read_text() == "divided"


def test_absolute_paths_in_the_metadata_of_operators_follow_the_copy(tmp_path: Path) -> None:
    path = state_of(tmp_path)
    metadata = path / "1/stateful-0/state/0/_metadata/v2"
    metadata.mkdir(parents=True)
    (metadata / "0").write_text(f"v2\n{path}/1/stateful-0/state/0/_stateSchema")
    (metadata / ".0.crc").touch()

    run(tmp_path)

    copied = path / "2/stateful-0/state/0/_metadata/v2"
    assert (copied / "0").read_text() == f"v2\n{path}/2/stateful-0/state/0/_stateSchema"
    assert not (copied / ".0.crc").exists()


def test_a_batch_that_has_not_ended_is_refused(tmp_path: Path) -> None:
    before = content(state_of(tmp_path, offsets=4))

    error = refusal(tmp_path)

    assert (error.code, error.params) == ("BATCH_UNFINISHED", {"query": "stateful-0", "was": 2})
    assert content(tmp_path / "app") == before


def test_a_query_that_has_planned_no_batch_has_no_state_to_divide(tmp_path: Path) -> None:
    state_of(tmp_path, offsets=0, commits=0)

    result, divided = run(tmp_path)

    assert (result.now, divided) == (4, [])


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("INSERT INTO o SELECT STREAM t.a AS a FROM t FULL JOIN u ON t.g = u.g WITHIN 1m", None),
        (COUNTED_PAIRS, "STREAM_JOIN"),
        (f"{TABLE_JOIN} ON t.g = u._key", "TABLE_JOIN"),
        (TABLE_JOIN, None),
        (TABLE_JOIN.replace("JOIN", "FULL JOIN"), None),
        (COUNT, None),
    ],
)
def test_operators_that_spark_cannot_divide_are_known_by_name(sql: str, code: str | None) -> None:
    [query] = pinned(sql).fingerprint.stateful

    operator = fixed_operator(query)

    assert (None if operator is None else operator.code) == code


def test_a_program_with_such_an_operator_is_refused_with_its_target(tmp_path: Path) -> None:
    state_of(tmp_path, COUNTED_PAIRS)

    error = refusal(tmp_path)

    assert error.code == "PARTITIONS_FIXED"
    assert (error.params["target"], error.params["was"], error.params["now"]) == ("o", 2, 4)


def test_a_directory_without_state_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LsqlError, match="STATE_MISSING"):
        repartition({"SQL_APP_ID": "app", "SQL_STATE_STORE_DIR": str(tmp_path)}, 4)


def test_a_running_processor_is_refused(tmp_path: Path) -> None:
    state_of(tmp_path)
    with closing(StateDir(tmp_path, "app")), pytest.raises(LsqlError, match="STATE_DIR_IN_USE"):
        repartition({"SQL_APP_ID": "app", "SQL_STATE_STORE_DIR": str(tmp_path)}, 4)
