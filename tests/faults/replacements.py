"""The leader of two processes is killed, suspended and stopped while a load runs, and what must be true afterwards.

The state may be on a volume or in a store.
"""

from __future__ import annotations

import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

from devkit.broker import Broker
from devkit.lease_server import LeaseServer
from devkit.runner import has_ended
from devkit.standby import await_standby, await_state, pair, processes_of, send
from devkit.waiting import wait_until
from tests.conftest import TopicFactory
from tests.kafka.load_of_workers import DEADLINE_S, Load

TAKE_OVER_S = 30
"""A generous bound for busy machines: docs/performance.md has the times of an idle one."""
ENDS = ("PROCESSOR_REPLACED", "STATE_LOCK_EXPIRED")
"""Why a suspended process ends. At a URI, its lock has expired too if it was suspended for 15 s."""
MAX_RECORDS = 500
"""The most records that a batch reads of each partition."""


def first_record_s(load: Load, lease: LeaseServer, term: int, began: float) -> float:
    """The seconds from a moment to the first record of the target in a term."""
    wait_until(lambda: lease.record.transitions == term, f"term {term}", DEADLINE_S)
    before = load.written(load.copies)
    load.produce(200)
    load.wait_for_written(load.copies, before + 1)
    return time.monotonic() - began


def repeated(results: Counter[Any]) -> int:
    """How many results were written in addition to the first of each."""
    return sum(times - 1 for times in results.values())


def check_replacements(
    broker: Broker, topic: TopicFactory, folders: tuple[Path, Path], guarantee: str, **env: str
) -> None:
    """Kill, suspend and stop the leader. Nothing is lost, and with exactly-once nothing is written twice.

    Args:
        broker: of the topics.
        topic: creates them.
        folders: the state directories of the two processes.
        guarantee: of the program. With at-least-once, only the Python processes are suspended.
        env: settings of both processes.
    """
    load = Load(broker, topic, guarantee)
    load.sql = load.sql.replace("SET processing.mode=batch;", "")  # both modes: the copies have no batches
    load.produce(2_000)
    limit = {"LSQL_MAX_RECORDS_PER_BATCH": str(MAX_RECORDS)}
    with pair(broker, load.sql, f"app-{load.source}", folders, **limit, **env) as (first, second, lease):
        first.read_to(load.produced, DEADLINE_S)
        assert second.stream()["standby"] == {
            "role": "leader",
            "leader": lease.record.holder,
            "address": f"127.0.0.1:{first.port}",
            "term": 1,
            "error": None,
        }

        killed_at = time.monotonic()
        send(processes_of(first), signal.SIGKILL)
        killed_s = first_record_s(load, lease, 2, killed_at)
        second.read_to(load.produced, DEADLINE_S)

        first.start()
        await_standby(first)
        jvm, *python = processes_of(second)
        zombie = [jvm, *python] if guarantee == "exactly_once_v2" else python
        load.produce(20_000)
        load.wait_for_written(load.copies, 5_000)
        saved = sum(place["position"] or 0 for place in second.stream()["offsets"])
        suspended_at = time.monotonic()
        send(zombie, signal.SIGSTOP)
        try:
            suspended_s = first_record_s(load, lease, 3, suspended_at)
            if "LSQL_STATE_URI" in env:
                # A process that continues while its transactions are taken over may begin one, which is aborted. On a
                # volume it ends before, because no request is needed for it.
                await_state(first, "running")
            unsaved = load.produced - saved
            # A JVM that was not suspended with its Python process finds another owner, and ends.
            wait_until(lambda: jvm in zombie or has_ended(jvm), "the end of the JVM", DEADLINE_S)
        finally:
            send(zombie, signal.SIGCONT)
        wait_until(lambda: second.exit_code is not None, "the end of the zombie", DEADLINE_S)
        first.read_to(load.produced, DEADLINE_S)
        print(f"first record after {killed_s:.1f} s (killed) and {suspended_s:.1f} s (suspended)")

        assert second.exit_code == 3
        assert any(code in second.output() for code in ENDS), second.output()[-3000:]
        assert max(killed_s, suspended_s) < TAKE_OVER_S
        assert first.stream()["restarts"] == 0

        first.stop()
        assert lease.record.holder == ""
        assert "PROCESSOR_REPLACED" not in first.output()
    load.check_nothing_lost()
    if guarantee != "at_least_once":
        load.check()
    # The killed leader had saved all positions. What the suspended one had read and not saved is written again. A JVM
    # whose Python process alone is suspended saves nothing, and writes until it is replaced.
    print("repeated:", repeated(load.copied()), repeated(load.counted(load.counts)), "of", unsaved)
    assert repeated(load.copied()) <= unsaved
    assert repeated(load.counted(load.counts)) <= unsaved
    assert repeated(load.counted(load.overlapping)) <= 2 * unsaved
