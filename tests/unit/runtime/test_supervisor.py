"""The supervisor's thread on fakes. The tests of the control loop run its turns one by one."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Set
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from devkit.fake_leadership import FakeLeadership
from devkit.fake_runtime import APP_ID, FakeRuntime, state_in
from devkit.memory_store import MemoryStore, unreachable
from lsql_runner.engine.port import StoredRows, StoreRead
from lsql_runner.errors import LsqlError
from lsql_runner.events.audit import Audited
from lsql_runner.events.batches import Partition
from lsql_runner.events.processor import AuditRecorded, Event, StateChanged
from lsql_runner.events.state import State
from lsql_runner.lease.election import Term
from lsql_runner.runtime.audit import AuditTrail
from lsql_runner.runtime.dependencies import RunDependencies
from lsql_runner.runtime.port import Identity
from lsql_runner.runtime.supervisor import Supervisor
from lsql_runner.start.request import request_of
from lsql_runner.state.directory import StateDir

FILTER = "INSERT INTO o SELECT STREAM * FROM t"
P0 = Partition("t", 0)
DEADLINE_S = 20.0


class RunningSupervisor:
    """A launched supervisor on fakes, its state directory and its events."""

    def __init__(self, runtime: FakeRuntime, **env: str) -> None:
        self.runtime = runtime
        settings = runtime.settings(**env)
        shared = runtime.leadership is not None
        self.state = StateDir(settings.state_dir, settings.app_id, shared=shared)
        self.at_uri = None if runtime.store is None else state_in(runtime.store, self.state, shared)
        self.supervisor = Supervisor(
            RunDependencies(
                request=request_of(settings),
                identity=Identity(app_id=APP_ID, sql=settings.sql, user="", version="0", guarantee="at_least_once"),
                brokers=runtime.brokers,
                registry=None,
                engine=runtime.engine,
                state=self.state,
                open_state=self.at_uri.open if self.at_uri else lambda: None,
                leadership=runtime.leadership,
            )
        )
        self.events: list[Event] = []
        self.supervisor.listen(self.events.append)

    def launch(self) -> RunningSupervisor:
        self.supervisor.launch()
        return self

    def audited(self) -> list[Audited]:
        return [event.record for event in self.events if isinstance(event, AuditRecorded)]

    def close(self) -> None:
        self.supervisor.close()
        if self.at_uri is not None:
            self.at_uri.close()
        self.state.close()

    def reach(self, state: State) -> None:
        wait_until(lambda: self.supervisor.status().state is state)


def wait_until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def runtime(tmp_path: Path) -> FakeRuntime:
    runtime = FakeRuntime(tmp_path, FILTER)
    runtime.brokers.add_topic("t")
    runtime.brokers.add_topic("o")
    runtime.brokers.produce("t", (b"k", b'{"a": 3}'))
    return runtime


@pytest.fixture
def running(runtime: FakeRuntime) -> Iterator[RunningSupervisor]:
    with closing(RunningSupervisor(runtime).launch()) as running:
        running.reach(State.RUNNING)
        yield running


def test_it_runs_stops_and_starts(running: RunningSupervisor) -> None:
    running.supervisor.stop("ada")
    running.reach(State.STOPPED)
    assert running.state.stopped_by() == "ada"

    running.supervisor.start("ada")
    running.reach(State.RUNNING)

    moves = [event.new for event in running.events if isinstance(event, StateChanged)]
    assert moves == [State.RUNNING, State.STOPPING, State.STOPPED, State.STARTING, State.RUNNING]
    assert running.state.stopped_by() is None


def test_another_thread_commits_the_position_and_measures_the_lag(running: RunningSupervisor) -> None:
    running.runtime.engine.run_batches()

    wait_until(lambda: running.runtime.brokers.group_positions(APP_ID, [P0]) == {P0: 1})
    wait_until(lambda: running.supervisor.status().lags == {P0: 0})


def test_close_ends_the_supervisor_and_commits_the_position(running: RunningSupervisor) -> None:
    running.runtime.engine.run_batches()

    running.supervisor.close()

    assert running.supervisor.status().state is State.ENDED
    assert running.runtime.brokers.group_positions(APP_ID, [P0]) == {P0: 1}


def test_a_command_that_the_state_does_not_allow_is_refused(running: RunningSupervisor) -> None:
    running.supervisor.close()

    with pytest.raises(LsqlError) as caught:
        running.supervisor.stop("ada")

    assert caught.value.code == "TRANSITION_REFUSED"
    assert running.state.stopped_by() is None


def test_a_snapshot_is_restored_between_a_stop_and_a_start(running: RunningSupervisor) -> None:
    snapshots = running.supervisor.snapshots
    running.runtime.engine.run_batches()

    snapshots.take("monday", "ada")
    with pytest.raises(LsqlError, match="RESTORE_REFUSED"):
        snapshots.restore("monday", "eve")
    running.supervisor.stop("ada")
    running.reach(State.STOPPED)
    restored = snapshots.restore("monday", "ada")
    running.supervisor.start("ada")
    running.reach(State.RUNNING)
    [deleted] = snapshots.prune(0, "ada")

    assert restored.positions == {P0: 1}
    pinned = running.state.saved().pinned
    assert pinned is not None
    assert pinned.generation == 2
    assert (deleted.name, snapshots.all()) == ("monday", [])
    changes = [
        (record.action, record.user, record.result, record.after)
        for record in running.audited()
        if record.action in ("snapshot", "restore", "prune")
    ]
    assert changes == [
        ("snapshot", "ada", "done", {"snapshot": "monday"}),
        ("restore", "eve", "RESTORE_REFUSED", None),
        ("restore", "ada", "done", {"snapshot": "monday"}),
        ("prune", "ada", "done", {"keep": "0"}),
    ]


def test_another_processor_begins_with_a_snapshot(running: RunningSupervisor) -> None:
    snapshots, root = running.supervisor.snapshots, running.state.path.parent
    running.runtime.engine.run_batches()
    snapshots.take("monday", "ada")

    cloned = snapshots.clone("monday", "trial", "ada")
    with closing(StateDir(root, "trial")) as other:
        pinned = other.saved().pinned
        with pytest.raises(LsqlError, match="STATE_DIR_IN_USE"):
            snapshots.clone("monday", "trial", "eve")
    with pytest.raises(LsqlError, match="STATE_EXISTS"):
        snapshots.clone("monday", "trial", "eve")
    with pytest.raises(LsqlError, match="STATE_DIR_IN_USE"):
        snapshots.clone("monday", APP_ID, "eve")
    with pytest.raises(LsqlError, match="SNAPSHOT_MISSING"):
        snapshots.clone("tuesday", "another", "eve")

    assert cloned.positions == {P0: 1}
    assert pinned is not None
    assert (pinned.generation, pinned.sql) == (1, FILTER)
    clones = [each for each in running.audited() if each.action == "clone"]
    assert (clones[0].result, clones[0].after) == ("done", {"snapshot": "monday", "processor": "trial"})
    assert [each.result for each in clones[1:]] == [
        *("STATE_DIR_IN_USE", "STATE_EXISTS", "STATE_DIR_IN_USE", "SNAPSHOT_MISSING")
    ]


def test_another_processor_begins_with_a_snapshot_at_the_same_uri(runtime: FakeRuntime) -> None:
    runtime.store = store = MemoryStore()
    with closing(RunningSupervisor(runtime, LSQL_STATE_URI="s3a://bucket").launch()) as running:
        running.reach(State.RUNNING)
        runtime.engine.run_batches()
        running.supervisor.snapshots.take("monday", "ada")
        running.supervisor.snapshots.clone("monday", "trial", "ada")
        trial = running.state.folder.sibling("trial")

        assert {"program.json", "lock/1"} <= trial.all_files().keys()
        assert json.loads(trial.read("lock/1") or b"")["released"]
    assert any("/trial/1/" in path for path in store.files)


def test_nothing_is_restored_after_the_end(running: RunningSupervisor) -> None:
    running.supervisor.snapshots.take("monday", "ada")
    running.supervisor.close()

    with pytest.raises(LsqlError, match="RESTORE_REFUSED"):
        running.supervisor.snapshots.restore("monday", "ada")


def test_it_describes_its_program(running: RunningSupervisor) -> None:
    assert "read t" in running.supervisor.description.plan
    assert {"nodes", "edges"} <= running.supervisor.description.topology.keys()
    assert running.supervisor.health().ok


def states(record: Audited) -> tuple[str, str, object, object]:
    """The action, the user, and the states before and after."""
    return record.action, record.user, (record.before or {}).get("state"), (record.after or {}).get("state")


def test_starts_and_stops_are_audited_with_user_and_states(running: RunningSupervisor) -> None:
    running.supervisor.stop("ada")
    running.reach(State.STOPPED)
    running.supervisor.start("eve")
    running.reach(State.RUNNING)
    running.supervisor.close()

    deploy, *others = running.audited()
    assert deploy.action == "deploy"
    assert {(r.processor, r.result) for r in others} == {(APP_ID, "done")}
    assert [states(r) for r in others] == [
        ("start", "unknown", "ended", "starting"),
        ("stop", "ada", "running", "stopped"),
        ("start", "eve", "stopped", "starting"),
        ("stop", "unknown", "running", "ended"),
    ]


def test_the_audit_log_has_the_owner_and_the_workload(runtime: FakeRuntime) -> None:
    with closing(RunningSupervisor(runtime, LSQL_USER="ada", LSQL_WORKLOAD="fleet/StatefulSet/vehicles")) as running:
        running.launch()
        running.reach(State.RUNNING)

    deploy = running.audited()[0]
    assert (deploy.user, deploy.namespace, deploy.kind) == ("ada", "fleet", "StatefulSet")


def test_a_refused_request_is_audited_with_its_error(running: RunningSupervisor) -> None:
    running.supervisor.close()
    with pytest.raises(LsqlError):
        running.supervisor.stop("ada")

    last = running.audited()[-1]
    assert (last.action, last.user, last.result, last.before, last.after) == (
        "stop",
        "ada",
        "TRANSITION_REFUSED",
        None,
        None,
    )


def test_a_request_that_the_api_refuses_is_audited(running: RunningSupervisor) -> None:
    running.supervisor.audit_refusal("stop", "10.0.0.7", LsqlError("API_TOKEN_MISSING", action="stop"))

    last = running.audited()[-1]
    assert (last.action, last.user, last.result, last.before) == ("stop", "10.0.0.7", "API_TOKEN_MISSING", None)
    assert running.supervisor.status().state is State.RUNNING


def test_reads_of_a_minute_are_one_line_for_each_user_and_store(running: RunningSupervisor) -> None:
    clock = [0]
    dependencies = replace(running.supervisor._dependencies, now_ms=lambda: clock[0])
    trail = AuditTrail(dependencies, running.supervisor._loop.machine)
    for at_ms, user, store in (
        (0, "ada", "a"),
        (0, "ada", "b"),
        (0, "bob", "a"),
        (59_999, "ada", "a"),
        (60_000, "ada", "a"),
    ):
        clock[0] = at_ms
        trail.query(store, user)

    lines = [record for record in running.audited() if record.action == "query"]
    assert [(line.user, line.after) for line in lines] == [
        ("ada", {"store": "a"}),
        ("ada", {"store": "b"}),
        ("bob", {"store": "a"}),
        ("ada", {"store": "a"}),
    ]


def test_a_start_that_the_state_refuses_is_audited_with_its_error(runtime: FakeRuntime) -> None:
    """What it would have deployed is not saved: the next start of the former program changes nothing."""
    count = "INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t GROUP BY a"
    audited = []
    for sql in (count, count.replace("GROUP BY", "WINDOW BY TUMBLE 1m GROUP BY"), count):
        runtime.sql = sql
        with closing(RunningSupervisor(runtime).launch()) as running:
            running.reach(State.FAILED if "WINDOW" in sql else State.RUNNING)
            audited += [(record.action, record.result) for record in running.audited() if record.action == "deploy"]

    assert audited == [("deploy", "done"), ("deploy", "STATE_INCOMPATIBLE")]


def test_a_changed_program_and_changed_settings_are_audited_with_their_values(runtime: FakeRuntime) -> None:
    def deployed(**env: str) -> list[Audited]:
        with closing(RunningSupervisor(runtime, LSQL_USER="ada", **env).launch()) as running:
            return [record for record in running.audited() if record.action == "deploy"]

    [first] = deployed(LSQL_THREADS="2")
    assert (first.before, first.user) == (None, "ada")
    assert first.after is not None
    assert (first.after["LSQL_THREADS"], first.after["version"]) == ("2", "0")
    assert deployed(LSQL_THREADS="2") == []

    [changed] = deployed(LSQL_THREADS="4", LSQL_SINK_SHOP_URL="redis://cache:6379")
    assert changed.before == {"LSQL_THREADS": "2"}
    assert changed.after == {"LSQL_THREADS": "4", "LSQL_SINK_SHOP_URL": "redis://cache:6379"}

    runtime.sql = FILTER + " WHERE a > 1"
    [program] = deployed(LSQL_THREADS="4", LSQL_SINK_SHOP_URL="redis://cache:6379")
    assert program.before is not None
    assert program.after is not None
    assert list(program.before) == list(program.after) == ["program"]
    assert program.before["program"] == first.after["program"] != program.after["program"]


SECRETS = {
    "SASL_PASSWORD": "planted-1",
    "SASL_JAAS_CONFIG": "planted-2",
    "SSL_KEYSTORE_KEY": "planted-3",
    "LSQL_SCHEMA_REGISTRY_PASSWORD": "planted-4",
    "LSQL_SCHEMA_REGISTRY_KEY": "planted-5",
    "LSQL_SCHEMA_REGISTRY_KEY_PASSWORD": "planted-6",
    "LSQL_SINK_SHOP_URL": "redis://cache:6379",
    "LSQL_SINK_SHOP_PASSWORD": "planted-7",
    "JAVA_OPTS": "-Dpassword=planted-8",
    "LSQL_API_TOKEN": "planted-9-planted",
}


def test_credentials_are_neither_audited_nor_saved(runtime: FakeRuntime) -> None:
    with closing(RunningSupervisor(runtime, **SECRETS).launch()) as running:
        assert "planted" not in str(running.audited())

    files = [file for file in running.state.path.iterdir() if file.is_file()]
    assert "deployment.json" in [file.name for file in files]
    assert [file.name for file in files if "planted" in file.read_text()] == []


def test_a_deployed_program_that_is_refused_is_audited_and_changes_nothing(runtime: FakeRuntime) -> None:
    runtime.sql = "INSERT INTO o SELECT STREAM * FROM missing"
    with closing(RunningSupervisor(runtime)) as running:
        with pytest.raises(LsqlError):
            running.launch()

        assert [(r.action, r.result) for r in running.audited()] == [("deploy", "TOPIC_UNKNOWN")]
        assert running.state.deployment() is None


def test_a_deployment_that_cannot_be_saved_does_not_stop_the_start(
    runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_state: StateDir, _deployment: object) -> None:
        raise LsqlError("STATE_DIR_UNWRITABLE", path="/state", reason="No space left on device")

    monkeypatch.setattr(StateDir, "set_deployment", refuse)

    with closing(RunningSupervisor(runtime).launch()) as running:
        running.reach(State.RUNNING)
        assert [record.action for record in running.audited()] == ["deploy", "start"]


def test_while_the_store_of_the_state_is_away_a_stop_is_refused_and_the_start_is_audited_later(
    runtime: FakeRuntime,
) -> None:
    runtime.env = {"LSQL_STATE_URI": "s3a://bucket"}
    runtime.store = store = MemoryStore(fails=unreachable)
    with closing(RunningSupervisor(runtime).launch()) as running:
        running.reach(State.WAITING)
        with pytest.raises(LsqlError, match="STATE_STORE_UNREACHABLE"):
            running.supervisor.stop("ada")
        assert [(record.action, record.result) for record in running.audited()] == [("stop", "STATE_STORE_UNREACHABLE")]

        store.fails = lambda _: None
        running.reach(State.RUNNING)
        wait_until(lambda: len(running.audited()) == 3)

        assert [record.action for record in running.audited()] == ["stop", "deploy", "start"]
        assert "store://bucket/app/deployment.json" in store.files


def test_the_end_of_a_leader_is_announced_before_its_queries_stop_and_the_lease_released_after(
    runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    leadership = FakeLeadership()
    leadership.term = Term(1, "this")
    runtime.leadership = leadership
    stop = runtime.engine.stop

    def recorded_stop(*, drain: Set[str]) -> None:
        leadership.calls.append("stop")
        stop(drain=drain)

    monkeypatch.setattr(runtime.engine, "stop", recorded_stop)
    with closing(RunningSupervisor(runtime).launch()) as running:
        running.reach(State.RUNNING)

    assert leadership.calls == ["announce_end", "stop", "release"]


def test_a_leader_gives_up_the_lock_of_its_state_before_another_process_may_take_it(
    runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    leadership = FakeLeadership()
    leadership.term = Term(1, "this")
    runtime.leadership, runtime.store = leadership, MemoryStore()
    released: list[bool] = []

    def release() -> None:
        content = store.root().read("app/lock/1") or b"{}"
        released.append(json.loads(content)["released"])

    store = runtime.store
    monkeypatch.setattr(leadership, "release", release)
    with closing(RunningSupervisor(runtime, LSQL_STATE_URI="s3a://bucket").launch()) as running:
        running.reach(State.RUNNING)

    assert released == [True]


def test_a_standby_reads_the_saved_state_and_not_that_of_its_warm_up(runtime: FakeRuntime) -> None:
    saved = StoredRows(rows="[]", cursor=None, batch=0, positions={}, watermark_ms=None, planned_ms=0)
    with closing(RunningSupervisor(runtime).launch()) as before:
        before.reach(State.RUNNING)
    runtime.leadership = FakeLeadership()
    runtime.engine.saved_rows = saved
    runtime.engine.reads.clear()

    with closing(RunningSupervisor(runtime).launch()) as standby:
        standby.reach(State.STANDBY)
        answers = [standby.supervisor.read_store(StoreRead(store="s")) for _ in range(2)]

    assert answers == [saved, saved]
    assert runtime.engine.reads == []
    assert [read.store for _, _, read in runtime.engine.saved_reads] == ["s", "s"]
    (plan, _, _), (again, _, _) = runtime.engine.saved_reads
    assert plan is again, "it is planned once"
