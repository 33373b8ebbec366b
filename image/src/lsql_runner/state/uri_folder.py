"""Folders with the state of a processor at a URI. The JVM reads and writes the files, as Spark does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from lsql_runner.config.state_store import UriStore
from lsql_runner.jvm.call import java_class
from lsql_runner.jvm.failures import classify, store_error
from lsql_runner.jvm.java_entries import CONDITIONAL_FILE_MANAGER, CONNECTOR_FILE_SYSTEM, STATE_FILES

_S3A = {
    # A store that does not answer is reported within seconds. Spark and the runner try again.
    "fs.s3a.attempts.maximum": "2",
    "fs.s3a.retry.limit": "3",
    "fs.s3a.retry.interval": "200ms",
    "fs.s3a.connection.establish.timeout": "5s",
    "fs.s3a.connection.timeout": "20s",
    # The store is used by some threads, and small files need no buffers on the disk.
    "fs.s3a.connection.maximum": "32",
    "fs.s3a.threads.max": "8",
    "fs.s3a.threads.keepalivetime": "10s",
    "fs.s3a.audit.enabled": "false",  # it adds the name of the operation to each request
    "fs.s3a.bucket.probe": "0",  # the first request finds out
    "fs.s3a.change.detection.mode": "none",  # no file is changed while it is read
    "fs.s3a.experimental.input.fadvise": "sequential",
    "fs.s3a.input.stream.type": "classic",  # the default one reads ahead, and needs another library
}


def store_settings(store: UriStore, scratch: Path) -> dict[str, str]:
    """The settings of a session whose checkpoints are in a store.

    Args:
        store: of the state.
        scratch: the directory for temporary files.
    """
    hadoop = {"hadoop.tmp.dir": str(scratch / "hadoop")}
    if store.scheme != "file":
        hadoop |= {"fs.file.impl": CONNECTOR_FILE_SYSTEM}
    if store.scheme == "s3a":
        hadoop |= {"spark.sql.streaming.checkpointFileManagerClass": CONDITIONAL_FILE_MANAGER, **_S3A}
    return {f"spark.hadoop.{name}": value for name, value in (hadoop | dict(store.options)).items()}


@dataclass(frozen=True, slots=True)
class UriFolder:
    """A folder at a URI, in the JVM whose session is open. See StateFolder for the methods.

    All methods raise LsqlError: STATE_STORE_UNREACHABLE, STATE_STORE_REFUSED, STATE_STORE_WITHOUT_CONNECTOR,
    STATE_STORE_FAILED.
    """

    location: str

    @property
    def name(self) -> str:
        return self.location.rpartition("/")[2]

    def __str__(self) -> str:
        return self.location

    def __truediv__(self, path: str) -> UriFolder:
        return UriFolder(f"{self.location}/{path}")

    def sibling(self, name: str) -> UriFolder:
        return UriFolder(f"{self.location.rpartition('/')[0]}/{name}")

    def read(self, path: str) -> bytes | None:
        with self._errors():
            content = java_class(STATE_FILES).read(f"{self}/{path}")
        return None if content is None else bytes(content)

    def write(self, path: str, content: bytes) -> None:
        with self._errors():
            java_class(STATE_FILES).write(f"{self}/{path}", content)

    def create(self, path: str, content: bytes) -> bool:
        with self._errors():
            return bool(java_class(STATE_FILES).create(f"{self}/{path}", content))

    def delete(self, path: str) -> None:
        with self._errors():
            java_class(STATE_FILES).delete(f"{self}/{path}")

    def file_names(self) -> list[str]:
        return self._names()[0]

    def folder_names(self) -> list[str]:
        return self._names()[1]

    def _names(self) -> list[list[str]]:
        with self._errors():
            names: list[list[str]] = json.loads(java_class(STATE_FILES).list(str(self)))
        return names

    def all_files(self) -> dict[str, int]:
        with self._errors():
            sizes: Mapping[str, int] = json.loads(java_class(STATE_FILES).listAll(str(self)))
        return dict(sizes)

    def delete_all(self) -> None:
        with self._errors():
            java_class(STATE_FILES).delete(str(self))

    def share_with(self, target: UriFolder, paths: Iterable[str]) -> None:
        with self._errors():
            java_class(STATE_FILES).copyFiles(str(self), str(target), list(paths))

    def copy_to(self, target: UriFolder) -> None:
        with self._errors():
            java_class(STATE_FILES).copy(str(self), str(target))

    def sync_all(self) -> None:
        pass  # a file is in the store when it is closed

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except Py4JError as error:
            raise store_error(classify(error), str(self)) from None
