"""A file of a checkpoint that is created only if it does not exist, on volumes without links and on ones that fail."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lsql_runner.state.folder import LocalFolder

Link = Callable[[Path, Path], None]


def fails(number: int) -> Link:
    def link(_source: Path, _name: Path) -> None:
        raise OSError(number, os.strerror(number))

    return link


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS])
def test_without_hard_links_a_file_is_created_unless_it_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(os, "link", fails(number))

    assert LocalFolder(tmp_path).create("0", b"first")
    assert not LocalFolder(tmp_path).create("0", b"second")
    assert (tmp_path / "0").read_bytes() == b"first"


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.ESTALE, errno.EACCES, errno.EROFS])
def test_another_error_of_a_link_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Looking first and renaming then would let two processes succeed."""
    monkeypatch.setattr(os, "link", fails(number))

    with pytest.raises(OSError, match=os.strerror(number)):
        LocalFolder(tmp_path).create("0", b"first")

    assert list(tmp_path.iterdir()) == []


def test_a_link_that_a_server_has_created_before_it_refuses_it_succeeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server of NFS gets a request twice if its first answer is lost."""
    create = os.link

    def twice(source: Path, name: Path) -> None:
        create(source, name)
        create(source, name)

    monkeypatch.setattr(os, "link", twice)

    assert LocalFolder(tmp_path).create("0", b"first")
    assert [path.name for path in tmp_path.iterdir()] == ["0"]
