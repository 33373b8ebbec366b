"""The programs of `bench.soak`, their records and the comparison with their results."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bench.expected import BenchFailed
from bench.load_engines import LoadTopics
from bench.load_programs import FIELDS, PROGRAMS
from bench.outputs import read_topic
from bench.soak.check import Outcome, check_counts, check_ids, windows_of
from devkit.topics import Topics

KEYS = 50
_UPDATE_EVERY = 10
_STRIDE = 7_919  # a prime that does not divide the number of rows, so that neighbours in the topic have distant keys
_ID = re.compile(rb'\{"id": (\d+)')


@dataclass(frozen=True, slots=True)
class SoakTopics(LoadTopics):
    """The topics of a run."""

    @property
    def table(self) -> str:
        return f"{self.name}-table"

    @property
    def dead_letters(self) -> str:
        return f"{self.name}-dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class SoakProgram:
    """A program with `{source}`, `{target}`, `{table}` and `{dead}`."""

    title: str
    settings: str = ""
    inserts: tuple[str, ...]
    windows_ms: tuple[int, ...] = ()
    """The sizes of the windows of the first INSERTs, which count records; a result of the one after them, if there is
    one, has the `id` of its record.
    """
    rows: int = 0
    """Of the table that the program joins; every tenth record is followed by an update of a row."""
    malformed_every: int = 0
    """Each record with a multiple of this number as its id is malformed; 0 for none."""

    def sql(self, topics: SoakTopics, mode: str) -> str:
        """The program in a processing mode."""
        names = {"source": f"`{topics.source}`", "table": f"`{topics.table}`", "dead": topics.dead_letters}
        inserts = [
            insert.format(target=f"`{target}`", **names)
            for insert, target in zip(self.inserts, topics.targets, strict=True)
        ]
        return f"SET processing.mode='{mode}';\n{self.settings.format(**names)}" + ";\n".join(inserts)

    def lsql_topics(self, topics: SoakTopics) -> dict[str, Any]:
        """The declaration of the sources."""
        fields = {topics.source: FIELDS} | ({topics.table: {"name": "string not null"}} if self.rows else {})
        return {
            topic: {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": schema}}
            for topic, schema in fields.items()
        }

    def is_malformed(self, number: int) -> bool:
        """Whether the record with this id is malformed."""
        return self.malformed_every > 0 and number % self.malformed_every == 0

    def messages(self, topics: SoakTopics, number: int) -> list[tuple[str, bytes, bytes]]:
        """Topic, key and value of the record with this id, and of the update of the table after it."""
        key = b"key-%d" % (number * _STRIDE % (self.rows or KEYS))
        if self.is_malformed(number):
            return [(topics.source, key, b'{"id": %d, "user": ' % number)]
        value = b'{"id": %d, "user": "user-%d", "speed": %d.5}' % (number, number % KEYS, number % 30)
        record = (topics.source, key, value)
        if not self.rows or number % _UPDATE_EVERY:
            return [record]
        return [record, (topics.table, *_row(number // _UPDATE_EVERY % self.rows))]

    def table_rows(self) -> Iterator[tuple[bytes, bytes, int]]:
        """Key, value and timestamp of the first version of each row; 0 stands for the current time."""
        return ((*_row(number), 0) for number in range(self.rows))

    def check(self, broker: Topics, topics: SoakTopics, count: int) -> Outcome:
        """Compare all results with the records of the source, whose ids are 0 to `count`.

        Raises:
            BenchFailed: a topic cannot be read, or the source lacks a record.
        """
        outcomes: list[Outcome] = []
        if self.windows_ms:
            records = ((key, at_ms) for _, key, _, at_ms in read_topic(broker, topics.source))
            windows = windows_of(records, self.windows_ms)
            outcomes += (
                check_counts(windows[size_ms], _counts(broker, target))
                for size_ms, target in zip(self.windows_ms, topics.targets, strict=False)
            )
        for target in topics.targets[len(self.windows_ms) :]:
            copies = _copies(broker, topics.source, count)
            results = ((self._id(key, value), at_ms) for _, key, value, at_ms in read_topic(broker, target))
            outcomes.append(check_ids(copies, lambda number: not self.is_malformed(number), results))
            if self.malformed_every:
                letters = ((_id_of(value), at_ms) for _, _, value, at_ms in read_topic(broker, topics.dead_letters))
                outcomes.append(check_ids(copies, self.is_malformed, letters))
        return sum(outcomes[1:], outcomes[0])

    def _id(self, key: bytes, value: bytes | None) -> int | None:
        """The id of a result; None if it has the row of another key."""
        fields = json.loads(value or b"{}")
        if self.rows and fields.get("name") != f"name of {key.decode()}":
            return None
        return int(fields["id"])


def _row(number: int) -> tuple[bytes, bytes]:
    return b"key-%d" % number, b'{"name": "name of key-%d"}' % number


def _counts(broker: Topics, target: str) -> Iterator[tuple[bytes, int, int]]:
    for _, key, value, at_ms in read_topic(broker, target):
        yield key, int(json.loads(value or b"{}")["n"]), at_ms


def _copies(broker: Topics, source: str, count: int) -> bytearray:
    """How often the source has each record."""
    copies = bytearray(count)
    for _, _, value, _ in read_topic(broker, source):
        number = _id_of(value)
        assert number is not None
        copies[number] = min(copies[number] + 1, 255)
    if missing := copies.count(0):
        raise BenchFailed(f"the source lacks {missing:,} of {count:,} records")
    return copies


def _id_of(value: bytes | None) -> int | None:
    """The id of a record, which may be malformed."""
    match = _ID.match(value or b"")
    return int(match[1]) if match else None


_NAMES = "WITH names AS (SELECT TABLE * FROM {table});\n"
_JOIN = "INSERT INTO {target} SELECT STREAM s.id, n.name FROM {source} AS s JOIN names AS n ON s._key = n._key"
_WINDOWS = PROGRAMS["two-windows"]
_GRACE = "SET grace='1m';\n"
"""The default grace is a day, so the state would grow for a day."""

SOAK_PROGRAMS = {
    "filter": SoakProgram(title="filter and project", inserts=PROGRAMS["filter"].inserts),
    "two-windows": SoakProgram(
        title="two windowed counts", settings=_GRACE, inserts=_WINDOWS.inserts, windows_ms=_WINDOWS.windows_ms
    ),
    "join": SoakProgram(title="stream JOIN table of 100,000 keys", settings=_NAMES, inserts=(_JOIN,), rows=100_000),
    "windows-and-join": SoakProgram(
        title="two windowed counts and stream JOIN table of 1,000 keys",
        settings=_GRACE + _NAMES,
        inserts=(*_WINDOWS.inserts, _JOIN),
        windows_ms=_WINDOWS.windows_ms,
        rows=1_000,
    ),
    "dlq": SoakProgram(
        title="filter, 1 % malformed",
        settings="SET error.policy='dlq';\nSET dead.letter.queue='{dead}';\n",
        inserts=PROGRAMS["filter"].inserts,
        malformed_every=100,
    ),
}
