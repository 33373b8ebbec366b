"""The processor's directory: `<state dir>/<app id>/`.

    lock              held while a process runs the processor
    program.json      the program, its plan's fingerprint, the schemas, the versions, the generation
    control.json      whether a person has stopped the processor
    <generation>/     one checkpoint for each query

A program that cannot use the existing state begins a new generation, which starts empty.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import TopicSchema
from lsql_runner.formats.declared import as_declaration, declared_topics
from lsql_runner.plan.fingerprint import Fingerprint, VersionMismatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """The content of program.json: the program that the checkpoints belong to."""

    sql: str
    fingerprint: Fingerprint
    schemas: dict[str, TopicSchema]
    generation: int
    versions: dict[str, str]
    added: tuple[str, ...] = ()
    """Queries that were added to a program with state, and had no checkpoint yet."""


@dataclass(frozen=True, slots=True)
class SavedState:
    """The content of a processor's directory."""

    path: Path
    pinned: Pinned | None = None
    """None in a new directory."""
    checkpoints: frozenset[tuple[int, str]] = frozenset()
    """Generation and query of every checkpoint in which a batch was planned."""
    generations: frozenset[int] = frozenset()
    """All generations that have a folder."""
    folders: frozenset[tuple[int, str]] = field(default=frozenset(), kw_only=True)
    """Generation and query of every folder of a checkpoint, also of those in which no batch was planned yet."""


def state_path(root: Path, app_id: str) -> Path:
    """The directory of a processor, whether it exists or not."""
    return root.expanduser().absolute() / app_id


def saved_state(path: Path) -> SavedState:
    """The content of the directory `<state dir>/<app id>`, which may not exist. Takes no lock and changes nothing.

    Raises:
        LsqlError: STATE_UNREADABLE.
    """
    folders = [folder for folder in path.iterdir() if folder.name.isdigit()] if path.is_dir() else []
    generations = [folder for folder in folders if folder.is_dir()]
    queries = [query for generation in generations for query in generation.iterdir()]
    return SavedState(
        path,
        _pinned(path),
        frozenset((int(query.parent.name), query.name) for query in queries if _has_batch(query)),
        frozenset(int(generation.name) for generation in generations),
        folders=frozenset((int(query.parent.name), query.name) for query in queries),
    )


class StateDir:
    """One processor's directory, locked for this process.

    Raises:
        LsqlError: STATE_DIR_UNWRITABLE, STATE_DIR_IN_USE.
    """

    def __init__(self, root: Path, app_id: str) -> None:
        self.path = state_path(root, app_id)
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
        """Release the lock."""
        os.close(self._lock)

    # --- the program ---

    def saved(self) -> SavedState:
        """The current content of the directory.

        Raises:
            LsqlError: STATE_UNREADABLE.
        """
        return saved_state(self.path)

    def pin(self, pinned: Pinned) -> None:
        """Write program.json, after the folders of queries with state: a query without one has lost its state.

        Raises:
            LsqlError: STATE_DIR_UNWRITABLE.
        """
        for query in pinned.fingerprint.stateful:
            self._make_folder(self.checkpoints(pinned.generation) / query.name)
        self._write(
            "program.json",
            {
                "sql": pinned.sql,
                "fingerprint": pinned.fingerprint.as_json(),
                "schemas": as_declaration(pinned.schemas),
                "generation": pinned.generation,
                "versions": pinned.versions,
                "added": list(pinned.added),
            },
        )

    # --- checkpoints ---

    def checkpoints(self, generation: int) -> Path:
        """The folder with the checkpoints of a generation."""
        return self.path / str(generation)

    def drop_older(self, generation: int) -> None:
        """Delete the checkpoints of all generations before this one."""
        for folder in self.path.iterdir():
            if folder.is_dir() and folder.name.isdigit() and int(folder.name) < generation:
                shutil.rmtree(folder, ignore_errors=True)

    def drop_checkpoint(self, generation: int, query: str) -> None:
        """Delete a query's checkpoint, so that the query starts without one."""
        shutil.rmtree(self.checkpoints(generation) / query, ignore_errors=True)

    # --- stop and start by a person ---

    def stopped_by(self) -> str | None:
        """Who stopped the processor; None if nobody did."""
        document = _read(self.path / "control.json")
        return None if document is None or document.get("desired") != "stopped" else str(document.get("by", "unknown"))

    def set_stopped(self, stopped: bool, by: str, at_ms: int) -> None:
        """Save whether the processor is stopped, for the next process."""
        self._write("control.json", {"desired": "stopped" if stopped else "running", "by": by, "at_ms": at_ms})

    # --- files ---

    def _make_folder(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LsqlError("STATE_DIR_UNWRITABLE", path=str(folder), reason=error.strerror or str(error)) from None

    def _write(self, name: str, document: dict[str, Any]) -> None:
        """Write a file atomically: after a crash, it has the old or the new content."""
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
    """Raise OSError if the directory cannot be written to: a full volume still opens files."""
    probe = path / ".probe"
    probe.write_bytes(b"1")
    probe.unlink()


def _pinned(path: Path) -> Pinned | None:
    document = _read(path / "program.json")
    if document is None:
        return None
    try:
        return Pinned(
            sql=document["sql"],
            fingerprint=Fingerprint.from_json(document["fingerprint"]),
            schemas=declared_topics(document["schemas"]),
            generation=int(document["generation"]),
            versions=dict(document["versions"]),
            added=tuple(document["added"]),
        )
    except (VersionMismatch, KeyError, ValueError, TypeError, AttributeError):
        raise LsqlError("STATE_UNREADABLE", path=str(path / "program.json")) from None


def _has_batch(checkpoint: Path) -> bool:
    """Whether a batch was ever planned in a query's checkpoint."""
    offsets = checkpoint / "offsets"
    return offsets.is_dir() and any(name.name.isdigit() for name in offsets.iterdir())


def _read(file: Path) -> dict[str, Any] | None:
    """A JSON object; None if there is no file; an empty object if the file cannot be read or has none."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}
