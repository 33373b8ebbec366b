"""Random records: many short histories, each with a few keys that no other history has.

Times, groups, nulls and tombstones are chosen to cause many matches: few keys, few groups, times near the ends of
windows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

START_MS = 1_700_000_000_000
HISTORIES = 8
BATCHES = 4
PARTITIONS = 3
END = "end-"
"""The prefix of keys of records that only advance the time."""


@dataclass(frozen=True, slots=True)
class Event:
    """A record, its history, and the batch that it is read with."""

    history: int
    batch: int
    topic: str
    key: str | None
    value: Mapping[str, Any] | None
    at_ms: int
    offset: int = 0
    """Increases with the records of a run."""

    @property
    def partition(self) -> int:
        """The partition, which is the same for all records of a history."""
        return self.history % PARTITIONS


Events = Sequence[Event]
Generator = Callable[[Random], list[Event]]


def _number(random: Random) -> int | None:
    return None if random.random() < 0.15 else random.randint(-5, 5)


def _fraction(random: Random) -> float | None:
    """Multiples of a quarter, whose sums are equal in any order."""
    return None if random.random() < 0.15 else random.randint(-20, 20) / 4


def _text(random: Random) -> str | None:
    """Texts whose order by UTF-8 bytes differs from other orders."""
    return None if random.random() < 0.15 else random.choice(["", "B", "a", "\u00e9", "\uff5e", "\U0001d11e"])


def _row(random: Random, **more: Any) -> dict[str, Any]:
    row = {"v": _number(random), "d": _fraction(random), "t": _text(random), **more}
    # A missing field is null.
    return {name: value for name, value in row.items() if value is not None or random.random() < 0.5}


def _choose(random: Random, history: int, names: str, null_rate: float) -> str | None:
    return None if random.random() < null_rate else f"{random.choice(names)}{history}"


def windowed(size_ms: int, grace_ms: int, start_ms: int = START_MS) -> Generator:
    """A stream whose time advances by about a window per batch, with out-of-order and late records. None is before
    1970."""

    def generate(random: Random) -> list[Event]:
        events: list[Event] = []
        now = start_ms
        for batch in range(BATCHES + 1):
            now += random.choice([0, size_ms // 2, size_ms, size_ms + grace_ms, 2 * size_ms])
            for _ in range(4 * HISTORIES):
                history = random.randrange(HISTORIES)
                behind = random.choice([0, size_ms // 2, size_ms, size_ms + grace_ms, 3 * (size_ms + grace_ms)])
                at = now - behind + random.choice([-1, 0, 1, random.randint(0, size_ms // 2)])
                group = _choose(random, history, "xy", 0.03)
                value = None if random.random() < 0.03 else _row(random, g=group)
                events.append(Event(history, batch, "l", f"k{history}", value, max(at, 0)))
        return events

    return generate


def ended(generate: Generator, far_ms: int) -> Generator:
    """The same records, followed by two records far in the future that end all windows."""

    def longer(random: Random) -> list[Event]:
        events = generate(random)
        newest = max(event.at_ms for event in events)
        batch = max(event.batch for event in events)
        far = [Event(-1, batch + n, "l", None, {"g": f"{END}l"}, newest + n * far_ms) for n in (1, 2)]
        return [*events, *far]

    return longer


def table(random: Random) -> list[Event]:
    """A table in `l` whose rows move between groups, are added and are deleted."""
    return _tables(random, lambda history: {"g": _choose(random, history, "xyz", 0.1)}, "l", "abc", "abc")


def two_tables(random: Random) -> list[Event]:
    """Tables in `l` and `r` with the same keys, and groups in both."""
    return _tables(random, lambda history: {"g": _choose(random, history, "xy", 0.1)}, "lr", "abc", "abc")


def referring(random: Random) -> list[Event]:
    """A table in `l` whose field `f` is a key of the table in `r`, an unknown key, or null."""
    return _tables(random, lambda history: {"f": _choose(random, history, "pqz", 0.15)}, "lr", "abc", "pq")


def _tables(
    random: Random, fields: Callable[[int], dict[str, Any]], topics: str, left_keys: str, right_keys: str
) -> list[Event]:
    events: list[Event] = []
    now = dict.fromkeys(range(HISTORIES), START_MS)
    for batch in range(BATCHES):
        for _ in range(5 * HISTORIES):
            history = random.randrange(HISTORIES)
            now[history] += random.randint(0, 30)
            topic = random.choice(topics)
            key = _choose(random, history, left_keys if topic == "l" else right_keys, 0.02)
            value = None if random.random() < 0.25 else _row(random, **fields(history))
            at = now[history] - random.choice([0, 0, 0, 50])
            events.append(Event(history, batch, topic, key, value, at))
    return events


def stream_and_table(random: Random) -> list[Event]:
    """A stream in `l` whose field `f` is a key of the table in `r`. Both advance together, out of order."""
    events: list[Event] = []
    now = dict.fromkeys(range(HISTORIES), START_MS)
    number = 0
    for batch in range(BATCHES):
        for _ in range(5 * HISTORIES):
            history = random.randrange(HISTORIES)
            now[history] += random.randint(0, 3)
            at = now[history] - random.choice([0, 0, 5])
            if random.random() < 0.5:
                number += 1
                # A unique number, to identify the results of each record.
                value = {"v": number, "f": _choose(random, history, "pqz", 0.1)}
                events.append(Event(history, batch, "l", f"s{history}", value, at))
            else:
                row = None if random.random() < 0.25 else _row(random)
                events.append(Event(history, batch, "r", _choose(random, history, "pq", 0.02), row, at))
    return events


def two_streams(within_ms: int, grace_ms: int) -> Generator:
    """Streams in `l` and `r` with the same values of `f`. No record is late. The last records are far in the future."""

    def generate(random: Random) -> list[Event]:
        events: list[Event] = []
        now = newest = START_MS
        number = 0
        for batch in range(BATCHES):
            for _ in range(4 * HISTORIES):
                history = random.randrange(HISTORIES)
                now += random.randint(0, within_ms // 100)
                behind = random.choice([0, 0, within_ms, within_ms + grace_ms, random.randint(0, within_ms + grace_ms)])
                at = max(now - behind, newest - within_ms - grace_ms + 1)
                newest = max(newest, at)
                number += 1
                value = {"v": number, "f": _choose(random, history, "pq", 0.05)}
                events.append(Event(history, batch, random.choice("lr"), None, value, at))
            now += random.choice([0, within_ms, within_ms + grace_ms])
        for batch in (BATCHES, BATCHES + 1):
            far = newest + (batch - BATCHES + 1) * 100 * (within_ms + grace_ms)
            events += [Event(-1, batch, topic, None, {"v": -batch, "f": f"{END}{topic}"}, far) for topic in "lr"]
        return events

    return generate
