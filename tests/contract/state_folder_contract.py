"""What the runner expects of a folder for state, on a volume and elsewhere: subclasses say where."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from lsql_runner.state.folder import StateFolder

CREATORS = 8


class StateFolderContract:
    @pytest.fixture
    def folder(self) -> StateFolder:
        """A folder that does not exist."""
        raise NotImplementedError

    def test_a_folder_that_does_not_exist_is_empty(self, folder: StateFolder) -> None:
        folder.delete("file")
        folder.delete_all()

        assert folder.read("file") is None
        assert (folder.file_names(), folder.folder_names(), folder.all_files()) == ([], [], {})

    def test_a_written_file_is_read_back(self, folder: StateFolder) -> None:
        content = bytes(range(256))

        folder.write("file", content)

        assert folder.read("file") == content

    def test_a_folder_knows_those_beside_it(self, folder: StateFolder) -> None:
        (folder / "a").write("file", b"a")
        (folder / "b").write("file", b"b")

        assert (folder / "a").sibling("b").read("file") == b"b"

    def test_a_file_is_replaced(self, folder: StateFolder) -> None:
        folder.write("file", b"a longer content")

        folder.write("file", b"content")

        assert folder.read("file") == b"content"
        assert folder.all_files() == {"file": 7}, "no temporary file is left"

    def test_a_file_is_created_once(self, folder: StateFolder) -> None:
        assert folder.create("file", b"first")
        assert not folder.create("file", b"second")

        assert folder.read("file") == b"first"

    def test_of_several_creators_of_a_file_one_succeeds(self, folder: StateFolder) -> None:
        with ThreadPoolExecutor(CREATORS) as pool:
            created = list(pool.map(lambda number: folder.create("file", b"%d" % number), range(CREATORS)))

        assert created.count(True) == 1
        assert folder.read("file") == b"%d" % created.index(True)

    def test_a_deleted_file_does_not_exist(self, folder: StateFolder) -> None:
        folder.write("file", b"")

        folder.delete("file")

        assert folder.read("file") is None
        assert folder.file_names() == []

    def test_a_folder_has_files_and_folders_with_a_path(self, folder: StateFolder) -> None:
        (folder / "1" / "query").write("metadata", b"id")
        folder.write("1/query/offsets/12", b"v1\n")
        folder.write("program.json", b"{}")

        query = folder / "1/query"
        assert folder.file_names() == ["program.json"]
        assert folder.folder_names() == ["1"]
        assert (query.name, str(query)) == ("query", f"{folder}/1/query")
        assert (query.file_names(), query.folder_names()) == (["metadata"], ["offsets"])
        assert query.read("offsets/12") == b"v1\n"
        assert folder.all_files() == {"1/query/metadata": 2, "1/query/offsets/12": 3, "program.json": 2}

    def test_names_may_begin_with_a_dot_or_an_underscore(self, folder: StateFolder) -> None:
        names = [".0.1f-2e.tmp", "1_a-b.changelog", "_metadata"]
        for name in names:
            folder.write(f"offsets/{name}", b"x")

        assert sorted((folder / "offsets").file_names()) == names
        assert sorted(folder.all_files()) == [f"offsets/{name}" for name in names]

    def test_everything_in_a_folder_is_deleted_and_nothing_beside_it(self, folder: StateFolder) -> None:
        for path in ("1/query/metadata", "1/query/offsets/0", "10/query/metadata"):
            folder.write(path, b"x")

        (folder / "1").delete_all()

        assert folder.all_files() == {"10/query/metadata": 1}
        assert folder.folder_names() == ["10"]

    def test_files_that_are_shared_stay_when_their_folder_is_deleted(self, folder: StateFolder) -> None:
        folder.write("1/offsets/0", b"a")
        folder.write("1/offsets/1", b"b")

        (folder / "1").share_with(folder / "snapshots/s", ["offsets/0", "offsets/2"])
        (folder / "1").delete_all()

        assert folder.all_files() == {"snapshots/s/offsets/0": 1}
        assert folder.read("snapshots/s/offsets/0") == b"a"

    def test_a_copy_has_the_same_files(self, folder: StateFolder) -> None:
        folder.write("1/query/metadata", b"id")
        folder.write("1/query/state/0/0/1.changelog", b"changes")

        (folder / "1").copy_to(folder / "2")
        folder.sync_all()

        assert (folder / "2").all_files() == (folder / "1").all_files()
        assert (folder / "2").read("query/state/0/0/1.changelog") == b"changes"
