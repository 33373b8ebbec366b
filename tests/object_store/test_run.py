"""A processor whose state is in a real store: killed, continued on this machine and on another one, refused.

Fakes have neither the files of Spark nor a store that two processes see.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import uuid
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.object_store import SECRET_KEY, ObjectStore
from devkit.records import Record
from devkit.runner import LSQL, Runner
from devkit.workers import WorkerProcess, free_ports, worker_environment
from tests.conftest import TopicFactory
from tests.faults.programs import CONTINUOUS, GROUPS, Suite
from tests.faults.scenario import Scenario

pytestmark = pytest.mark.timeout(300)

BEFORE = 60
DEADLINE_S = 90


@pytest.mark.parametrize(
    ("suite", "machine"), [(GROUPS, "another"), (CONTINUOUS, "state")], ids=["groups", "continuous"]
)
def test_a_killed_processor_continues_from_the_store_with_each_result_once(
    broker: Broker, store: ObjectStore, tmp_path: Path, suite: Suite, machine: str
) -> None:
    uri = f"{store.uri}/{uuid.uuid4().hex}"
    with Scenario(broker, suite, tmp_path, env={**store.variables(), "LSQL_STATE_URI": uri}) as scenario:
        runner = scenario.start()
        scenario.feed(BEFORE)
        scenario.catch_up()
        with scenario.light_load(20):
            runner.wait_for(lambda stream: sum(place["position"] or 0 for place in stream["offsets"]) > BEFORE)
            jvm = runner.jvm_pid()
            os.killpg(runner.pid, signal.SIGKILL)
            os.kill(jvm, signal.SIGKILL)
            runner.wait(DEADLINE_S)
            scenario.start(state=tmp_path / machine)
        scenario.catch_up()

        scenario.check("killed with the state in a store")
        [folder] = (tmp_path / machine).iterdir()
        assert {path.name for path in folder.iterdir()} == {"lock", "machine"}
        outputs = "".join(each.output() for each in scenario.starts)
        assert SECRET_KEY not in outputs + scenario.runner.get("/stream").body["sql"]
        assert scenario.runner.traces() == []


def test_state_of_a_worker_without_credentials_is_divided_and_continued_by_the_processor(
    broker: Broker, store: ObjectStore, tmp_path: Path
) -> None:
    port = free_ports()
    at_uri = {**store.variables(), "LSQL_STATE_URI": f"{store.uri}/{uuid.uuid4().hex}"}
    with Scenario(broker, GROUPS, tmp_path, env={**at_uri, **worker_environment(port)}) as scenario:
        runner = scenario.start()
        with WorkerProcess(port, LSQL_STATE_JARS=at_uri["LSQL_STATE_JARS"]):
            scenario.feed(BEFORE)
            scenario.catch_up()
            runner.stop()
        scenario.env = at_uri
        of_command = {"SQL_APP_ID": scenario.app_id, "SQL_STATE_STORE_DIR": str(tmp_path / "another")}
        done = subprocess.run(
            [str(LSQL), "state", "repartition", "3"],
            env={**os.environ, **at_uri, **of_command},
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        scenario.start()
        scenario.feed(BEFORE)
        scenario.catch_up()

        scenario.check("from a worker back to the processor, in other partitions")


def test_state_is_converted_for_another_aggregate_and_read_by_the_command(
    broker: Broker, store: ObjectStore, tmp_path: Path, topic: TopicFactory
) -> None:
    source, target = topic(), topic()
    at_uri = {**store.variables(), "LSQL_STATE_URI": f"{store.uri}/{uuid.uuid4().hex}"}
    count = f"INSERT INTO {target} SELECT STREAM COUNT(*) AS c FROM {source} GROUP BY g"
    declared = {source: {"value": {"format": "JSON", "schema": {"g": "string", "n": "long"}}}}

    def run(sql: str, numbers: range) -> None:
        broker.produce(source, [Record(b"k", json.dumps({"g": "a", "n": n}).encode()) for n in numbers])
        with Runner(broker.bootstrap, sql, "converted", tmp_path, LSQL_TOPICS=json.dumps(declared), **at_uri) as runner:
            runner.read_to(numbers.stop)

    run(count, range(3))
    run(count.replace("AS c", "AS c, SUM(n) AS s"), range(3, 5))
    of_command = {"SQL_APP_ID": "converted", "SQL_STATE_STORE_DIR": str(tmp_path / "another"), **at_uri}
    read = json.loads(state_command(of_command, "read", "aggregate-0", "--key", "a"))

    assert json.loads(broker.consume_all(target)[-1].value or b"") == {"c": 5, "s": 7}
    assert [row["value"] for row in read["rows"]] == [{"c": 5, "s": 7}]


def state_command(environment: Mapping[str, str], *arguments: str) -> str:
    """The output of `lsql state` with these arguments."""
    done = subprocess.run(
        [LSQL, "state", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_snapshot_of_a_running_processor_is_restored_and_cloned(
    broker: Broker, store: ObjectStore, tmp_path: Path, topic: TopicFactory
) -> None:
    source, target = topic(), topic()
    at_uri = {**store.variables(), "LSQL_STATE_URI": f"{store.uri}/{uuid.uuid4().hex}"}
    sql = f"SET processing.mode='batch'; INSERT INTO {target} SELECT STREAM COUNT(*) AS c FROM {source} GROUP BY g"
    declared = {source: {"value": {"format": "JSON", "schema": {"g": "string"}}}}
    of_command = {"SQL_APP_ID": "kept", "SQL_STATE_STORE_DIR": str(tmp_path / "another"), **at_uri}

    state = partial(state_command, of_command)

    def produce(count: int) -> None:
        broker.produce(source, [Record(b"k", b'{"g": "a"}')] * count)

    produce(3)
    with Runner(broker.bootstrap, sql, "kept", tmp_path, LSQL_TOPICS=json.dumps(declared), **at_uri) as running:
        running.read_to(3)
        state("snapshot", "monday")
        produce(2)
        running.read_to(5)
        refused = running.post("/snapshots/monday/restore")
        running.post("/stop")
        running.reach("stopped")
        restored = running.post("/snapshots/monday/restore")
        running.post("/start")
        running.reach("running")
        running.wait_for(lambda s: s["recordsIn"] == 7)
        cloned = running.post("/snapshots/monday/clone", body={"appId": "trial"})
        again = running.post("/snapshots/monday/clone", body={"appId": "trial"})
        taken = running.post("/snapshots", body={"name": "tuesday"})
        [listed, _] = json.loads(state("list", "--json"))
        state("prune", "--keep", "0")
        left = running.get("/snapshots")

    assert (refused.status, refused.body["code"]) == (409, "RESTORE_REFUSED")
    assert (restored.status, restored.body["positions"]) == (200, {source: {"0": 3}})
    assert (taken.status, taken.body["positions"]) == (201, {source: {"0": 5}})
    assert listed["positions"] == {source: {"0": 3}}
    results = [json.loads(record.value or b"")["c"] for record in broker.consume_all(target)]
    assert results == [3, 5, 5], "the results after the snapshot are written again"
    assert left.body == []
    of_clone = json.loads(state_command({**of_command, "SQL_APP_ID": "trial"}, "read", "aggregate-0"))
    assert (cloned.status, again.status, again.body["code"]) == (201, 409, "STATE_EXISTS")
    assert [row["value"] for row in of_clone["rows"]] == [{"c": 3}]


@pytest.mark.parametrize(
    "wrong",
    [{"LSQL_STATE_URI": "s3a://missing-bucket/app"}, {"LSQL_STATE_OPTION_FS_S3A_SECRET_KEY": "another-secret"}],
    ids=["bucket", "credentials"],
)
def test_a_store_that_refuses_the_first_start_ends_it_with_what_to_do(
    broker: Broker, store: ObjectStore, tmp_path: Path, wrong: dict[str, str]
) -> None:
    topic = f"in-{uuid.uuid4().hex[:8]}"
    broker.create_topic(topic)
    sql = f"SET autocreate=true; INSERT INTO `{topic}-out` SELECT STREAM * FROM `{topic}`"
    variables = store.variables() | {"LSQL_STATE_URI": f"{store.uri}/app"} | wrong

    output = Runner(broker.bootstrap, sql, f"app-{topic}", tmp_path, **variables).run_until_refused()

    assert "STATE_STORE_REFUSED" in output
    assert variables["LSQL_STATE_URI"] in output
    assert "correct the credentials" in output
    assert "Traceback" not in output
    assert "\tat " not in output
    assert SECRET_KEY not in output
