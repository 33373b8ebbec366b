"""The programs of `bench.load`, and their results as counts and ids."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime

from bench.engines import FLINK_SQL, ComparedEngine
from bench.latency import Appended

FIELDS = {"id": "long not null", "user": "string not null", "speed": "double not null"}


@dataclass(frozen=True, slots=True)
class LoadProgram:
    """INSERTs with `{source}` and `{target}`. Without windows a result has the `id` of its record; with windows the
    INSERTs count the records of each key, and `windows_ms` has the size of each window. The topology of Kafka Streams
    and the Flink SQL have the `name`."""

    name: str
    title: str
    inserts: tuple[str, ...]
    windows_ms: tuple[int, ...] = ()
    _: KW_ONLY
    mode: str = "auto"
    """The `processing.mode` of lsql-runner."""
    pace: str | None = None
    """The `processing.pace` of lsql-runner, such as `1s`; None for its default."""

    def sql(self, source: str, targets: Iterable[str]) -> str:
        """The SQL of lsql-runner, with one target for each INSERT."""
        pairs = zip(self.inserts, targets, strict=True)
        settings = f"SET processing.mode='{self.mode}';\n"
        if self.pace is not None:
            settings += f"SET processing.pace='{self.pace}';\n"
        return settings + ";\n".join(sql.format(source=f"`{source}`", target=f"`{target}`") for sql, target in pairs)


PROGRAMS = {
    "filter": LoadProgram(
        "load-filter",
        "filter and project",
        ("INSERT INTO {target} SELECT STREAM id, user FROM {source} WHERE speed >= 0",),
    ),
    "two-windows": LoadProgram(
        "load-two-windows",
        "two windowed counts",
        (
            "INSERT INTO {target} SELECT STREAM COUNT(*) AS n FROM {source} WINDOW BY TUMBLE 10s",
            "INSERT INTO {target} SELECT STREAM COUNT(*) AS n FROM {source} WINDOW BY TUMBLE 1m",
        ),
        windows_ms=(10_000, 60_000),
    ),
}


def decoder(engine: ComparedEngine, program: LoadProgram) -> Callable[[bytes, bytes, int], Appended]:
    """A function that makes a result from key, value and time. The key of a count ends with the start of its window."""
    return _flink_count if engine is FLINK_SQL and program.windows_ms else appended


def appended(key: bytes, value: bytes, at_ms: int) -> Appended:
    """A record with a JSON value."""
    return Appended(key, json.loads(value), at_ms)


def _flink_count(key: bytes, value: bytes, at_ms: int) -> Appended:
    """A count of Flink, whose key is a JSON object with two fields."""
    fields = json.loads(key)
    start = datetime.fromisoformat(fields["window_start"]).replace(tzinfo=UTC)
    return Appended(
        fields["k"].encode() + round(start.timestamp() * 1000).to_bytes(8, "big"),
        {"n": json.loads(value)["n"]},
        at_ms,
    )
