"""The contract of folders for state, on a volume and of the fake."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from devkit.memory_store import MemoryStore
from lsql_runner.state.folder import LocalFolder, StateFolder
from tests.contract.state_folder_contract import StateFolderContract


class TestLocalFolder(StateFolderContract):
    @pytest.fixture
    def folder(self, tmp_path: Path) -> StateFolder:
        return LocalFolder(tmp_path / "root" / "app")


class TestMemoryFolder(StateFolderContract):
    @pytest.fixture
    def folder(self) -> StateFolder:
        return MemoryStore().root() / "app"


def test_the_file_that_was_not_created_is_not_left_under_a_temporary_name(tmp_path: Path) -> None:
    folder = LocalFolder(tmp_path)
    folder.create("file", b"first")

    folder.create("file", b"second")

    assert folder.all_files() == {"file": 5}


def test_without_hard_links_a_file_is_created_if_it_does_not_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("os.link", no_links)
    folder = LocalFolder(tmp_path)

    assert folder.create("file", b"first")
    assert not folder.create("file", b"second")
    assert (folder.read("file"), folder.all_files()) == (b"first", {"file": 5})


def test_a_file_has_the_old_content_until_the_new_one_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = LocalFolder(tmp_path)
    folder.write("file", b"old")

    def fails(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("os.fsync", fails)
    with pytest.raises(OSError, match="Input/output error"):
        folder.write("file", b"new")

    assert folder.read("file") == b"old"


def test_a_file_and_the_folders_that_were_made_for_it_are_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []

    def record(opened: int) -> None:
        synced.append(Path(f"/proc/self/fd/{opened}").readlink())

    monkeypatch.setattr("os.fsync", record)
    LocalFolder(tmp_path).write("1/query/metadata", b"id")

    query = tmp_path / "1/query"
    assert synced == [query.parent, tmp_path, query / ".metadata.new", query]


def test_a_folder_that_cannot_be_deleted_is_reported_after_the_rest_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = LocalFolder(tmp_path / "1")
    for name in "abc":
        folder.write(name, b"x")
    unlink = os.unlink

    def refuse_b(path: str, **options: int) -> None:
        if Path(path).name == "b":
            raise PermissionError(1, "Operation not permitted", path)
        unlink(path, **options)

    monkeypatch.setattr("os.unlink", refuse_b)
    with pytest.raises(PermissionError):
        folder.delete_all()

    assert folder.file_names() == ["b"]
