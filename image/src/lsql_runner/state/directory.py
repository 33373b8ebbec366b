"""The processor's directory: `<state dir>/<app id>/`.

    lock              held while a process runs the processor
    owner             the process that leads, if a Lease chooses it; at a URI, this is a file in `lock`
    program.json      the program, its plan's fingerprint, the schemas, the versions, the generation
    control.json      whether a person has stopped the processor
    state.json        a random id of the state
    deployment.json   the program's digest and the settings of the last start, for the audit log
    out-of-memory.json  that the JVM ran out of memory while it read, and with which heap; see runtime.out_of_memory
    mark.json         after that: the place of the record that the JVM reads
    machine           a random text, if the rest is at a URI; see state.uri_lock
    <generation>/     one checkpoint for each query

With LSQL_STATE_URI, it contains only `lock`, `machine`, `out-of-memory.json` and `mark.json`. The rest is in
`<uri>/<app id>/`.

A program that cannot use the existing state begins a new generation, which starts empty. Checkpoints are begun before
program.json is written: a checkpoint that the program names, and that does not exist, was deleted.
"""

from __future__ import annotations

import json
import secrets
import uuid
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.lease.election import Term
from lsql_runner.state.checkpoint_copy import copy_checkpoints
from lsql_runner.state.folder import LocalFolder, StateFolder
from lsql_runner.state.offset_log import begin_again, begin_checkpoint, delete_checkpoint, keep_opened, rewind
from lsql_runner.state.owner import Owner, OwnerFile, OwnerLock
from lsql_runner.state.saved_state import (
    PROGRAM,
    Pinned,
    SavedState,
    program_document,
    read_document,
    saved_state,
    unreadable,
)
from lsql_runner.state.volume_lock import LockHeldError, StateLock


def state_path(root: Path, app_id: str) -> Path:
    """The directory of a processor, whether it exists or not."""
    return root.expanduser().absolute() / app_id


WAIT_S = 15.0
"""How long a start waits for the lock: a JVM whose Python process was killed ends within this time. A container that is
restarted then starts immediately, instead of after Kubernetes's back-off."""


class StateDir:
    """One processor's directory, locked for this process. Waits up to `wait_s` for the end of another process.

    Args:
        root: SQL_STATE_STORE_DIR.
        app_id: the name of the processor.
        wait_s: the longest wait, in seconds.
        shared: whether a Lease decides which process writes: then all of them share the lock.

    Raises:
        LsqlError: STATE_DIR_UNWRITABLE, STATE_DIR_IN_USE.
    """

    def __init__(self, root: Path, app_id: str, wait_s: float = WAIT_S, *, shared: bool = False) -> None:
        self.path = state_path(root, app_id)
        self.owner: Owner | None = None
        """This process as the owner of the directory; None if it has not taken it over."""
        self._folder: StateFolder | LsqlError = LocalFolder(self.path)
        self._owner_lock: OwnerLock | None = None
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            _probe(self.path)
            self._lock = StateLock(self.path / "lock", wait_s, shared=shared)
        except OSError as error:
            raise _unwritable(self.path, error) from None
        except LockHeldError as error:
            raise LsqlError("STATE_DIR_IN_USE", path=str(self.path), pid=error.holder) from None

    @property
    def lock_file(self) -> int:
        """The descriptor of the lock, for child processes that write to the directory."""
        return self._lock.file

    @property
    def folder(self) -> StateFolder:
        """Where program and state are: the directory, or a folder at a URI.

        Raises:
            LsqlError: the folder at a URI is not open; the error says why.
        """
        if isinstance(self._folder, LsqlError):
            raise self._folder
        return self._folder

    @property
    def is_open(self) -> bool:
        """Whether `folder` can be used. Of a directory on a volume it always can."""
        return not isinstance(self._folder, LsqlError)

    def open_folder(self, folder: StateFolder, owner_lock: OwnerLock | None = None) -> None:
        """Use a folder at a URI; with its lock, if a Lease decides which process is the owner."""
        self._folder, self._owner_lock = folder, owner_lock

    def close_folder(self, error: LsqlError) -> None:
        """Use no folder, because that at a URI is not open: `folder` raises the error."""
        self._folder = error

    def close(self) -> None:
        """Release the lock."""
        self._lock.close()

    def machine(self) -> str:
        """A text that only processes have that lock this directory on a volume: one at a time.

        Raises:
            LsqlError: STATE_DIR_UNWRITABLE.
        """
        local = LocalFolder(self.path)
        try:
            text = local.read("machine")
            if not text:
                text = uuid.uuid4().hex.encode()
                local.write("machine", text)
            return text.decode(errors="replace")
        except OSError as error:
            raise _unwritable(self.path / "machine", error) from None

    def id(self) -> str | None:
        """A random text that copies of the state have in common, and no other state has; None if it has none yet.

        Raises:
            LsqlError: STATE_DIR_UNREADABLE; as `folder`.
        """
        identifier = (self._read("state.json") or {}).get("id")
        return None if identifier is None else str(identifier)

    def new_id(self) -> str:
        """Save a new id.

        Raises:
            LsqlError: STATE_DIR_UNWRITABLE, PROCESSOR_REPLACED; as `folder`.
        """
        created = uuid.uuid4().hex
        self._write("state.json", {"id": created})
        return created

    # --- the owner ---

    def take_over(self, lease: str, term: Term) -> None:
        """Become the owner. The process that was it writes nothing to the checkpoints any more.

        Args:
            lease: the identity of the Lease that has chosen this process.
            term: its term.

        Raises:
            LsqlError: STATE_DIR_UNWRITABLE; as `OwnerLock.take`.
        """
        # Unlike the term, which the Lease has too, the random text is known only to those who read the state.
        text = f"{term.text} {secrets.token_hex(16)}"
        if self._owner_lock is not None:
            self.owner = self._owner_lock.take(lease, term.number, text)
        else:
            self._replace("owner", text.encode())
            self.owner = OwnerFile(self.path / "owner", text)

    def hand_over(self) -> None:
        """Let another process become the owner, after this one has stopped to write, without being replaced."""
        if self._owner_lock is not None:
            self._owner_lock.close()

    def owner_text(self) -> str:
        """The line of the current owner; empty if there is none, or if the file cannot be read."""
        with suppress(OSError, ValueError, LsqlError):
            if self._owner_lock is None:
                return (self.folder.read("owner") or b"").decode()
            return self._owner_lock.owner_text() if self.owner is None else self.owner.text
        return ""

    def is_replaced(self) -> bool:
        """Whether the volume tells that another process has become the owner in place of this one.

        At a URI this would be a request: the lock and the JVM ask from time to time.
        """
        return isinstance(self.owner, OwnerFile) and self.owner.is_replaced()

    # --- the program ---

    def saved(self) -> SavedState:
        """The current content of the directory.

        Raises:
            LsqlError: STATE_UNREADABLE, STATE_DIR_UNREADABLE; as `folder`.
        """
        return saved_state(self.folder)

    def pin(self, pinned: Pinned) -> None:
        """Write program.json."""
        self._write(PROGRAM, program_document(pinned))

    # --- checkpoints ---

    def checkpoints(self, generation: int) -> StateFolder:
        """The folder with the checkpoints of a generation."""
        return self.folder / str(generation)

    def copy_generation(self, generation: int, to: int) -> None:
        """Copy the checkpoints of a generation, in place of files that a killed start has left.

        Raises:
            LsqlError: STATE_DIR_UNWRITABLE, PROCESSOR_REPLACED.
        """
        self._check_owner()
        copy = self.checkpoints(to)
        try:
            copy.delete_all()
            copy_checkpoints(self.checkpoints(generation), copy)
        except OSError as error:
            raise _unwritable(copy, error) from None

    def drop_generation(self, generation: int) -> None:
        """Delete the checkpoints of a generation that program.json does not name. What is left is deleted later.

        Raises:
            LsqlError: PROCESSOR_REPLACED.
        """
        self._check_owner()
        with suppress(OSError, LsqlError):
            self.checkpoints(generation).delete_all()

    def drop_others(self, generation: int) -> None:
        """Delete the checkpoints of all generations but this one.

        Raises:
            LsqlError: PROCESSOR_REPLACED.
        """
        self._check_owner()
        with suppress(OSError, LsqlError):  # the next start deletes what is left
            for name in self.folder.folder_names():
                if name.isdigit() and int(name) != generation:
                    self.drop_generation(int(name))

    def drop_checkpoint(self, generation: int, query: str) -> None:
        """Delete a query's checkpoint.

        Raises:
            LsqlError: STATE_DIR_UNWRITABLE, PROCESSOR_REPLACED.
        """
        self._check_owner()
        checkpoint = self.checkpoints(generation) / query
        try:
            delete_checkpoint(checkpoint)
        except OSError as error:
            raise _unwritable(checkpoint, error) from None

    def begin_checkpoint(self, generation: int, query: str, run_of: int | None = None) -> None:
        """Begin an empty checkpoint of a query, in place of files that have its name.

        Args:
            generation: of the checkpoint.
            query: its name.
            run_of: of a query without state: the generation with its last checkpoint, whose run it continues.

        Raises:
            LsqlError: STATE_DIR_UNWRITABLE, PROCESSOR_REPLACED.
        """
        self._check_owner()
        checkpoint = self.checkpoints(generation) / query
        try:
            if run_of is None:
                delete_checkpoint(checkpoint)
                begin_checkpoint(checkpoint)
            else:
                begin_again(checkpoint, self.checkpoints(run_of) / query)
        except OSError as error:
            raise _unwritable(checkpoint, error) from None

    def rewind_checkpoint(self, generation: int, query: str, positions: Mapping[Partition, int]) -> None:
        """Continue a query from other positions in the topics of `positions`. Its state stays; its run id changes.

        Raises:
            LsqlError: STATE_DIR_UNWRITABLE, PROCESSOR_REPLACED.
        """
        self._change(self.checkpoints(generation) / query, lambda checkpoint: rewind(checkpoint, positions))

    def keep_opened(self, generation: int, query: str) -> None:
        """As `offset_log.keep_opened`.

        Raises:
            LsqlError: STATE_DIR_UNWRITABLE, PROCESSOR_REPLACED.
        """
        self._change(self.checkpoints(generation) / query, keep_opened)

    def _change(self, checkpoint: StateFolder, change: Callable[[StateFolder], None]) -> None:
        self._check_owner()
        try:
            change(checkpoint)
        except OSError as error:
            raise _unwritable(checkpoint, error) from None

    # --- stop and start by a person ---

    def stopped_by(self) -> str | None:
        """Who stopped the processor; None if nobody did.

        Raises:
            LsqlError: STATE_DIR_UNREADABLE; as `folder`.
        """
        document = self._read("control.json")
        return None if document is None or document.get("desired") != "stopped" else str(document.get("by", "unknown"))

    def set_stopped(self, stopped: bool, by: str, at_ms: int) -> None:
        """Save whether the processor is stopped, for the next process."""
        self._write("control.json", {"desired": "stopped" if stopped else "running", "by": by, "at_ms": at_ms})

    # --- what was deployed ---

    def deployment(self) -> dict[str, str] | None:
        """What ran at the last start; None if that is not known.

        Raises:
            LsqlError: STATE_DIR_UNREADABLE; as `folder`.
        """
        document = self._read("deployment.json")
        return {name: str(value) for name, value in document.items()} if document else None

    def set_deployment(self, deployment: Mapping[str, str]) -> None:
        """Save what runs, for the next start."""
        self._write("deployment.json", dict(deployment))

    # --- a blue-green change ---

    def green_failures(self, greens: Collection[str]) -> int:
        """How many runs with these green queries have failed, or have begun and not ended.

        Raises:
            LsqlError: as `stopped_by`.
        """
        document = self._read("green.json") or {}
        return int(document["failures"]) if document.get("queries") == sorted(greens) else 0

    def set_green_failures(self, greens: Collection[str], failures: int) -> None:
        """Remember this number.

        Raises:
            LsqlError: STATE_DIR_UNWRITABLE.
        """
        if self.green_failures(greens) != failures:
            self._write("green.json", {"queries": sorted(greens), "failures": failures})

    # --- deaths of the JVM ---

    def out_of_memory(self) -> dict[str, Any] | None:
        """What `set_out_of_memory` has saved; an empty object if it cannot be read; None if there is nothing."""
        return self._read_note("out-of-memory.json")

    def set_out_of_memory(self, document: Mapping[str, Any] | None) -> None:
        """Save for the next process that the JVM ran out of memory; None deletes it.

        Raises:
            LsqlError: STATE_DIR_UNWRITABLE.
        """
        self._check_owner_of_machine()
        local = LocalFolder(self.path)  # the JVM, which writes to a URI, has ended
        try:
            if document is None:
                local.delete("out-of-memory.json")
            else:
                local.write("out-of-memory.json", _json(document))
        except OSError as error:
            raise _unwritable(self.path / "out-of-memory.json", error) from None

    def mark(self) -> dict[str, Any] | None:
        """The place of the record that the JVM read when it ended; an empty object or None if it read none."""
        return self._read_note("mark.json")

    def unmarked_file(self) -> Path:
        """The path of the file for the place of each record, which does not exist yet.

        Raises:
            LsqlError: STATE_DIR_UNWRITABLE.
        """
        self._check_owner_of_machine()
        file = self.path / "mark.json"
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise _unwritable(file, error) from None
        return file

    # --- files ---

    def _check_owner(self) -> None:
        if self.owner is not None and self.owner.is_replaced():
            raise LsqlError("PROCESSOR_REPLACED", app=self.path.name)

    def _check_owner_of_machine(self) -> None:
        """For a file that is on this machine, also if the state is at a URI: then no other process writes it."""
        if self.is_replaced():
            raise LsqlError("PROCESSOR_REPLACED", app=self.path.name)

    def _read(self, name: str) -> dict[str, Any] | None:
        folder = self.folder
        try:
            return read_document(folder, name)
        except OSError as error:
            raise unreadable(folder / name, error) from None

    def _read_note(self, name: str) -> dict[str, Any] | None:
        """A file of the directory of this machine; empty if it cannot be read."""
        try:
            return read_document(LocalFolder(self.path), name)
        except OSError:
            return {}

    def _write(self, name: str, document: dict[str, Any]) -> None:
        self._replace(name, _json(document))

    def _replace(self, name: str, content: bytes) -> None:
        """Write a file atomically: after a crash, it has the old or the new content."""
        self._check_owner()
        try:
            self.folder.write(name, content)
        except OSError as error:
            raise _unwritable(self.folder / name, error) from None


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, indent=1, ensure_ascii=False).encode()


def _unwritable(place: Path | StateFolder, error: OSError) -> LsqlError:
    return LsqlError("STATE_DIR_UNWRITABLE", path=str(place), reason=error.strerror or str(error))


def _probe(path: Path) -> None:
    """Raise OSError if the directory cannot be written to: a full volume still opens files."""
    probe = path / ".probe"
    probe.write_bytes(b"1")
    probe.unlink(missing_ok=True)  # processes with a Lease start at the same time
