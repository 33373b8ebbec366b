"""The content of a processor's directory, as data: the program that it belongs to, and its checkpoints."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.formats.catalog import TopicSchema
from lsql_runner.formats.declared import as_declaration, declared_topics
from lsql_runner.plan.fingerprint import NOTHING, Fingerprint, VersionMismatch
from lsql_runner.state.folder import StateFolder
from lsql_runner.state.offset_log import SavedCheckpoint, by_topic, exists, from_topics, saved_checkpoint

PROGRAM = "program.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuild:
    """How a query reads records again, to build the state that replaces another one."""

    ends: Mapping[Partition, int]
    """By source partition: where the state that was replaced ended. The query writes no results before: the targets
    have those of that state."""
    watermark_ms: int
    """The watermark of that state, in milliseconds since 1970 UTC: its results that waited for it are in the targets. 0
    without event time."""

    def as_json(self) -> dict[str, Any]:
        return {"ends": by_topic(self.ends), "watermark_ms": self.watermark_ms}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        return cls(ends=from_topics(value["ends"]), watermark_ms=int(value["watermark_ms"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Blue:
    """The query whose results are to be replaced by those of a green one. It writes them until the switch."""

    query: str
    sql: str
    """The program that it is a query of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """The content of program.json: the program that the checkpoints belong to."""

    sql: str
    fingerprint: Fingerprint
    schemas: dict[str, TopicSchema]
    generation: int
    state_partitions: int
    """Into how many partitions the state of each operator is divided."""
    versions: dict[str, str]
    starts: Mapping[str, Mapping[Partition, int]] = field(default_factory=dict)
    """By query: the first offset of each source partition in its checkpoint."""
    kept: Fingerprint = NOTHING
    """The queries whose state was replaced, and is kept for a return to their program; the newest first."""
    rebuilds: Mapping[str, Rebuild] = field(default_factory=dict)
    """By query whose state replaces another one: how it is built."""
    blues: Mapping[str, Blue] = field(default_factory=dict)
    """By green query: the blue one, whose state is also in `kept`."""
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    """By source topic: the id of the topic that all saved positions belong to; empty or missing if it is not known."""


@dataclass(frozen=True, slots=True)
class SavedState:
    """The content of a processor's directory."""

    folder: StateFolder
    pinned: Pinned | None = None
    """None in a new directory."""
    checkpoints: Mapping[tuple[int, str], SavedCheckpoint] = field(default_factory=dict)
    """By generation and query: every checkpoint that was begun."""
    generations: frozenset[int] = frozenset()
    """All generations that have a folder."""


def saved_state(folder: StateFolder) -> SavedState:
    """The content of the directory of a processor, which may not exist. Takes no lock and changes nothing.

    Raises:
        LsqlError: STATE_UNREADABLE; STATE_DIR_UNREADABLE if the volume fails.
    """
    try:
        return _saved_state(folder)
    except OSError as error:
        raise unreadable(folder, error) from None


def saved_pinned(folder: StateFolder) -> Pinned | None:
    """The program that the state in a directory belongs to; None without one. As `saved_state`."""
    try:
        return _read_pinned(folder)
    except OSError as error:
        raise unreadable(folder, error) from None


def unreadable(folder: StateFolder, error: OSError) -> LsqlError:
    """The error of a volume that fails when it is read."""
    return LsqlError("STATE_DIR_UNREADABLE", path=str(folder), reason=error.strerror or str(error))


def _saved_state(folder: StateFolder) -> SavedState:
    generations = [folder / name for name in folder.folder_names() if name.isdigit()]
    checkpoints = [(int(g.name), g / query) for g in generations for query in g.folder_names()]
    return SavedState(
        folder,
        _read_pinned(folder),
        {(generation, q.name): saved_checkpoint(q) for generation, q in checkpoints if exists(q)},
        frozenset(int(generation.name) for generation in generations),
    )


def program_document(pinned: Pinned) -> dict[str, Any]:
    """The content of program.json."""
    return {
        "sql": pinned.sql,
        "fingerprint": pinned.fingerprint.as_json(),
        "schemas": as_declaration(pinned.schemas),
        "generation": pinned.generation,
        "state_partitions": pinned.state_partitions,
        "versions": pinned.versions,
        "starts": {query: by_topic(starts) for query, starts in pinned.starts.items()},
        "kept": pinned.kept.as_json(),
        "rebuilds": {query: each.as_json() for query, each in pinned.rebuilds.items()},
        "blues": {green: asdict(blue) for green, blue in pinned.blues.items()},
        "topic_ids": dict(pinned.topic_ids),
    }


def _read_pinned(folder: StateFolder) -> Pinned | None:
    document = read_document(folder, PROGRAM)
    if document is None:
        return None
    try:
        return Pinned(
            sql=document["sql"],
            fingerprint=Fingerprint.from_json(document["fingerprint"]),
            schemas=declared_topics(document["schemas"]),
            generation=int(document["generation"]),
            state_partitions=int(document["state_partitions"]),
            versions=dict(document["versions"]),
            starts={query: from_topics(starts) for query, starts in document["starts"].items()},
            kept=Fingerprint.from_json(document["kept"]) if "kept" in document else NOTHING,
            rebuilds={query: Rebuild.from_json(each) for query, each in document.get("rebuilds", {}).items()},
            blues={green: Blue(**blue) for green, blue in document.get("blues", {}).items()},
            topic_ids=dict(document.get("topic_ids", {})),
        )
    except (VersionMismatch, KeyError, ValueError, TypeError, AttributeError):
        raise LsqlError("STATE_UNREADABLE", path=str(folder / PROGRAM)) from None


def read_document(folder: StateFolder, name: str) -> dict[str, Any] | None:
    """A JSON object; None if there is no file; an empty object if the file has none.

    Raises:
        OSError: the volume fails.
    """
    content = folder.read(name)
    try:
        document = None if content is None else json.loads(content)
    except ValueError:
        return {}
    if content is None:
        return None
    return document if isinstance(document, dict) else {}
