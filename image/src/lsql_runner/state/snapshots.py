"""Snapshots of the state of a processor, which may run meanwhile: its program, and each query after an ended batch.

    snapshots/<name>/snapshot.json    what it contains; without it, the rest was left by a command that was killed
    snapshots/<name>/program.json     the program that the state belongs to
    snapshots/<name>/<generation>/    the checkpoints, without what belongs to their runs

Files of logs and state get their names when they are complete, and never change. So a snapshot on a volume links them:
it needs space only for what the processor deletes later. At a URI it has copies.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Self

from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.plan.fingerprint import Fingerprint
from lsql_runner.state.checkpoint_copy import copy_checkpoints
from lsql_runner.state.directory import StateDir
from lsql_runner.state.folder import StateFolder
from lsql_runner.state.offset_log import (
    by_topic,
    exists,
    from_topics,
    newest_committed,
    planned_batch,
    renew_identity,
    state_ids,
)
from lsql_runner.state.saved_state import PROGRAM, Pinned, read_document, saved_state

_SNAPSHOTS = "snapshots"
_DOCUMENT = "snapshot.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_ATTEMPTS = 3
_LOGS = ("offsets", "commits")
_COPIED = (*_LOGS, "state", "sources")
"""The rest of a checkpoint belongs to its run: the identity, and what is known of the targets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What a snapshot contains."""

    name: str
    at_ms: int
    """When it was taken, in milliseconds since 1970 UTC."""
    app_id: str
    version: str
    """Of the program that took it."""
    location: str
    """The folder whose checkpoints it has: Spark writes it into files of the state."""
    batches: Mapping[str, int | None]
    """By query: the last batch that it has; None if none has ended."""
    positions: Mapping[Partition, int]
    """By source partition: the least next offset of the queries that read it."""
    size_bytes: int

    def as_json(self) -> dict[str, Any]:
        """The content of snapshot.json."""
        fields = ("at_ms", "app_id", "version", "location", "batches", "size_bytes")
        return {name: getattr(self, name) for name in fields} | {"positions": by_topic(self.positions)}

    @classmethod
    def from_json(cls, name: str, document: Mapping[str, Any]) -> Self:
        return cls(name=name, **{**document, "positions": from_topics(document["positions"])})


def snapshots(folder: StateFolder) -> list[Snapshot]:
    """The snapshots in the directory of a processor, the oldest first."""
    found = []
    for name in (folder / _SNAPSHOTS).folder_names():
        document = read_document(folder / _SNAPSHOTS / name, _DOCUMENT)
        if document:
            found.append(Snapshot.from_json(name, document))
    return sorted(found, key=lambda each: (each.at_ms, each.name))


def take_snapshot(folder: StateFolder, name: str, at_ms: int, version: str) -> Snapshot:
    """Take a snapshot of the state in the folder of a processor, which may run.

    Raises:
        LsqlError: SNAPSHOT_NAME_INVALID, SNAPSHOT_EXISTS, STATE_MISSING, SNAPSHOT_OVERTAKEN, STATE_DIR_UNWRITABLE; as
            `saved_state` and the methods of the folder.
    """
    if not _NAME.fullmatch(name):
        raise LsqlError("SNAPSHOT_NAME_INVALID", name=name[:100])
    target = folder / _SNAPSHOTS / name
    if target.read(_DOCUMENT) is not None:
        raise LsqlError("SNAPSHOT_EXISTS", name=name)
    pinned = _pinned(folder)
    source, copy = folder / str(pinned.generation), target / str(pinned.generation)
    try:
        target.delete_all()
        blues = {blue.query for blue in pinned.blues.values()}
        kept = {query.name for query in pinned.kept.queries} - blues
        queries = [query for query in source.folder_names() if query not in kept and exists(source / query)]
        # A green query must not be ahead of its blue one.
        queries.sort(key=blues.__contains__)
        batches = {query: _copy_checkpoint(source / query, copy / query) for query in queries}
        target.write(PROGRAM, folder.read(PROGRAM) or b"")
        target.sync_all()
        taken = Snapshot(
            name=name,
            at_ms=at_ms,
            app_id=folder.name,
            version=version,
            location=str(source),
            batches=batches,
            positions=_positions(copy, batches),
            size_bytes=sum(target.all_files().values()),
        )
        target.write(_DOCUMENT, json.dumps(taken.as_json()).encode())
    except BaseException as error:
        with suppress(OSError, LsqlError):  # the next snapshot of this name deletes what is left
            target.delete_all()
        if isinstance(error, OSError):
            raise LsqlError("STATE_DIR_UNWRITABLE", path=str(target), reason=error.strerror or str(error)) from None
        raise
    return taken


def _pinned(folder: StateFolder) -> Pinned:
    pinned = saved_state(folder).pinned
    if pinned is None:
        raise LsqlError("STATE_MISSING", path=str(folder))
    return pinned


def _copy_checkpoint(source: StateFolder, target: StateFolder) -> int | None:
    """Copy a checkpoint after its last ended batch. The query may run, and delete batches that are old."""
    for _ in range(_ATTEMPTS):
        batch = newest_committed(source)
        source.share_with(target, list(_files(source, batch)))
        # Spark deletes the log of a batch not before its state.
        if batch is None or (planned_batch(source, batch) is not None and _has_state(target, batch)):
            return batch
        target.delete_all()
    raise LsqlError("SNAPSHOT_OVERTAKEN", query=source.name)


def _files(checkpoint: StateFolder, batch: int | None) -> Iterator[str]:
    """The files of a checkpoint up to a batch; no temporary files."""
    for path in checkpoint.all_files():
        head, _, name = path.partition("/")
        if head not in _COPIED or path.rpartition("/")[2].startswith("."):
            continue
        if head not in _LOGS or (name.isdigit() and batch is not None and int(name) <= batch):
            yield path


def _has_state(checkpoint: StateFolder, batch: int) -> bool:
    """Whether the checkpoint has the file of each state store after a batch."""
    files = [path for path in checkpoint.all_files() if path.startswith("state/")]
    return all(
        any(path.startswith(f"state/{operator}/{partition}/") and f"/{batch + 1}_{store}." in path for path in files)
        for operator, partition, store in state_ids(checkpoint, batch)
    )


def _positions(checkpoints: StateFolder, batches: Mapping[str, int | None]) -> dict[Partition, int]:
    positions: dict[Partition, int] = {}
    for query, batch in batches.items():
        planned = None if batch is None else planned_batch(checkpoints / query, batch)
        for place, end in ({} if planned is None else planned.ends).items():
            positions[place] = min(end, positions.get(place, end))
    return positions


def restore_snapshot(state: StateDir, name: str) -> Snapshot:
    """Let the next start of a stopped processor continue from a snapshot, in a new generation.

    Its checkpoints get new run ids: results after the snapshot are written again, and are other records than those that
    the targets have. The next start deletes the state that is replaced.

    Raises:
        LsqlError: SNAPSHOT_MISSING, STATE_DIR_UNWRITABLE, STATE_UNREADABLE.
    """
    newest = max(state.saved().generations, default=0)
    return _begin(state.folder, name, state, newest + 1)


def clone_snapshot(source: StateFolder, name: str, target: StateDir) -> Snapshot:
    """Let the first start of another processor continue from a snapshot.

    Raises:
        LsqlError: STATE_EXISTS, if the other processor has state; as `restore_snapshot`.
    """
    if target.saved().pinned is not None:
        raise LsqlError("STATE_EXISTS", path=str(target.path))
    return _begin(source, name, target, 1)


def _begin(source: StateFolder, name: str, state: StateDir, generation: int) -> Snapshot:
    """Copy a snapshot to a generation, and make it the one that the next start continues."""
    folder = source / _SNAPSHOTS / name
    document = read_document(folder, _DOCUMENT) if _NAME.fullmatch(name) else None
    if not document:
        raise LsqlError("SNAPSHOT_MISSING", name=name[:100], path=str(source))
    taken = Snapshot.from_json(name, document)
    pinned = _pinned(folder)
    copy = state.checkpoints(generation)
    try:
        copy.delete_all()  # left by a command that was killed
        copy_checkpoints(folder / str(pinned.generation), copy, taken.location)
        for query in taken.batches:
            renew_identity(copy / query)
        copy.sync_all()
    except OSError as error:
        raise LsqlError("STATE_DIR_UNWRITABLE", path=str(copy), reason=error.strerror or str(error)) from None
    blues = {blue.query for blue in pinned.blues.values()}
    kept = Fingerprint(tuple(query for query in pinned.kept.queries if query.name in blues))
    state.pin(replace(pinned, generation=generation, kept=kept))
    return taken


def delete_unfinished(folder: StateFolder, prefix: str) -> None:
    """Delete what a process has left that was killed while it took a snapshot whose name has a prefix.

    Raises:
        OSError: files remain.
    """
    for name in (folder / _SNAPSHOTS).folder_names():
        snapshot = folder / _SNAPSHOTS / name
        if name.startswith(prefix) and snapshot.read(_DOCUMENT) is None:
            snapshot.delete_all()


def prune_snapshots(folder: StateFolder, keep: int, prefix: str = "") -> list[Snapshot]:
    """Delete all snapshots but the newest ones, and return those that were deleted.

    Args:
        folder: the directory of the processor.
        keep: how many of them stay.
        prefix: of the names of snapshots that are deleted; the others are left alone.

    Raises:
        LsqlError: STATE_DIR_UNWRITABLE.
    """
    deleted = [each for each in snapshots(folder) if each.name.startswith(prefix)][: -keep or None]
    for each in deleted:
        snapshot = folder / _SNAPSHOTS / each.name
        try:
            snapshot.delete(_DOCUMENT)
            snapshot.delete_all()
        except OSError as error:
            raise LsqlError("STATE_DIR_UNWRITABLE", path=str(snapshot), reason=error.strerror or str(error)) from None
    return deleted
