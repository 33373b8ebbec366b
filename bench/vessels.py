"""The input of the comparison: position reports of vessels, and the expected output.

The same count gives the same records, except for the time at which they begin.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bench.feed import send

VESSELS = 2000
INTERVAL_MS = 6000
"""Each vessel reports ten times a minute, as moving ships do."""
WINDOW_MS = 60_000
FAST = 10
"""Knots; the filter keeps faster vessels."""
_SPEEDS = 4093  # a prime, so that the speeds of a vessel do not repeat

SCHEMA = {
    "Type": "int",
    "Repeat": "int",
    "MMSI": "long",
    "Status": "int",
    "Turn": "double",
    "Speed": "double not null",
    "Accuracy": "boolean",
    "Long": "double",
    "Lat": "double",
    "Course": "double",
    "Heading": "int",
    "Timestamp": "string",
    "Maneuver": "int",
    "RAIM": "boolean",
    "Radio": "long",
}


@dataclass
class Expected:
    """The expected output: the number of fast reports, and of reports by key and window start."""

    fast: int = 0
    windows: Counter[tuple[bytes, int]] = field(default_factory=Counter)


def reports(count: int, start_ms: int, expected: Expected) -> Iterator[tuple[bytes, bytes, int]]:
    """Key, value and timestamp of each record in order of time; also fills `expected`."""
    vessels = [(str(230_000_000 + number).encode(), number) for number in range(VESSELS)]
    speeds = [(number * 1031 % _SPEEDS) % 256 / 10 for number in range(_SPEEDS)]
    for index in range(count):
        round_, number = divmod(index, VESSELS)
        key, vessel = vessels[number]
        at = start_ms + round_ * INTERVAL_MS + number * INTERVAL_MS // VESSELS
        speed = speeds[(vessel * 37 + round_ * 101) % _SPEEDS]
        if speed > FAST:
            expected.fast += 1
        expected.windows[key, at - at % WINDOW_MS] += 1
        if number == 0:
            text = datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        value = (
            f'{{"Type":1,"Repeat":0,"MMSI":{230_000_000 + vessel},"Status":{vessel % 9},"Turn":0.5,"Speed":{speed},'
            f'"Accuracy":false,"Long":{vessel % 180}.{10_000 + round_ % 9_999},'
            f'"Lat":{vessel % 80}.{20_000 + round_ % 9_973},'
            f'"Course":{vessel % 360}.5,"Heading":{vessel % 360},"Timestamp":"{text}","Maneuver":0,"RAIM":true,'
            f'"Radio":{49_000 + round_ % 1_000}}}'
        )
        yield key, value.encode(), at


def preload(bootstrap: str, topic: str, count: int) -> Expected:
    """Write the records; returns the expected output when the broker has all of them.

    The newest record is about a minute old, because a changelog topic of Kafka Streams deletes records that are older
    than its retention.
    """
    span_ms = (count // VESSELS + 10) * INTERVAL_MS
    now_ms = int(time.time() * 1000)
    start_ms = (now_ms - span_ms) // WINDOW_MS * WINDOW_MS
    expected = Expected()
    send(bootstrap, topic, reports(count, start_ms, expected), count)
    return expected
