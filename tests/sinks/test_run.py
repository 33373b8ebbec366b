"""A processor between a real broker and real servers: killed during a batch, cut off from its server, refused."""

from __future__ import annotations

import json
import shutil
import uuid
from collections import Counter
from pathlib import Path

import pytest

from devkit import postgres as pg
from devkit import redis as rd
from devkit.broker import Broker
from devkit.postgres import Postgres
from devkit.records import Record
from devkit.redis import Redis
from devkit.runner import Runner
from devkit.waiting import wait_until

pytestmark = pytest.mark.timeout(900)

KEYS = 500
BACKLOG = 60_000
DEADLINE_S = 240


def variables(postgres: Postgres, redis: Redis | None = None) -> dict[str, str]:
    environment = {
        "LSQL_SINK_SHOP_URL": postgres.url,
        "LSQL_SINK_SHOP_USER": pg.USER,
        "LSQL_SINK_SHOP_PASSWORD": pg.PASSWORD,
    }
    if redis is not None:
        environment |= {"LSQL_SINK_CACHE_URL": redis.url, "LSQL_SINK_CACHE_PASSWORD": rd.PASSWORD}
    return environment


class NumberedSource:
    """A topic of two partitions with numbered records, the count of its records, and the name of a table for them."""

    def __init__(self, broker: Broker) -> None:
        mark = uuid.uuid4().hex[:8]
        self.broker, self.topic, self.table = broker, f"in-{mark}", f"t_{mark}"
        self.produced = 0
        broker.create_topic(self.topic, 2)

    def produce(self, count: int) -> None:
        numbers = range(self.produced, self.produced + count)
        self.broker.produce(self.topic, [_record(number) for number in numbers])
        self.produced += count

    def delete(self, key: int) -> None:
        self.broker.produce(self.topic, [Record(str(key).encode(), None, partition=key % 2)])
        self.produced += 1


def _record(number: int) -> Record:
    key = number % KEYS
    return Record(str(key).encode(), json.dumps({"n": number}).encode(), partition=key % 2)


def pause_at_row(postgres: Postgres, table: str, n: int, seconds: int = 600) -> None:
    """Make the server sleep when it inserts the row with `n`, so that the batch with this row does not end."""
    postgres.sql(
        f"CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.n = {n} THEN "
        f"PERFORM pg_sleep({seconds}); END IF; RETURN NEW; END $$; "
        f'CREATE TRIGGER pause BEFORE INSERT ON "{table}" FOR EACH ROW EXECUTE FUNCTION pause()'
    )


def await_pause(postgres: Postgres) -> None:
    """Wait until the server sleeps in an insert."""
    paused = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    wait_until(lambda: int(postgres.sql(paused)) > 0, "a paused insert", DEADLINE_S)


def end_pause(postgres: Postgres, table: str) -> None:
    """End the sessions that sleep, which rolls them back, and drop the trigger."""
    postgres.sql("SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
    postgres.sql(f'DROP TRIGGER pause ON "{table}"; DROP FUNCTION pause()')


def test_a_start_ends_the_transactions_of_earlier_processes(broker: Broker, postgres: Postgres, tmp_path: Path) -> None:
    """The server does not know that a node is lost. A statement that runs has no time limit of idle transactions."""
    source = NumberedSource(broker)
    app = f"lost-{source.topic}"
    sql = f"SET autocreate=true; INSERT INTO shop.{source.table} SELECT n FROM {source.topic}"
    source.produce(10)
    with Runner(broker.bootstrap, sql, app, tmp_path, **variables(postgres)) as runner:
        runner.read_to(10, DEADLINE_S)
    postgres.sql(f"CREATE TABLE other_{source.table} ()")
    source.produce(10)
    with (
        postgres.blocking("lsql_batches", f"lsql {app}") as earlier,
        postgres.blocking(f"other_{source.table}", f"lsql {app}2") as other,
        Runner(broker.bootstrap, sql, app, tmp_path, **variables(postgres)) as runner,
    ):
        runner.read_to(20, DEADLINE_S)

        assert "terminating connection" in earlier.communicate()[1]
        assert other.poll() is None
    assert sorted(row["n"] for row in postgres.rows(source.table)) == list(range(20))


@pytest.mark.parametrize("on_change", ["rebuild", "blue_green"])
def test_a_rebuilt_state_writes_no_row_again(
    broker: Broker, postgres: Postgres, tmp_path: Path, on_change: str
) -> None:
    """The batches of a query with a sink are written in another way than those of topics."""
    source = NumberedSource(broker)
    app = f"rebuilt-{source.topic}"
    select = f"SELECT STREAM SUM(n) AS v FROM {source.topic} GROUP BY _key"
    sql = f"SET autocreate=true; INSERT INTO shop.{source.table} {select}"
    source.produce(10)
    with Runner(broker.bootstrap, sql, app, tmp_path, **variables(postgres)) as runner:
        runner.read_to(10, DEADLINE_S)
    source.produce(5)
    environment = variables(postgres) | {"LSQL_STATE_ON_CHANGE": on_change, "LSQL_STATE_SWITCH_AFTER_S": "0"}
    with Runner(broker.bootstrap, sql.replace("SUM", "MAX"), app, tmp_path, **environment) as runner:
        runner.read_to(15, DEADLINE_S)
        runner.wait_for(lambda s: not s["blueGreen"] and not any(q["recordsToRebuild"] for q in s["queries"]))
        source.produce(5)
        runner.read_to(20, DEADLINE_S)

    assert sorted(row["v"] for row in postgres.rows(source.table)) == list(range(20))


def test_a_process_killed_during_a_batch_writes_each_row_once(
    broker: Broker, postgres: Postgres, redis: Redis, tmp_path: Path
) -> None:
    source = NumberedSource(broker)
    sql = (
        "SET autocreate=true; SET _ktype='STRING'; "
        f"INSERT INTO shop.{source.table}_log SELECT n FROM {source.topic} WHERE n >= 0; "
        f"UPSERT INTO shop.{source.table} SELECT _key AS id, n FROM {source.topic} PK id; "
        # Keys that both partitions write concurrently.
        f"UPSERT INTO shop.{source.table}_buckets SELECT n % 51 AS bucket, n FROM {source.topic} WHERE n >= 0 "
        "PK bucket BATCH 40; "
        f"UPSERT INTO cache.{source.table} SELECT _key AS id, n FROM {source.topic} PK id"
    )
    source.produce(10)
    runner = Runner(broker.bootstrap, sql, f"kill-{source.topic}", tmp_path, **variables(postgres, redis))
    with runner:
        runner.read_to(source.produced, DEADLINE_S)
        assert {(s["sink"], s["kind"], s["table"], s["delivery"]) for s in runner.stream()["sinks"]} == {
            ("shop", "postgresql", f"{source.table}_log", "exactly_once"),
            ("shop", "postgresql", source.table, "idempotent"),
            ("shop", "postgresql", f"{source.table}_buckets", "idempotent"),
            ("cache", "redis", source.table, "idempotent"),
        }
        pause_at_row(postgres, f"{source.table}_log", BACKLOG // 2)
        source.produce(BACKLOG)
        await_pause(postgres)
        runner.kill()
        end_pause(postgres, f"{source.table}_log")
        assert len(postgres.rows(f"{source.table}_log")) < source.produced

        runner.start()
        source.delete(3)
        assert runner.read_to(source.produced, DEADLINE_S)["restarts"] == 0

    written = Counter(row["n"] for row in postgres.rows(f"{source.table}_log"))
    assert written == Counter(range(source.produced - 1))
    newest = {str(n % KEYS): n for n in range(source.produced - 1)}
    del newest["3"]
    assert {row["id"]: row["n"] for row in postgres.rows(source.table)} == newest
    assert sorted(row["bucket"] for row in postgres.rows(f"{source.table}_buckets")) == list(range(51))
    keys = [key for key in redis.all_keys() if key.startswith(f"{source.table}:")]
    assert {key.split(":")[1] for key in keys} == newest.keys()
    assert json.loads(redis.command("GET", f"{source.table}:7")) == {"id": "7", "n": newest["7"]}
    assert runner.traces() == []


def test_a_volume_restored_from_a_snapshot_loses_no_row(broker: Broker, postgres: Postgres, tmp_path: Path) -> None:
    source = NumberedSource(broker)
    sql = f"INSERT INTO shop.{source.table} SELECT n FROM {source.topic} AUTOCREATE"
    source.produce(10)
    runner = Runner(broker.bootstrap, sql, f"old-{source.topic}", tmp_path / "state", **variables(postgres))
    with runner:
        runner.read_to(source.produced, DEADLINE_S)
        runner.stop()
        shutil.copytree(tmp_path / "state", tmp_path / "snapshot")
        runner.start()
        for _ in range(4):
            source.produce(2)
            runner.read_to(source.produced, DEADLINE_S)
        runner.stop()
        shutil.rmtree(tmp_path / "state")
        shutil.copytree(tmp_path / "snapshot", tmp_path / "state")
        source.produce(2)

        runner.start()
        warnings = runner.read_to(source.produced, DEADLINE_S)["warnings"]

    assert any("The sink has later batches" in warning for warning in warnings)
    assert any("older than the position of the consumer group" in warning for warning in warnings)
    written = Counter(row["n"] for row in postgres.rows(source.table))
    assert written.keys() == set(range(source.produced))
    assert max(written.values()) == 2


def test_rows_are_written_once_after_an_outage_of_the_server(broker: Broker, tmp_path: Path) -> None:
    source = NumberedSource(broker)
    source.produce(10)
    sql = f"INSERT INTO shop.{source.table} SELECT n FROM {source.topic} AUTOCREATE"
    with Postgres() as server:
        runner = Runner(broker.bootstrap, sql, f"away-{source.topic}", tmp_path, **variables(server))
        with runner:
            runner.read_to(source.produced, DEADLINE_S)
            runner.wait_for(lambda s: s["recordsOut"] == source.produced, condition="the count of rows")
            server.stop()
            source.produce(10)
            waiting = runner.wait_for(lambda s: s["state"] == "waiting", deadline_s=DEADLINE_S, condition="waiting")
            assert waiting["reason"]["code"] == "SINK_UNREACHABLE"
            assert pg.PASSWORD not in json.dumps(waiting)
            assert runner.health() == (503, ["sink-unreachable"])

            server.start()
            runner.read_to(source.produced, DEADLINE_S)

        assert sorted(row["n"] for row in server.rows(source.table)) == list(range(source.produced))
        assert runner.traces() == []


def test_a_row_that_the_server_refuses_stops_the_processor_until_the_table_accepts_it(
    broker: Broker, postgres: Postgres, tmp_path: Path
) -> None:
    source = NumberedSource(broker)
    source.produce(10)
    postgres.sql(f"CREATE TABLE {source.table} (n bigint CHECK (n <> 4))")
    sql = f"INSERT INTO shop.{source.table} SELECT n FROM {source.topic}"
    with Runner(broker.bootstrap, sql, f"refused-{source.topic}", tmp_path, **variables(postgres)) as runner:
        failed = runner.reach("failed", DEADLINE_S)
        assert failed["reason"]["code"] == "SINK_RECORD_REFUSED"
        params = failed["reason"]["params"]
        assert (params["topic"], params["partition"], params["offset"]) == (source.topic, 0, 2)

        postgres.sql(f"ALTER TABLE {source.table} DROP CONSTRAINT {source.table}_n_check")
        assert runner.post("/start").status == 202
        runner.read_to(source.produced, DEADLINE_S)

    assert sorted(row["n"] for row in postgres.rows(source.table)) == list(range(source.produced))
    assert runner.traces() == []


def test_a_missing_table_is_reported_before_anything_is_written(
    broker: Broker, postgres: Postgres, tmp_path: Path
) -> None:
    source = NumberedSource(broker)
    source.produce(1)
    sql = f"UPSERT INTO shop.{source.table} SELECT n FROM {source.topic} PK n"
    with Runner(broker.bootstrap, sql, f"missing-{source.topic}", tmp_path, **variables(postgres)) as runner:
        assert runner.reach("failed", DEADLINE_S)["reason"]["code"] == "SINK_TABLE_MISMATCH"
