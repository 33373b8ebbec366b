"""Groups of a stream's records with all aggregates, without a window and with each window, with changes or final
results.
"""

from __future__ import annotations

from tests.differential import comparison
from tests.differential.aggregates import ALL, calls
from tests.differential.histories import ended, windowed
from tests.differential.late import Grace, hopping, with_equal_sessions
from tests.differential.suites import Program, Suite

_FINAL = "SET emit='final'"
_FAR_MS = 1_000_000
"""Longer than any window, gap and grace period of these programs."""


def suites() -> tuple[Suite, ...]:
    """A suite for each rule of lateness."""
    return (
        Suite(
            "windows",
            windowed(10_000, 5_000),
            (
                _stream_groups(),
                _windows("tumbling", 10_000, 10_000, 5_000),
                _windows("tumbling-without-grace", 10_000, 10_000, 0),
                _windows("hopping", 10_000, 4_000, 5_000),
            ),
        ),
        Suite(
            "windows-since-1970",
            windowed(10_000, 5_000, start_ms=0),
            (_windows("hopping-since-1970", 10_000, 4_000, 5_000), _windows("hopping-twice", 10_000, 5_000, 5_000)),
        ),
        Suite("sessions", with_equal_sessions(windowed(4_000, 2_000), 4_000, 2_000), (_sessions(4_000, 2_000),)),
        Suite(
            "windows-final",
            ended(windowed(10_000, 5_000), _FAR_MS),
            (
                _windows("tumbling-final", 10_000, 10_000, 5_000, is_final=True),
                _windows("hopping-final", 10_000, 4_000, 5_000, is_final=True),
            ),
            _FINAL,
        ),
        Suite(
            "sessions-final",
            with_equal_sessions(ended(windowed(4_000, 2_000), _FAR_MS), 4_000, 2_000, is_final=True),
            (_sessions(4_000, 2_000, is_final=True),),
            _FINAL,
        ),
    )


def _stream_groups() -> Program:
    sql = f"INSERT INTO `stream-groups` SELECT STREAM {calls(ALL)} FROM l GROUP BY g"
    return Program("stream-groups", sql, "stream-groups", comparison.changelog, fields=ALL)


def _windows(name: str, size_ms: int, advance_ms: int, grace_ms: int, is_final: bool = False) -> Program:
    window = f"TUMBLE {size_ms}ms" if size_ms == advance_ms else f"HOP {size_ms}ms,{advance_ms}ms"
    return Program(
        name,
        f"INSERT INTO `{name}` SELECT STREAM {calls(ALL)} FROM l WINDOW BY {window} GRACE BY {grace_ms}ms GROUP BY g",
        "windows",
        comparison.finals if is_final else comparison.changelog,
        {"size_ms": size_ms, "advance_ms": advance_ms, "grace_ms": grace_ms, "final": is_final},
        ALL,
        Grace(grace_ms, hopping(size_ms, advance_ms), is_final),
    )


def _sessions(gap_ms: int, grace_ms: int, is_final: bool = False) -> Program:
    name = "sessions-final" if is_final else "sessions"
    return Program(
        name,
        f"INSERT INTO `{name}` SELECT STREAM {calls(ALL)} FROM l WINDOW BY SESSION {gap_ms}ms"
        f" GRACE BY {grace_ms}ms GROUP BY g",
        "sessions",
        comparison.finals if is_final else comparison.changelog,
        {"gap_ms": gap_ms, "grace_ms": grace_ms, "final": is_final},
        ALL,
    )
