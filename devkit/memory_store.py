"""A store in memory with folders for the state of processors, for tests of what the runtime does with a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from threading import Lock

from lsql_runner.errors import LsqlError


@dataclass(slots=True)
class MemoryStore:
    """The files of a store by path.

    Attributes:
        fails: called before each request with its name, such as `write`; it may raise an error.
        is_exclusive: whether the store refuses to create a file that exists.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    fails: Callable[[str], None] = lambda _: None
    is_exclusive: bool = True
    lock: Lock = field(default_factory=Lock)

    def root(self) -> MemoryFolder:
        return MemoryFolder(self, "store://bucket")


@dataclass(frozen=True, slots=True)
class MemoryFolder:
    """A folder in a store. See StateFolder for the methods."""

    store: MemoryStore
    location: str

    @property
    def name(self) -> str:
        return self.location.rpartition("/")[2]

    def __str__(self) -> str:
        return self.location

    def __truediv__(self, path: str) -> MemoryFolder:
        return MemoryFolder(self.store, f"{self}/{path}")

    def sibling(self, name: str) -> MemoryFolder:
        return MemoryFolder(self.store, f"{self.location.rpartition('/')[0]}/{name}")

    def read(self, path: str) -> bytes | None:
        self.store.fails("read")
        return self.store.files.get(f"{self}/{path}")

    def write(self, path: str, content: bytes) -> None:
        self.store.fails("write")
        self.store.files[f"{self}/{path}"] = content

    def create(self, path: str, content: bytes) -> bool:
        self.store.fails("create")
        with self.store.lock:
            if self.store.is_exclusive and f"{self}/{path}" in self.store.files:
                return False
            self.store.files[f"{self}/{path}"] = content
            return True

    def delete(self, path: str) -> None:
        self.store.fails("delete")
        self.store.files.pop(f"{self}/{path}", None)

    def file_names(self) -> list[str]:
        return [path for path in self.all_files() if "/" not in path]

    def folder_names(self) -> list[str]:
        return sorted({path.partition("/")[0] for path in self.all_files() if "/" in path})

    def all_files(self) -> dict[str, int]:
        self.store.fails("list")
        prefix = f"{self}/"
        return {p.removeprefix(prefix): len(c) for p, c in list(self.store.files.items()) if p.startswith(prefix)}

    def delete_all(self) -> None:
        for path in self.all_files():
            self.delete(path)

    def copy_to(self, target: MemoryFolder) -> None:
        self.share_with(target, self.all_files())

    def share_with(self, target: MemoryFolder, paths: Iterable[str]) -> None:
        for path in paths:
            content = self.read(path)
            if content is not None:
                target.write(path, content)

    def sync_all(self) -> None:
        pass


def unreachable(_: str) -> None:
    """Of a store that does not answer."""
    raise LsqlError("STATE_STORE_UNREACHABLE", uri="store://bucket", reason="Connection refused")
