"""The processor's directory: `<state dir>/<app id>/`.

    lock              held while a process runs the processor
    program.json      the program, its plan's fingerprint, the schemas, the versions, the generation
    control.json      whether a person has stopped it
    <generation>/     one checkpoint for each query

A generation ends when its state cannot be gone on with; the next starts empty.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import TopicSchema
from lsql_runner.formats.declared import as_declaration, declared_topics
from lsql_runner.plan.fingerprint import Fingerprint


@dataclass(frozen=True, slots=True)
class Pinned:
    """What the last start left beside the checkpoint."""

    sql: str
    fingerprint: Fingerprint
    schemas: dict[str, TopicSchema]
    generation: int
    versions: dict[str, str]


class StateDir:
    """One processor's directory, locked for this process.

    Raises:
        LsqlError: STATE_DIR_UNWRITABLE, STATE_DIR_IN_USE.
    """

    def __init__(self, root: Path, app_id: str) -> None:
        self.path = root.expanduser().absolute() / app_id
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            _probe(self.path)
        except OSError as error:
            raise LsqlError("STATE_DIR_UNWRITABLE", path=str(self.path), reason=error.strerror or str(error)) from None
        try:
            fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(self._lock, 20).decode(errors="replace").strip() or "unknown"
            os.close(self._lock)
            raise LsqlError("STATE_DIR_IN_USE", path=str(self.path), pid=holder) from None
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, str(os.getpid()).encode(), 0)

    def close(self) -> None:
        """Give the lock back."""
        os.close(self._lock)

    # --- the program ---

    def pinned(self) -> Pinned | None:
        """What is pinned; None in a new directory.

        Raises:
            LsqlError: STATE_UNREADABLE.
        """
        document = self._read("program.json")
        if document is None:
            return None
        try:
            return Pinned(
                document["sql"],
                Fingerprint.from_json(document["fingerprint"]),
                declared_topics(document["schemas"]),
                int(document["generation"]),
                dict(document["versions"]),
            )
        except (KeyError, ValueError, TypeError, AttributeError):
            raise LsqlError("STATE_UNREADABLE", path=str(self.path / "program.json")) from None

    def pin(self, pinned: Pinned) -> None:
        """Write down what this start goes by."""
        self._write(
            "program.json",
            {
                "sql": pinned.sql,
                "fingerprint": pinned.fingerprint.as_json(),
                "schemas": as_declaration(pinned.schemas),
                "generation": pinned.generation,
                "versions": pinned.versions,
            },
        )

    # --- checkpoints ---

    def checkpoints(self, generation: int) -> Path:
        """Where a generation's queries keep their checkpoints."""
        return self.path / str(generation)

    def has_checkpoint(self, generation: int, query: str) -> bool:
        """Whether a batch of the query was ever planned there."""
        offsets = self.checkpoints(generation) / query / "offsets"
        return offsets.is_dir() and any(name.name.isdigit() for name in offsets.iterdir())

    def drop_older(self, generation: int) -> None:
        """Remove the checkpoints of generations before this one."""
        for folder in self.path.iterdir():
            if folder.is_dir() and folder.name.isdigit() and int(folder.name) < generation:
                shutil.rmtree(folder, ignore_errors=True)

    def drop_checkpoint(self, generation: int, query: str) -> None:
        """Let a query begin anew."""
        shutil.rmtree(self.checkpoints(generation) / query, ignore_errors=True)

    # --- stop and start by a person ---

    def stopped_by(self) -> str | None:
        """Who stopped the processor; None if nobody did."""
        document = self._read("control.json")
        return None if document is None or document.get("desired") != "stopped" else str(document.get("by", "unknown"))

    def set_stopped(self, stopped: bool, by: str, at_ms: int) -> None:
        """Keep a person's wish, so that it holds for the next process too."""
        self._write("control.json", {"desired": "stopped" if stopped else "running", "by": by, "at_ms": at_ms})

    # --- files ---

    def _read(self, name: str) -> dict[str, Any] | None:
        try:
            document = json.loads((self.path / name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            return {}
        return document if isinstance(document, dict) else {}

    def _write(self, name: str, document: dict[str, Any]) -> None:
        """Whole or not at all: a crash leaves the old file."""
        target = self.path / name
        fresh = target.with_suffix(".new")
        try:
            with fresh.open("w", encoding="utf-8") as file:
                json.dump(document, file, indent=1, ensure_ascii=False)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(target)
        except OSError as error:
            raise LsqlError("STATE_DIR_UNWRITABLE", path=str(target), reason=error.strerror or str(error)) from None


def _probe(path: Path) -> None:
    """Fail now if nothing can be written: a full or read-only volume still opens files."""
    probe = path / ".probe"
    probe.write_bytes(b"1")
    probe.unlink()
