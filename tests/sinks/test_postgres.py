"""PostgreSQL beyond the contract of sinks: exactly-once inserts, types, refused rows, tables that do not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.tools.ports import free_port
from devkit.engines import hidden_values
from devkit.postgres import PASSWORD, USER, Postgres
from devkit.sinks import PostgresSink, RealSink, person
from lsql_runner.config.sink_connection import SinkConnection
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.engine.rows import TopicRecord
from lsql_runner.errors import LsqlError
from lsql_runner.state.folder import LocalFolder
from lsql_runner.state.offset_log import open_checkpoint

pytestmark = pytest.mark.timeout(180)

INSERT = "INSERT INTO db.log SELECT _key AS id, name FROM people AUTOCREATE BATCH 2"
UPSERT = "UPSERT INTO db.people SELECT _key AS id, name FROM people PK id"
ADA = {"name": "Ada"}


@pytest.fixture
def sink(engine: MemoryEngine, postgres: Postgres) -> PostgresSink:
    return PostgresSink(engine, postgres)


def batch(*keys: int, start: int = 0) -> list[TopicRecord]:
    return [person(start + n, key, ADA, partition=key % 2) for n, key in enumerate(keys)]


def of_numbers(offset: int, value: bytes) -> TopicRecord:
    return TopicRecord(topic="numbers", key=b"k", value=value, timestamp_ms=0, partition=0, offset=offset)


def refusal(sink: RealSink, sql: str, records: list[TopicRecord]) -> LsqlError:
    with pytest.raises(LsqlError) as caught:
        sink.write(sql, 0, records)
    return caught.value


# --- inserts without a key ---


def test_a_repeated_batch_of_inserts_is_written_once(sink: PostgresSink) -> None:
    sink.write(INSERT, 0, batch(1, 2, 1))
    sink.write(INSERT, 0, batch(1, 2, 1))
    sink.write(INSERT, 1, batch(1))

    assert [row["id"] for row in sink.rows("log")] == [1, 1, 1, 2]


def test_only_unfinished_partitions_of_a_batch_are_written_again(sink: PostgresSink) -> None:
    sink.write(INSERT, 0, batch(1, 3))  # partition 1 had finished when the process was killed

    sink.write(INSERT, 0, batch(1, 3, 2))

    assert [row["id"] for row in sink.rows("log")] == [1, 2, 3]


def test_batches_of_a_new_checkpoint_are_new(sink: PostgresSink) -> None:
    sink.write(INSERT, 7, batch(1), run="first")

    sink.write(INSERT, 0, batch(2, 1), run="second")

    assert [row["id"] for row in sink.rows("log")] == [1, 1, 2]


def test_a_refused_row_rolls_back_its_task_and_the_next_attempt_writes_all(
    sink: PostgresSink, postgres: Postgres
) -> None:
    postgres.sql("CREATE TABLE log (id bigint CHECK (id < 5), name text)")

    error = refusal(sink, INSERT, batch(1, 3, 1, 5, 1))

    assert (error.code, error.params["topic"], error.params["partition"], error.params["offset"]) == (
        "SINK_RECORD_REFUSED",
        "people",
        1,
        3,
    )
    assert "violates check constraint" in str(error.params["reason"])
    assert postgres.rows("log") == []
    postgres.sql("ALTER TABLE log DROP CONSTRAINT log_id_check")
    sink.write(INSERT, 0, batch(1, 3, 1, 5, 1))
    assert len(postgres.rows("log")) == 5


def test_an_insert_refuses_a_tombstone(sink: PostgresSink) -> None:
    error = refusal(sink, INSERT, [person(0, 1, None)])

    assert (error.code, error.params["offset"]) == ("SINK_RECORD_REFUSED", 0)
    assert "tombstone" in str(error.params["reason"])


def test_an_insert_with_a_key_refuses_a_second_row_with_the_key(sink: PostgresSink, postgres: Postgres) -> None:
    sql = "INSERT INTO db.log SELECT _key AS id, name FROM people PK id AUTOCREATE"
    sink.write(sql, 0, batch(1))

    with pytest.raises(LsqlError) as caught:
        sink.write(sql, 1, batch(3, 1, start=1))

    assert (caught.value.code, caught.value.params["offset"]) == ("SINK_RECORD_REFUSED", 2)
    assert [row["id"] for row in postgres.rows("log")] == [1]


# --- keys ---


def test_a_null_in_the_key_is_refused_with_its_record(sink: PostgresSink, postgres: Postgres) -> None:
    postgres.sql("CREATE TABLE people (id bigint PRIMARY KEY, name text)")

    error = refusal(sink, UPSERT, [person(0, 1, ADA), person(1, None, ADA)])

    assert (error.code, error.params["offset"]) == ("SINK_RECORD_REFUSED", 1)
    assert error.params["reason"] == "the key column id is null"


def test_a_tombstone_whose_key_is_in_the_value_is_refused(sink: PostgresSink) -> None:
    sql = "UPSERT INTO db.people SELECT name, score FROM people PK name AUTOCREATE"

    error = refusal(sink, sql, [person(0, 1, None)])

    assert error.code == "SINK_RECORD_REFUSED"
    assert "tombstone" in str(error.params["reason"])


def test_a_refused_row_of_an_aggregate_is_reported_with_its_key(sink: PostgresSink, postgres: Postgres) -> None:
    postgres.sql("CREATE TABLE totals (name text PRIMARY KEY, n integer CHECK (n < 2))")
    sql = "UPSERT INTO db.totals SELECT STREAM name, COUNT(*) AS n FROM people GROUP BY name PK name"

    error = refusal(sink, sql, batch(1, 3))

    assert (error.code, error.params["row"]) == ("SINK_ROW_REFUSED", "name=Ada")


# --- types ---


def test_each_type_is_written_to_its_column_type(sink: PostgresSink, postgres: Postgres) -> None:
    sql = (
        "UPSERT INTO db.typed SELECT _key AS l, CAST(_key AS int) AS i, score AS d, CAST(score AS float) AS f, "
        "CAST(score AS decimal(10,2)) AS m, name AS s, _key = 1 AS b, tags AS a, TO_TIMESTAMP(_key) AS t, "
        "CAST('2024-02-29' AS date) AS day, CAST('23:59:59.000001' AS time) AS time FROM people PK l AUTOCREATE"
    )
    sink.write(sql, 0, [person(0, 1, {"name": "grün 🦊", "score": 1.25, "tags": ["x", None]}), person(1, 2, {})])

    types = postgres.sql(
        "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute "
        "WHERE attrelid = 'typed'::regclass AND attnum > 0 ORDER BY attnum"
    )
    assert dict(line.split("|") for line in types.splitlines()) == {
        "l": "bigint",
        "i": "integer",
        "d": "double precision",
        "f": "real",
        "m": "numeric(10,2)",
        "s": "text",
        "b": "boolean",
        "a": "jsonb",
        "t": "timestamp with time zone",
        "day": "date",
        "time": "time without time zone",
    }
    full, empty = sink.rows("typed")
    assert full == {
        "l": 1,
        "i": 1,
        "d": 1.25,
        "f": 1.25,
        "m": 1.25,
        "s": "grün 🦊",
        "b": True,
        "a": ["x", None],
        "t": "1970-01-01T00:00:00.001+00:00",
        "day": "2024-02-29",
        "time": "23:59:59.000001",
    }
    assert (empty["d"], empty["m"], empty["s"], empty["a"]) == (None, None, None, None)


def test_a_numeric_is_exact_in_columns_of_all_types_of_numbers(sink: PostgresSink, postgres: Postgres) -> None:
    postgres.sql("CREATE TABLE numbers (l bigint PRIMARY KEY, n numeric, d double precision)")
    sql = "UPSERT INTO db.numbers SELECT n AS l, half AS n, half AS d FROM numbers PK l"
    sink.write(sql, 0, [of_numbers(0, b'{"n":9007199254740993,"half":0.10}')])

    assert sink.rows("numbers") == [{"l": 9007199254740993, "n": 0.1, "d": 0.1}]
    error = refusal(sink, sql, [of_numbers(1, b'{"n":5.5,"half":1}')])
    assert (error.code, error.params["offset"]) == ("SINK_RECORD_REFUSED", 1)


def test_text_is_converted_to_the_type_of_the_column(sink: PostgresSink, postgres: Postgres) -> None:
    postgres.sql("CREATE TABLE people (id integer PRIMARY KEY, name uuid, at timestamp DEFAULT '2024-01-01')")
    uuid = "6ecd8c99-4036-403d-bf84-cf8400f67836"
    sink.write(UPSERT, 0, [person(0, 1, {"name": uuid})])

    assert postgres.rows("people") == [{"id": 1, "name": uuid, "at": "2024-01-01T00:00:00"}]
    error = refusal(sink, UPSERT, [person(1, 2, {"name": uuid}), person(2, 3, ADA), person(3, 4, ADA)])
    assert (error.code, error.params["offset"]) == ("SINK_RECORD_REFUSED", 2)
    assert 'invalid input syntax for type uuid: "Ada"' in str(error.params["reason"])


RAISES = """CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN
    RAISE EXCEPTION 'no %', NEW.name USING ERRCODE = 'check_violation'; END $$ LANGUAGE plpgsql;
    CREATE TABLE people (id bigint PRIMARY KEY, name text);
    CREATE TRIGGER t BEFORE INSERT ON people FOR EACH ROW EXECUTE FUNCTION refuse()"""


@pytest.mark.parametrize(
    ("ddl", "reason"),
    [
        ("CREATE TABLE people (id bigint PRIMARY KEY, name uuid)", "not valid for the type of its column"),
        ("CREATE TABLE people (id bigint PRIMARY KEY, name varchar(2))", "a text is too long for its column"),
        ("CREATE TABLE people (id bigint PRIMARY KEY, name date)", "a text is not a valid date or time"),
        ("CREATE TABLE people (id bigint PRIMARY KEY, name text UNIQUE)", 'unique constraint "people_name_key"'),
        ("CREATE TABLE people (id bigint PRIMARY KEY, name text CHECK (name = 'x'))", "violates check constraint"),
        (RAISES, "an error (SQLSTATE 23514)"),
    ],
    ids=["type", "length", "date", "unique", "check", "trigger"],
)
def test_without_values_a_refused_row_has_its_record_and_no_value(
    engine: MemoryEngine, sink: PostgresSink, postgres: Postgres, ddl: str, reason: str
) -> None:
    postgres.sql(ddl)
    name = {"name": "s3cr3t"}

    with hidden_values(engine.session):
        error = refusal(sink, UPSERT, [person(0, 1, name), person(1, 2, name)])

    assert (error.code, error.params["topic"]) == ("SINK_RECORD_REFUSED", "people")
    assert reason in str(error.params["reason"])
    assert "s3cr3t" not in str(error)


def test_names_keep_their_case_and_characters(sink: PostgresSink, postgres: Postgres) -> None:
    postgres.sql('CREATE SCHEMA "Sales"')
    sql = 'UPSERT INTO `db.Sales.my "table"` SELECT _key AS Id, name AS `first name` FROM people PK Id AUTOCREATE'
    sink.write(sql, 0, batch(1))

    assert postgres.rows('"Sales"."my ""table"""') == [{"Id": 1, "first name": "Ada"}]


# --- before anything is written ---


@pytest.mark.parametrize(
    ("ddl", "why"),
    [
        ("SELECT 1", "it does not exist"),
        ("CREATE TABLE people (id bigint PRIMARY KEY)", "it has no column name, it has id"),
        ("CREATE TABLE people (id bigint, name text)", "no primary key or unique constraint is on exactly id"),
        ("CREATE TABLE people (id bigint, name text, PRIMARY KEY (id, name))", "no primary key or unique constraint"),
    ],
    ids=["missing", "column", "no key", "another key"],
)
def test_a_table_that_does_not_fit_is_refused(sink: PostgresSink, postgres: Postgres, ddl: str, why: str) -> None:
    postgres.sql(ddl)

    error = refusal(sink, UPSERT, batch(1))

    assert (error.code, error.params["table"]) == ("SINK_TABLE_MISMATCH", "people")
    assert why in str(error.params["reason"])


def test_an_unreachable_server_is_not_a_bad_record(engine: MemoryEngine) -> None:
    url = f"jdbc:postgresql://127.0.0.1:{free_port()}/postgres"
    away = RealSink(engine, SinkConnection(name="db", kind="postgresql", url=url, user=USER, password=PASSWORD))

    error = refusal(away, UPSERT, batch(1))

    assert (error.code, error.params["url"]) == ("SINK_UNREACHABLE", url)


@pytest.mark.parametrize(
    ("user", "password", "database"),
    [(USER, "wrong", "postgres"), ("nobody", PASSWORD, "postgres"), (USER, PASSWORD, "elsewhere")],
    ids=["password", "user", "database"],
)
def test_refused_credentials_are_not_a_bad_record(
    engine: MemoryEngine, postgres: Postgres, user: str, password: str, database: str
) -> None:
    url = f"jdbc:postgresql://127.0.0.1:{postgres.port}/{database}"
    stranger = RealSink(engine, SinkConnection(name="db", kind="postgresql", url=url, user=user, password=password))

    error = refusal(stranger, UPSERT, batch(1))

    assert error.code == "SINK_REFUSED"
    assert password not in str(error)


def test_a_table_of_batches_of_another_user_is_a_refusal(
    engine: MemoryEngine, sink: PostgresSink, postgres: Postgres, tmp_path: Path
) -> None:
    sink.write(INSERT, 0, batch(1))  # creates the table lsql_batches
    open_checkpoint(checkpoint := LocalFolder(tmp_path))
    assert not sink.is_ahead(INSERT, checkpoint)
    postgres.sql(f"CREATE ROLE other LOGIN PASSWORD '{PASSWORD}'")
    postgres.sql("GRANT USAGE ON SCHEMA public TO other; GRANT INSERT, SELECT ON log TO other")
    connection = SinkConnection(name="db", kind="postgresql", url=postgres.url, user="other", password=PASSWORD)

    with pytest.raises(LsqlError) as caught:
        RealSink(engine, connection).is_ahead(INSERT, checkpoint)

    assert caught.value.code == "SINK_REFUSED"
    assert "lsql_batches" in str(caught.value.params["reason"])


def test_a_server_that_was_restarted_is_used_again(engine: MemoryEngine) -> None:
    with Postgres() as server:
        sink = PostgresSink(engine, server)
        sink.write(INSERT, 0, batch(1))
        server.stop()
        assert refusal(sink, INSERT, batch(1)).code == "SINK_UNREACHABLE"

        server.start()
        sink.write(INSERT, 1, batch(1))

        assert len(server.rows("log")) == 2
