"""Joins of three sources, each a stream (s) or a table (t), in all eight orders, and random records for them.

The name of a suite has the order of its sources: `joins-sst` joins two streams and then a table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.differential import comparison
from tests.differential.comparison import View
from tests.differential.histories import END, START_MS, Event, Generator
from tests.differential.suites import Program, Suite

WITHIN_MS = 10_000
GRACE_MS = 5_000
HISTORIES = 5
BATCHES = 5
RECORDS = 10
"""The average number of records of a history in a batch."""
TOPICS = "lrm"
NAMES = "abc"
KEY = "_key"


@dataclass(frozen=True, slots=True)
class Join:
    """A JOIN. `on` is the SQL condition, empty for a join by keys.

    `left` and `right` are the arguments of the topology: `_key` is the key that rows have at that point, for which SQL
    uses the name of the field that it was computed from.
    """

    kind: str
    on: str
    left: str
    right: str


def by_keys(kind: str) -> Join:
    """A join without ON."""
    return Join(kind, "", KEY, KEY)


def by(kind: str, left: str, right: str) -> Join:
    """A join by a value of the left rows that is not their key, and by any value of the right rows."""
    return Join(kind, f"{left} = {right}", left, KEY if right.endswith(KEY) else right)


PROGRAMS: dict[str, dict[str, tuple[Join, Join]]] = {
    "sss": {
        "keys": (by_keys("INNER"), by_keys("INNER")),
        "own-key": (by("INNER", "a.f", "b.f"), Join("LEFT", "a.f = c.f", KEY, "c.f")),
        "first": (by("INNER", "a.f", "b.g"), by("LEFT", "a.g", "c._key")),
        "second": (by("INNER", "a.f", "b._key"), by("INNER", "b.g", "c.f")),
    },
    "sst": {
        "keys": (by_keys("INNER"), by_keys("INNER")),
        "own-key": (by("INNER", "a.f", "b.f"), by_keys("LEFT")),
        "first": (by_keys("INNER"), by("INNER", "a.f", "c._key")),
        "second": (by("INNER", "a.f", "b._key"), by("LEFT", "b.g", "c._key")),
        "rows": (by("INNER", "a.f", "b.f"), by("INNER", "b.g", "c.g")),
    },
    "sts": {
        "keys": (by_keys("LEFT"), by_keys("LEFT")),
        "own-key": (by("INNER", "a.f", "b._key"), Join("INNER", "b._key = c.f", KEY, "c.f")),
        "first": (by_keys("LEFT"), by("INNER", "a.f", "c.f")),
        "second": (by("INNER", "a.f", "b._key"), by("LEFT", "b.g", "c._key")),
        "rows": (by("LEFT", "a.f", "b.f"), by("INNER", "a.g", "c.g")),
    },
    "stt": {
        "keys": (by_keys("LEFT"), by_keys("INNER")),
        "own-key": (by("INNER", "a.f", "b._key"), by_keys("LEFT")),
        "first": (Join("LEFT", "a._key = b._key", KEY, KEY), by("INNER", "a.f", "c._key")),
        "second": (by("INNER", "a.f", "b._key"), by("LEFT", "b.g", "c._key")),
        "rows": (by("INNER", "a.f", "b.f"), by("LEFT", "b.g", "c.g")),
    },
    "tss": {
        "keys": (by_keys("INNER"), by_keys("INNER")),
        "own-key": (by("RIGHT", "a.f", "b.f"), Join("INNER", "b.f = c.f", KEY, "c.f")),
        "first": (Join("INNER", "a._key = b.f", KEY, "b.f"), by("LEFT", "a.g", "c.f")),
        "second": (Join("RIGHT", "a._key = b.f", KEY, "b.f"), by("INNER", "b.g", "c._key")),
    },
    "tst": {
        "keys": (by_keys("INNER"), by_keys("LEFT")),
        "own-key": (by("RIGHT", "a.f", "b.f"), Join("LEFT", "b.f = c.g", KEY, "c.g")),
        "first": (Join("INNER", "a._key = b.f", KEY, "b.f"), by("LEFT", "a.f", "c._key")),
        "second": (Join("RIGHT", "a._key = b.f", KEY, "b.f"), by("INNER", "b.g", "c._key")),
    },
    "tts": {
        "keys": (by_keys("INNER"), by_keys("INNER")),
        "own-key": (Join("INNER", "a._key = b.f", KEY, "b.f"), Join("RIGHT", "b._key = c.f", KEY, "c.f")),
        "first": (by("LEFT", "a.f", "b._key"), Join("RIGHT", "a._key = c.f", KEY, "c.f")),
        "first-field": (by_keys("FULL"), by("RIGHT", "a.f", "c.f")),
        "second": (by("INNER", "a.f", "b._key"), by("INNER", "b.g", "c._key")),
    },
    "ttt": {
        "keys": (by_keys("LEFT"), by_keys("INNER")),
        "keys-full": (by_keys("FULL"), by_keys("FULL")),
        "own-key": (by("INNER", "a.f", "b._key"), by_keys("LEFT")),
        "first": (by("LEFT", "a.f", "b._key"), by("LEFT", "a.g", "c._key")),
        "second": (by("LEFT", "a.f", "b._key"), by("INNER", "b.g", "c._key")),
        "second-key": (by("INNER", "a.f", "b._key"), by("LEFT", "b._key", "c._key")),
        "third": (Join("RIGHT", "a._key = b.f", KEY, "b.f"), Join("RIGHT", "b._key = c.f", KEY, "c.f")),
        "third-first": (by_keys("INNER"), Join("INNER", "a._key = c.f", KEY, "c.f")),
    },
}
"""Both joins, by the types of the sources and a name that says what the second join compares with the third source.

`keys`: the keys, as in the first join. `own-key`: the key of the rows after the first join. `first`, `second`: a value
of that source. `rows`: a join compares with a field of a table that is not its key, so several rows match. `third`: the
result has the key of the third source.
"""


def suites() -> tuple[Suite, ...]:
    """A suite for each order of streams and tables."""
    return tuple(
        Suite(
            f"joins-{kinds}",
            chained(kinds),
            tuple(_program(kinds, name, joins) for name, joins in programs.items()),
            f"SET grace='{GRACE_MS}ms'" if _joins_streams(kinds) else "",
        )
        for kinds, programs in PROGRAMS.items()
    )


def _joins_streams(kinds: str) -> bool:
    """Whether two streams are joined: a stream joined with anything is a stream."""
    return (kinds.endswith("s") and "s" in kinds[:2]) or kinds.startswith("ss")


def _program(kinds: str, variant: str, joins: tuple[Join, Join]) -> Program:
    name = f"{kinds}-{variant}"
    is_table = "s" not in kinds
    sources = [
        topic if is_table or kind == "s" else f"{topic}_{variant.replace('-', '_')}"
        for topic, kind in zip(TOPICS, kinds, strict=True)
    ]
    tables = [
        f"WITH {source} AS (SELECT TABLE g, f, v FROM {topic}); "
        for topic, source in zip(TOPICS, sources, strict=True)
        if source != topic
    ]
    joined = [
        f" {join.kind} JOIN {source} AS {alias}{f' ON {join.on}' if join.on else ''}"
        f"{f' WITHIN {WITHIN_MS}ms' if kinds[place] == 's' and 's' in kinds[:place] else ''}"
        for place, (join, source, alias) in enumerate(zip(joins, sources[1:], NAMES[1:], strict=True), 1)
    ]
    return Program(
        name,
        f"{''.join(tables)}INSERT INTO `{name}` SELECT {'TABLE' if is_table else 'STREAM'}"
        f" a.v AS lv, b.v AS rv, c.v AS mv FROM {sources[0]} AS a{''.join(joined)}",
        "chain",
        _view(kinds, joins[1]),
        {
            "sources": kinds,
            "joins": [{"kind": join.kind, "left": join.left, "right": join.right} for join in joins],
            "within_ms": WITHIN_MS,
            "grace_ms": GRACE_MS,
        },
    )


def _view(kinds: str, last: Join) -> View:
    if "s" not in kinds:
        return comparison.table
    is_outer_of_streams = kinds.endswith("s") and "s" in kinds[:2] and last.kind == "LEFT"
    return comparison.chained_matches if is_outer_of_streams else comparison.events


def chained(kinds: str) -> Generator:
    """Records whose keys and fields refer to each other, in the topics of three sources.

    If a batch has records of streams and of tables for a history, these are in order of time, because then both engines
    process them in the order of arrival. Other records are out of order, but no record of a stream is late.

    The result of a join of tables changes once per batch. So if a stream is joined with such a result (`tts`), a batch
    has records of either the streams or the tables for a history.
    """
    streams, tables = ("".join(t for t, k in zip(TOPICS, kinds, strict=True) if k == kind) for kind in "st")
    apart = [topics for topics in (streams, tables) if topics]
    choices = apart if len(apart) == 1 or kinds == "tts" else [TOPICS, TOPICS, *apart]

    def generate(random: Random) -> list[Event]:
        events: list[Event] = []
        now = newest = START_MS
        for batch in range(BATCHES):
            topics = [random.choice(choices) for _ in range(HISTORIES)]
            for _ in range(RECORDS * HISTORIES):
                history = random.randrange(HISTORIES)
                now += random.randint(1, WITHIN_MS // 100)
                behind = random.choice([0, 0, WITHIN_MS // 2, WITHIN_MS, WITHIN_MS + GRACE_MS])
                at = now - behind if topics[history] in apart else now
                topic = random.choice(topics[history])
                if topic in streams:
                    at = max(at, newest - WITHIN_MS - GRACE_MS + 1)
                    newest = max(newest, at)
                    # A unique number, to identify the results of each record.
                    row, null_rate = _row(random, history, len(events)), 0.0 if _joins_streams(kinds) else 0.03
                else:
                    row, null_rate = _row(random, history, random.randint(-5, 5)), 0.15
                value = None if random.random() < null_rate else row
                events.append(Event(history, batch, topic, _name(random, history, "pq", 0.03), value, at))
            now += random.choice([0, WITHIN_MS, WITHIN_MS + GRACE_MS])
        return [*events, *(_records_far_ahead(tables + streams, newest) if _joins_streams(kinds) else ())]

    return generate


def _row(random: Random, history: int, number: int) -> dict[str, Any]:
    return {"v": number, "f": _name(random, history, "ppqqz", 0.05), "g": _name(random, history, "ppqqz", 0.05)}


def _name(random: Random, history: int, names: str, null_rate: float) -> str | None:
    return None if random.random() < null_rate else f"{random.choice(names)}{history}"


def _records_far_ahead(topics: str, newest_ms: int) -> Iterator[Event]:
    """Records far in the future in all topics, which advance the time. Their results are not compared."""
    for number in range(3):
        batch, far = BATCHES + number, newest_ms + (number + 1) * 100 * (WITHIN_MS + GRACE_MS)
        for place, topic in enumerate(topics):
            yield Event(-1, batch, topic, END, {"v": -batch, "f": END, "g": END}, far + place)
