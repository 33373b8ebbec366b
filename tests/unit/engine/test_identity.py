"""Names of INSERTs for the identities of their records; tests/streams compute the identities."""

from lsql_runner.engine.identity import insert_names


def test_inserts_are_named_after_their_targets() -> None:
    assert insert_names(["a", "b"]) == ["a#0", "b#0"]


def test_inserts_with_the_same_target_are_numbered() -> None:
    assert insert_names(["a", "b", "a", "a", "b"]) == ["a#0", "b#0", "a#1", "a#2", "b#1"]


def test_an_insert_keeps_its_name_when_one_with_another_target_is_added_before_it() -> None:
    assert insert_names(["new", "a", "a"])[1:] == insert_names(["a", "a"])
