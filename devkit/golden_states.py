"""Small states of every layout, as earlier versions of the engine have written them.

`make golden-states` writes the missing ones below tests/streams/golden_states, with the in-memory engine. `--all`
rewrites all, which is right only for a new layout. A test starts a processor on each and continues it.
"""

from __future__ import annotations

import json
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from devkit.engines import memory_engine
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.engine.rows import TopicRecord
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Catalog, Serde, TopicSchema
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.fingerprint import fingerprint
from lsql_runner.plan.queries import Plan
from lsql_runner.types import DOUBLE, LONG, STRING, Field, Struct

FOLDER = Path(__file__).parents[1] / "tests/streams/golden_states"

_VALUE = Struct((Field("g", STRING), Field("a", LONG), Field("d", DOUBLE)))
_KEYS = {
    "t": Serde(STRING_FORMAT, STRING),
    "u": Serde(STRING_FORMAT, STRING),
    "j": Serde(JSON_FORMAT, Struct((Field("id", LONG),))),
}
CATALOG = Catalog({name: TopicSchema(name, key, Serde(JSON_FORMAT, _VALUE)) for name, key in _KEYS.items()})

Batch = tuple[TopicRecord, ...]


@dataclass(frozen=True, slots=True)
class GoldenState:
    """A program, the batches that its state has read, and the batches that a test reads next."""

    name: str
    sql: str
    before: tuple[Batch, ...]
    after: tuple[Batch, ...]

    @property
    def plan(self) -> Plan:
        return plan_text(f"SET autocreate=true; {self.sql}", CATALOG).plan

    @property
    def archive(self) -> Path:
        """An archive (.tar.xz) of the checkpoints, and of `program.json` with the fingerprint."""
        return FOLDER / f"{self.name}.tar.xz"


def _batches(*rows: tuple[tuple[str, str, str, int | None, float, int], ...]) -> tuple[Batch, ...]:
    """Batches of rows `(topic, key, g, a, d, seconds)`; a row whose `a` is None is a tombstone."""
    offset = 0
    batches: list[Batch] = []
    for batch in rows:
        records = []
        for topic, key, group, a, d, seconds in batch:
            value = None if a is None else json.dumps({"g": group, "a": a, "d": d}).encode()
            records.append(
                TopicRecord(topic=topic, key=key.encode(), value=value, timestamp_ms=seconds * 1000, offset=offset)
            )
            offset += 1
        batches.append(tuple(records))
    return tuple(batches)


_GROUPS = _batches(
    (("t", "k1", "x", 3, 1.5, 10), ("t", "k2", "y", 4, 2.5, 12), ("t", "k3", "x", 5, 0.25, 15)),
    (("t", "k1", "x", 6, 1.0, 20),),
)
_MORE_GROUPS = _batches((("t", "k4", "x", 7, 4.0, 22), ("t", "k2", "y", 1, 0.5, 25), ("t", "k5", "z", 2, 8.0, 130)))
_BOTH = _batches(
    (("t", "k1", "x", 3, 1.5, 10), ("u", "k1", "x", 30, 1.0, 11), ("u", "k2", "y", 40, 2.0, 12)),
    (("t", "k2", "y", 4, 2.5, 20),),
)
_MORE_OF_BOTH = _batches((("t", "k3", "x", 7, 4.0, 22), ("u", "k1", "x", 31, 1.25, 23), ("t", "k1", "y", 8, 0.5, 24)))
_CHANGES = _batches((("t", "k1", "y", 9, 4.0, 22), ("t", "k2", "", None, 0, 23), ("t", "k6", "x", 2, 1.0, 24)))

_BY_JSON = _batches((("j", '{"id":1.0,"z":"é"}', "x", 3, 1.5, 10), ("j", '{"id":2}', "x", 4, 2.5, 12)))
_MORE_BY_JSON = _batches((("j", '{"z": "\\u00e9", "id": 1}', "y", 9, 4.0, 22), ("j", '{ "id": 2 }', "", None, 0, 23)))

_MORE_BY_FIELD = _batches((("u", "x", "", 50, 1.0, 22), ("u", "y", "", 60, 2.0, 23), ("t", "k1", "y", 8, 0.5, 24)))


def _groups(name: str, sql: str, after: tuple[Batch, ...] = _MORE_GROUPS) -> GoldenState:
    return GoldenState(name, sql, _GROUPS, after)


def _joins(name: str, sql: str) -> GoldenState:
    return GoldenState(name, sql, _BOTH, _MORE_OF_BOTH)


_INTO = "INSERT INTO o SELECT STREAM"
STATES = (
    _groups("aggregate", f"{_INTO} g, SUM(a) AS s, COUNT(*) AS n, AVG(d) AS m FROM t GROUP BY g"),
    _groups("aggregate-kept", f"{_INTO} COLLECT(a, 3) AS last, FIRST(d) AS f, MAXK(d, 2) AS most FROM t GROUP BY g"),
    _groups(
        "aggregate-exact",
        f"SET error.policy.write='continue'; {_INTO} SUM(a) AS s, COUNT(*) AS n FROM t GROUP BY g",
    ),
    _groups("aggregate-having", f"{_INTO} SUM(a) AS s FROM t GROUP BY g HAVING SUM(a) > 5"),
    _groups("tumble", f"{_INTO} SUM(a) AS s FROM t WINDOW BY TUMBLE 15s GRACE BY 10s GROUP BY g"),
    _groups("hop", f"{_INTO} SUM(a) AS s FROM t WINDOW BY HOP 20s,10s GRACE BY 10s GROUP BY g"),
    _groups("session", f"{_INTO} SUM(a) AS s FROM t WINDOW BY SESSION 5s GRACE BY 10s GROUP BY g"),
    _groups(
        "final",
        f"SET emit='final'; {_INTO} SUM(a) AS s FROM t WINDOW BY TUMBLE 15s GRACE BY 10s GROUP BY g",
    ),
    _groups(
        "final-session",
        f"SET emit='final'; {_INTO} SUM(a) AS s FROM t WINDOW BY SESSION 5s GRACE BY 10s GROUP BY g",
    ),
    _groups("table", "INSERT INTO o SELECT TABLE g, SUM(a) AS s, LAST(d) AS d FROM t GROUP BY g", _CHANGES),
    GoldenState(
        "table-by-json", "INSERT INTO o SELECT TABLE g, SUM(a) AS s FROM j GROUP BY g", _BY_JSON, _MORE_BY_JSON
    ),
    _joins("streams", f"{_INTO} t.a AS a, u.a AS b FROM t INNER JOIN u ON t.g = u.g WITHIN 1m"),
    _joins("streams-outer", f"{_INTO} t.a AS a, u.a AS b FROM t FULL JOIN u ON t.g = u.g WITHIN 5s GRACE BY 2s"),
    _joins(
        "streams-in-windows",
        f"SET grace='2s'; {_INTO} COUNT(*) AS n FROM t JOIN u ON t.g = u.g WITHIN 5s WINDOW BY TUMBLE 1m GROUP BY t.g",
    ),
    _joins(
        "stream-with-table",
        f"WITH w AS (SELECT TABLE * FROM u); {_INTO} t.a AS a, w.a AS b FROM t LEFT JOIN w ON t.g = w.g",
    ),
    _joins("tables", "INSERT INTO o SELECT TABLE t.a AS a, u.a AS b FROM t INNER JOIN u"),
    _joins("tables-grouped", "INSERT INTO o SELECT TABLE SUM(t.a) AS s FROM t INNER JOIN u GROUP BY u.g"),
    _joins("tables-outer", "INSERT INTO o SELECT TABLE t.a AS a, u.a AS b FROM t FULL JOIN u"),
    GoldenState(
        "tables-by-field",
        "WITH keyed AS (SELECT TABLE * FROM u); "
        "INSERT INTO o SELECT TABLE t.a AS a, keyed.a AS b FROM t INNER JOIN keyed ON t.g = keyed._key",
        _BOTH,
        _MORE_BY_FIELD,
    ),
)


def write(state: GoldenState, engine: MemoryEngine) -> None:
    """Run the program over the batches `before`, and store its checkpoints."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        run = engine.run(state.plan, state.before, checkpoints=folder)
        assert run.error is None, run.error
        (folder / "program.json").write_text(json.dumps(fingerprint(state.plan).as_json(), indent=1) + "\n")
        _replace(folder, str(folder), _PATH_IN_ARCHIVE)
        FOLDER.mkdir(exist_ok=True)
        with tarfile.open(state.archive, "w:xz") as archive:
            for path in sorted(folder.rglob("*")):
                if path.is_file() and path.suffix != ".crc":
                    archive.add(path, str(path.relative_to(folder)), filter=_anonymous)


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def unpack(state: GoldenState, folder: Path) -> None:
    """Extract the checkpoints of a golden state, each into a folder with the name of its query, and `program.json`."""
    with tarfile.open(state.archive) as archive:
        archive.extractall(folder, filter="data")
    _replace(folder, _PATH_IN_ARCHIVE, str(folder))


_PATH_IN_ARCHIVE = "/where/the/checkpoints/are"
"""The folder of the checkpoints, as written in all archives."""


def _replace(folder: Path, old: str, new: str) -> None:
    """Replace a path in checkpoints: Spark writes absolute paths into the metadata of operators and reads them."""
    for path in folder.rglob("_metadata/*/*"):
        path.write_bytes(path.read_bytes().replace(old.encode(), new.encode()))


if __name__ == "__main__":
    missing = [state for state in STATES if "--all" in sys.argv or not state.archive.exists()]
    with memory_engine() as running:
        for each in missing:
            write(each, running)
            print(f"{each.archive.name}: {each.archive.stat().st_size} bytes")
