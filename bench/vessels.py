"""The input of the comparison: position reports of vessels, the vessels as a table, and their calls at ports.

The same count gives the same records, except for the time at which they begin.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

VESSELS = 2000
INTERVAL_MS = 6000
"""The time between two reports of a vessel, and the length of a round, in which each vessel reports at most once."""
CYCLE = 20
SILENT = 6
"""A vessel is silent for this many rounds of each cycle, one vessel after the other, so that sessions end."""
REPORTS_OF_A_ROUND = VESSELS * (CYCLE - SILENT) // CYCLE
FAST = 10
"""Knots; the filter keeps faster vessels."""
CALL_ROUNDS = 10
"""Each vessel calls once in this many rounds."""
_FIRST_MMSI = 230_000_000
_SPEEDS = 4093  # a prime, so that the speeds of a vessel do not repeat

REPORT_SCHEMA = {
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
VESSEL_SCHEMA = {"MMSI": "long", "Name": "string", "Flag": "string"}
CALL_SCHEMA = {"MMSI": "long", "Port": "string"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A position report."""

    key: bytes
    vessel: int
    round: int
    at_ms: int
    speed: float
    text: str
    """The time as text, of the first vessel of the round."""

    @property
    def mmsi(self) -> int:
        return _FIRST_MMSI + self.vessel

    def json(self) -> bytes:
        """The value as JSON, about 240 bytes."""
        vessel, turn = self.vessel, self.round
        return (
            f'{{"Type":1,"Repeat":0,"MMSI":{self.mmsi},"Status":{vessel % 9},"Turn":0.5,"Speed":{self.speed},'
            f'"Accuracy":false,"Long":{vessel % 180}.{10_000 + turn % 9_999},'
            f'"Lat":{vessel % 80}.{20_000 + turn % 9_973},'
            f'"Course":{vessel % 360}.5,"Heading":{vessel % 360},"Timestamp":"{self.text}","Maneuver":0,"RAIM":true,'
            f'"Radio":{49_000 + turn % 1_000}}}'
        ).encode()

    def value(self) -> dict[str, Any]:
        """The value by the names of the fields."""
        return dict(json.loads(self.json()))


def rounds_of(count: int) -> int:
    """The number of rounds that `count` reports take."""
    return -(-count // REPORTS_OF_A_ROUND)


def reports(count: int, start_ms: int) -> Iterator[Report]:
    """The reports in order of time."""
    speeds = [(number * 1031 % _SPEEDS) % 256 / 10 for number in range(_SPEEDS)]
    left = count
    for turn in range(rounds_of(count)):
        begin_ms = start_ms + turn * INTERVAL_MS
        text = datetime.fromtimestamp(begin_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for vessel in _reporting(turn % CYCLE)[:left]:
            speed = speeds[(vessel * 37 + turn * 101) % _SPEEDS]
            yield Report(
                key=key_of(vessel),
                vessel=vessel,
                round=turn,
                at_ms=begin_ms + _delay_ms(vessel),
                speed=speed,
                text=text,
            )
        left -= REPORTS_OF_A_ROUND


def vessels(start_ms: int) -> Iterator[tuple[bytes, bytes, int]]:
    """Key, value and timestamp of the vessels' table, with one row for each. All rows precede the first report."""
    for vessel in range(VESSELS):
        value = {"MMSI": _FIRST_MMSI + vessel, "Name": name_of(vessel), "Flag": f"F{vessel % 50}"}
        yield key_of(vessel), json.dumps(value).encode(), start_ms - VESSELS + vessel


def calls(count: int, start_ms: int) -> Iterator[tuple[bytes, bytes, int]]:
    """Key, value and timestamp of the calls during `count` reports, in order of time."""
    for turn in range(rounds_of(count)):
        for vessel in range(turn % CALL_ROUNDS, VESSELS, CALL_ROUNDS):
            value = {"MMSI": _FIRST_MMSI + vessel, "Port": port_of(vessel, turn)}
            at_ms = start_ms + turn * INTERVAL_MS + _delay_ms(vessel) + 1
            yield key_of(vessel), json.dumps(value).encode(), at_ms


def calls_near(report: Report, rounds: int) -> list[int]:
    """The rounds of the vessel's calls that are at most 10 s before or after the report."""
    near = range(max(report.round - 1, 0), min(report.round + 2, rounds))
    return [turn for turn in near if (turn - report.vessel) % CALL_ROUNDS == 0]


def name_of(vessel: int) -> str:
    """The name of a vessel."""
    return f"Vessel {vessel}"


def port_of(vessel: int, turn: int) -> str:
    """The port of a vessel's call in a round."""
    return f"P{(vessel + turn) % 900}"


@lru_cache(maxsize=VESSELS)
def key_of(vessel: int) -> bytes:
    """The key of a vessel's records: its MMSI number as text."""
    return str(_FIRST_MMSI + vessel).encode()


@lru_cache(maxsize=CYCLE)
def _reporting(place: int) -> list[int]:
    """The vessels that report in a round, by its place in the cycle."""
    return [vessel for vessel in range(VESSELS) if (place + vessel) % CYCLE >= SILENT]


def _delay_ms(vessel: int) -> int:
    """The time of a vessel's report in its round."""
    return vessel * INTERVAL_MS // VESSELS


def avro_schema(name: str, fields: Mapping[str, str]) -> dict[str, Any]:
    """An AVRO schema whose fields are not nullable."""
    kinds = [{"name": field, "type": kind.removesuffix(" not null")} for field, kind in fields.items()]
    return {"type": "record", "name": name, "fields": kinds}
