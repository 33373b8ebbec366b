"""The folders with the state of a processor: the operations of the runner, and folders on a volume.

Spark reads and writes files in the same folders, by their location.
"""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self


class StateFolder(Protocol):
    """A folder, which may not exist. The first file that is written creates it.

    `str` is its location, as Spark and people write it. The path of a file begins in this folder. All methods raise
    OSError if the volume fails.
    """

    @property
    def name(self) -> str:
        """The last part of the location."""

    def __truediv__(self, path: str) -> Self:
        """A folder in this one. `path` may have several parts."""

    def sibling(self, name: str) -> Self:
        """The folder with a name beside this one."""

    def read(self, path: str) -> bytes | None:
        """The content of a file; None if there is no such file."""

    def write(self, path: str, content: bytes) -> None:
        """Write a file atomically: after a crash it has the old or the new content, and after the call the new one."""

    def create(self, path: str, content: bytes) -> bool:
        """Write a file that does not exist, as `write`; whether it did not. Of several processes, one succeeds.

        On a volume without hard links, two may succeed.
        """

    def delete(self, path: str) -> None:
        """Delete a file, which may not exist."""

    def file_names(self) -> list[str]:
        """The names of the files in the folder, but not in its folders."""

    def folder_names(self) -> list[str]:
        """The names of the folders in the folder."""

    def all_files(self) -> dict[str, int]:
        """All files in the folder and in folders in it: by path from here, the size in bytes."""

    def delete_all(self) -> None:
        """Delete the folder with everything in it. If something cannot be deleted, the rest is, before the error."""

    def share_with(self, target: Self, paths: Iterable[str]) -> None:
        """Let a folder have files of this one, which nobody changes: by hard links, or as copies.

        Files that do not exist are left out: a process that runs may have deleted them.
        """

    def copy_to(self, target: Self) -> None:
        """Copy the folder, whose files nobody changes, to a folder that does not exist.

        The files need not be on the disk afterwards: see `sync_all`.
        """

    def sync_all(self) -> None:
        """Wait until all files that were copied are on the disk."""


_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS)
"""The errors of link(2) on a file system without hard links. Other ones say nothing about links."""


@dataclass(frozen=True, slots=True)
class LocalFolder:
    """A folder on a volume that is mounted. See StateFolder for the methods."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    def __str__(self) -> str:
        return str(self.path)

    def __truediv__(self, path: str) -> LocalFolder:
        return LocalFolder(self.path / path)

    def sibling(self, name: str) -> LocalFolder:
        return LocalFolder(self.path.with_name(name))

    def read(self, path: str) -> bytes | None:
        try:
            return (self.path / path).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, path: str, content: bytes) -> None:
        file = self.path / path
        fresh = file.with_name(f".{file.name}.new")
        _write_durably(fresh, content)
        fresh.replace(file)
        _sync_folder(file.parent)

    def create(self, path: str, content: bytes) -> bool:
        file = self.path / path
        fresh = file.with_name(f".{file.name}.{uuid.uuid4().hex}")  # two processes may write the same file
        _write_durably(fresh, content)
        try:
            os.link(fresh, file)
        except FileExistsError:
            if not fresh.samefile(file):  # else a server got the request twice, and its first answer was lost
                return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if file.exists():
                return False
            fresh.replace(file)
        finally:
            fresh.unlink(missing_ok=True)
        _sync_folder(file.parent)
        return True

    def delete(self, path: str) -> None:
        (self.path / path).unlink(missing_ok=True)

    def file_names(self) -> list[str]:
        return [entry.name for entry in self._entries() if entry.is_file()]

    def folder_names(self) -> list[str]:
        return [entry.name for entry in self._entries() if entry.is_dir()]

    def _entries(self) -> list[os.DirEntry[str]]:
        try:
            return list(os.scandir(self.path))
        except FileNotFoundError:
            return []

    def all_files(self) -> dict[str, int]:
        sizes = {}
        for file in (Path(folder, name) for folder, _, names in os.walk(self.path) for name in names):
            with suppress(FileNotFoundError):  # a process that runs has deleted it meanwhile
                sizes[str(file.relative_to(self.path))] = file.stat().st_size
        return sizes

    def delete_all(self) -> None:
        if self.path.exists():
            shutil.rmtree(self.path, ignore_errors=True)
            if self.path.exists():
                shutil.rmtree(self.path)  # raises the error

    def copy_to(self, target: LocalFolder) -> None:
        try:
            shutil.copytree(self.path, target.path)
        except shutil.Error as error:  # a list with an entry for each file: on a full volume, thousands
            _, _, first = error.args[0][0]
            raise OSError(first) from None

    def share_with(self, target: LocalFolder, paths: Iterable[str]) -> None:
        folders: set[Path] = set()
        for path in paths:
            file = target.path / path
            if file.parent not in folders:
                file.parent.mkdir(parents=True, exist_ok=True)
                folders.add(file.parent)
            with suppress(FileNotFoundError):
                try:
                    os.link(self.path / path, file)
                except OSError as error:
                    if error.errno not in _NO_LINKS:
                        raise
                    shutil.copy2(self.path / path, file)

    def sync_all(self) -> None:
        os.sync()  # a copy has too many files to sync each


def _write_durably(file: Path, content: bytes) -> None:
    _make(file.parent)
    with file.open("wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())


def _make(folder: Path) -> None:
    """Create a folder, so that it exists after a crash."""
    missing = [parent for parent in (folder, *folder.parents) if not parent.is_dir()]
    folder.mkdir(parents=True, exist_ok=True)
    for made in missing:
        _sync_folder(made.parent)


def _sync_folder(folder: Path) -> None:
    """Make the names of a folder's files durable."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
