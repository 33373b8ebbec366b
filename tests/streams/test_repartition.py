"""State in another number of partitions: the queries continue it with the same results.

Only Spark can show which of its operators read a state that its offline operation has written.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from devkit.golden_states import STATES, GoldenState, unpack
from devkit.jars import jar_folder
from devkit.spark_rows import conf
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.engine.in_memory.queries import OutputRecord
from lsql_runner.engine.repartition import repartition
from lsql_runner.engine.rows import TopicRecord
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Catalog, Serde, TopicSchema
from lsql_runner.jvm.java import CLASS_ARCHIVE
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.continuation import continue_from
from lsql_runner.plan.fingerprint import Fingerprint, fingerprint
from lsql_runner.plan.queries import Plan
from lsql_runner.plan.repartitioning import fixed_operator
from lsql_runner.state.directory import StateDir
from lsql_runner.state.folder import LocalFolder
from lsql_runner.state.repartition import repartition_state
from lsql_runner.state.saved_state import Pinned, saved_state
from lsql_runner.types import LONG, STRING, Field, Struct
from tests.thorough import inputs

pytestmark = pytest.mark.timeout(300)

VALUE = Serde(JSON_FORMAT, Struct((Field("g", STRING), Field("a", LONG))))
CATALOG = Catalog({name: TopicSchema(name, Serde(STRING_FORMAT, STRING), VALUE) for name in "tu"})
DEADLINE_S = 120

SUM = "INSERT INTO o SELECT STREAM SUM(a) AS s FROM t"
PROGRAMS = {
    "windows": f"{SUM} WINDOW BY HOP 20s,10s GRACE BY 10s GROUP BY g",
    "sessions": f"SET emit='final'; {SUM} WINDOW BY SESSION 2s GRACE BY 3s GROUP BY g",
    "table": "INSERT INTO o SELECT TABLE g, SUM(a) AS s, COUNT(*) AS n FROM t GROUP BY g",
    "window over stream with table": "WITH w AS (SELECT TABLE * FROM u); "
    f"{SUM.replace('SUM(a)', 'SUM(t.a)')} INNER JOIN w ON t.g = w._key WINDOW BY TUMBLE 15s GRACE BY 10s GROUP BY w.g",
    "aggregate of joined tables": "INSERT INTO o SELECT TABLE t.g, SUM(u.a) AS s FROM t INNER JOIN u GROUP BY t.g",
}


@contextmanager
def state(root: Path, plan_fingerprint: Fingerprint, partitions: int) -> Iterator[StateDir]:
    """The directory of a processor with this program, in generation 1."""
    with closing(StateDir(root, "app")) as opened:
        pinned = Pinned(
            sql="", fingerprint=plan_fingerprint, schemas={}, generation=1, state_partitions=partitions, versions={}
        )
        opened.pin(pinned)
        yield opened


def written(records: Sequence[OutputRecord]) -> list[tuple[str, bytes | None, bytes | None, int]]:
    rows = [(record.topic, record.key, record.value, record.timestamp_ms) for record in records]
    return sorted(rows, key=repr)


def random_batches(numbers: int, rows: int = 40) -> list[list[TopicRecord]]:
    """Batches of records with twelve keys and groups, in event time 7 s apart; some are tombstones."""
    chosen = random.Random(5)
    return [
        [
            TopicRecord(
                topic=chosen.choice("tu"),
                key=b"k%d" % chosen.randrange(12),
                value=_value(chosen),
                timestamp_ms=1000 * (batch * 7 + chosen.randrange(10)),
                offset=batch * rows + row,
            )
            for row in range(rows)
        ]
        for batch in range(numbers)
    ]


def _value(chosen: random.Random) -> bytes | None:
    if chosen.random() < 0.05:
        return None
    return json.dumps({"g": f"k{chosen.randrange(12)}", "a": chosen.randrange(100)}).encode()


@pytest.mark.parametrize("name", inputs(PROGRAMS, {"windows", "aggregate of joined tables"}.__contains__))
def test_two_four_one_partitions_have_the_results_of_one_run(name: str, engine: MemoryEngine, tmp_path: Path) -> None:
    plan = plan_text(f"SET autocreate=true; SET error.policy.read='continue'; {PROGRAMS[name]}", CATALOG).plan
    batches = random_batches(6)
    session, records = engine.session, list[OutputRecord]()

    def run(partitions: int, generation: int, begin: int) -> None:
        with conf(session, "spark.sql.shuffle.partitions", str(partitions)):
            folder = tmp_path / "app" / str(generation)
            now = batches[begin : begin + 2]
            output = engine.run(plan, now, checkpoints=folder, already_read=batches[:begin])
        assert output.error is None
        records.extend(output.records)

    with state(tmp_path, fingerprint(plan), 2) as opened:
        run(2, 1, 0)
        for number, partitions in enumerate((4, 1), 1):
            changed = repartition_state(opened, partitions, lambda paths, n: repartition(session, paths, n))
            folders = opened.path / str(changed.generation) / "stateful-0/state/0"
            assert {path.name for path in folders.iterdir() if path.name.isdigit()} >= set(map(str, range(partitions)))
            run(partitions, changed.generation, 2 * number)

    assert written(records) == written(engine.run(plan, batches).records)


@pytest.mark.parametrize("golden", STATES, ids=lambda golden: golden.name)
def test_a_golden_state_is_divided_and_continued_or_refused(
    golden: GoldenState, engine: MemoryEngine, tmp_path: Path
) -> None:
    unpack(golden, tmp_path / "app/1")
    described = Fingerprint.from_json(json.loads((tmp_path / "app/1/program.json").read_text()))
    with state(tmp_path, described, 1) as opened:
        if any(map(fixed_operator, described.stateful)):
            with pytest.raises(LsqlError, match="PARTITIONS_FIXED"):
                repartition_state(opened, 3, lambda paths, n: repartition(engine.session, paths, n))
            return
        repartition_state(opened, 3, lambda paths, n: repartition(engine.session, paths, n))

    plan = continue_from(golden.plan, described).plan
    with conf(engine.session, "spark.sql.shuffle.partitions", "3"):
        continued = engine.run(plan, golden.after, checkpoints=tmp_path / "app/2", already_read=golden.before)

    uninterrupted = engine.run(golden.plan, (*golden.before, *golden.after)).records
    assert continued.error is None
    later = [record for record in uninterrupted if record.batch >= len(golden.before)]
    assert written(continued.records) == written(later)


def test_a_kill_of_the_command_leaves_the_old_state_and_the_command_can_be_repeated(
    engine: MemoryEngine, tmp_path: Path
) -> None:
    plan: Plan = plan_text(f"SET autocreate=true; {PROGRAMS['windows']}", CATALOG).plan
    batches = random_batches(4)
    path = tmp_path / "app"
    with state(tmp_path, fingerprint(plan), 1):
        first = engine.run(plan, batches[:2], checkpoints=path / "1")

    with start(tmp_path) as command:
        try:
            wait_for(path / "2/stateful-0/offsets/2", command)  # Spark has begun
        finally:
            command.kill()

    killed = saved_state(LocalFolder(path)).pinned
    assert killed is not None
    assert (killed.generation, killed.state_partitions) == (1, 1)
    second = engine.run(plan, batches[2:3], checkpoints=path / "1", already_read=batches[:2])
    wait_for_lock(tmp_path)
    output, _ = (repeated := start(tmp_path)).communicate(timeout=DEADLINE_S)
    assert repeated.returncode == 0, output
    pinned = saved_state(LocalFolder(path)).pinned
    assert pinned is not None
    assert (pinned.generation, pinned.state_partitions) == (2, 4)
    with conf(engine.session, "spark.sql.shuffle.partitions", "4"):
        third = engine.run(plan, batches[3:], checkpoints=path / "2", already_read=batches[:3])
    records = (*first.records, *second.records, *third.records)
    assert written(records) == written(engine.run(plan, batches).records)


def start(root: Path) -> subprocess.Popen[str]:
    """`lsql state repartition 4`, with the jars of set-up."""
    environment = os.environ | {
        "SQL_APP_ID": "app",
        "SQL_STATE_STORE_DIR": str(root),
        "LSQL_JARS_DIR": str(jar_folder("jars")),
        "LSQL_CLASS_ARCHIVE": str(CLASS_ARCHIVE),
        "LSQL_HEAP_MIB": "256",
    }
    command = [str(Path(sys.prefix, "bin", "lsql")), "state", "repartition", "4"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_for(path: Path, command: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not path.exists():
        assert command.poll() is None, command.communicate()[0]
        assert time.monotonic() < deadline, f"no {path}"
        time.sleep(0.01)


def wait_for_lock(root: Path) -> None:
    """Wait for the end of the JVM of the killed command, which holds the lock."""
    StateDir(root, "app", wait_s=DEADLINE_S).close()
