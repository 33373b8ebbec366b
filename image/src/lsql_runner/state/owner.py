"""The process that may write the state, if a Lease chooses it among several. Imports no Spark."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lsql_runner.state.folder import StateFolder


@dataclass(frozen=True, slots=True)
class OwnerFile:
    """A file on a volume, and the line that it has while this process is the owner."""

    file: Path
    text: str

    def is_replaced(self) -> bool:
        """Whether the file has another line. A file that cannot be read tells nothing."""
        try:
            return self.file.read_text(encoding="utf-8") != self.text
        except (OSError, ValueError):
            return False


@dataclass(frozen=True, slots=True)
class OwnerNumber:
    """A folder at a URI with numbered files, and the largest number while this process is the owner."""

    folder: StateFolder
    number: int
    text: str
    """The line of this process in its file."""

    def is_replaced(self) -> bool:
        """Whether the largest number is another one.

        Raises:
            LsqlError: of the store.
        """
        return newest_number(self.folder) != self.number


Owner = OwnerFile | OwnerNumber
"""A process as the owner of the state. The JVM makes the same comparison."""


class OwnerLock(Protocol):
    """The lock on a folder at a URI. Its holder is the owner of the state."""

    def take(self, lease: str, term: int, text: str) -> Owner:
        """Become the owner.

        Args:
            lease: the identity of the Lease that has chosen this process.
            term: the number of its term.
            text: a line that no other owner has.

        Raises:
            LsqlError: STATE_DIR_IN_USE, if a process without the Lease has the lock; an error of the store.
        """

    def owner_text(self) -> str:
        """The line of the current owner; empty if there is none.

        Raises:
            LsqlError: of the store.
        """

    def close(self) -> None:
        """Release the lock, if this process has it."""


def newest_number(folder: StateFolder) -> int:
    """The largest number that is the name of a file; 0 if there is none."""
    return max((int(name) for name in folder.file_names() if name.isdigit()), default=0)
