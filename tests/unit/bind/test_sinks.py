"""INSERTs into sinks: targets, keys, deletes, queries, and the errors of sinks."""

import pytest

from lsql_runner.config.sink_connection import SinkConnection
from lsql_runner.engine.sink_failures import sink_error
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import Catalog
from lsql_runner.jvm.java_error import JavaError
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.columns import InvalidPlan
from lsql_runner.plan.queries import Plan, Query, WriteSink
from tests.golden.catalog import CATALOG

SINKS = {"shop": "postgresql", "order_cache": "redis"}


def plan(sql: str, *topics: str) -> Plan:
    existing = frozenset({"payments", "orders", "clicks", *topics})
    return plan_text(sql, Catalog(CATALOG.schemas, existing, SINKS)).plan


def write_of(sql: str) -> WriteSink:
    """The only write to a sink in the plan of a program."""
    [write] = plan(sql).sink_writes
    return write


def error_of(sql: str, *topics: str) -> LsqlError:
    with pytest.raises(LsqlError) as error:
        plan(sql, *topics)
    return error.value


@pytest.mark.parametrize(
    ("target", "sink", "table"),
    [
        ("shop", "shop", "shop"),
        ("shop.orders", "shop", "orders"),
        ("shop.public.orders", "shop", "public.orders"),
        ("Shop.Orders", "shop", "Orders"),
        ("order-cache.o", "order_cache", "o"),
    ],
)
def test_a_target_names_a_sink_and_a_table(target: str, sink: str, table: str) -> None:
    written = write_of(f"INSERT INTO {target} SELECT id FROM payments PK id").target

    assert (written.sink, written.table) == (sink, table)


def test_an_insert_without_sink_clauses_writes_to_a_configured_sink() -> None:
    assert write_of("INSERT INTO shop.log SELECT id FROM payments").target.mode == "insert"


def test_a_sink_clause_distinguishes_a_sink_from_a_topic_of_the_same_name() -> None:
    assert error_of("INSERT INTO shop SELECT id FROM payments", "shop").code == "TARGET_AMBIGUOUS"

    assert plan("INSERT INTO shop SELECT id FROM payments BATCH 10", "shop").sink_writes


@pytest.mark.parametrize("key", ["user", "_key.user"])
def test_pk_names_a_column_or_the_path_that_it_is_selected_from(key: str) -> None:
    assert write_of(f"UPSERT INTO shop SELECT _key.user, page FROM clicks PK {key}").target.key == ("user",)


@pytest.mark.parametrize(
    ("sql", "deletes"),
    [
        ("UPSERT INTO shop SELECT *, _key AS id FROM payments PK id", True),
        ("UPSERT INTO shop SELECT _key AS id, amount FROM payments PK id", True),
        ("UPSERT INTO shop SELECT LOWER(_key) AS k, amount FROM payments PK k", True),
        ("UPSERT INTO shop SELECT * FROM payments PK id", False),
        ("UPSERT INTO shop SELECT _key AS a, id FROM payments PK a, id", False),
        ("UPSERT INTO shop SELECT 'x' AS a, id FROM payments PK a", False),
        ("INSERT INTO shop SELECT _key AS id, amount FROM payments PK id", False),
    ],
)
def test_tombstones_delete_rows_if_pk_is_computed_from_the_record_key(sql: str, deletes: bool) -> None:
    assert write_of(sql).target.deletes is deletes


@pytest.mark.parametrize(
    "select",
    [
        "SELECT TABLE _key AS id, amount FROM payments PK id",
        "SELECT TABLE *, _key AS id FROM payments WHERE ok PK id",
        "SELECT TABLE _key.*, ms FROM clicks PK user, page",
        "SELECT TABLE _key AS id, ms FROM clicks PK id",
        "SELECT TABLE currency, COUNT(*) AS n FROM payments GROUP BY currency PK currency",
        "SELECT TABLE _key AS id, COUNT(*) AS n FROM payments GROUP BY _key PK id",
        "SELECT TABLE currency AS c, ok, COUNT(*) AS n FROM payments GROUP BY currency, ok PK ok, c",
        "SELECT STREAM currency, COUNT(*) AS n FROM payments GROUP BY currency HAVING COUNT(*) > 1 PK currency",
        "SELECT TABLE a._key AS id, b.amount FROM payments AS a JOIN payments AS b PK id",
        "SELECT TABLE b._key AS id, b.amount FROM payments AS a JOIN payments AS b PK id",
        "SELECT TABLE a._key AS id, b.amount FROM payments AS a LEFT JOIN payments AS b PK id",
        "SELECT TABLE _key AS id, b.amount FROM payments AS a FULL JOIN payments AS b PK id",
        "SELECT TABLE a._key AS id FROM payments AS a JOIN payments AS b ON a.customerId = b._key PK id",
    ],
)
def test_rows_that_leave_a_table_are_deleted(select: str) -> None:
    assert write_of(f"UPSERT INTO shop {select}").target.deletes


@pytest.mark.parametrize(
    ("select", "code"),
    [
        ("SELECT TABLE id, amount FROM payments PK id", "PK_NOT_ROW_IDENTITY"),
        ("SELECT TABLE LOWER(_key) AS id FROM payments PK id", "PK_NOT_ROW_IDENTITY"),
        ("SELECT TABLE _key AS k, id FROM payments PK k, id", "PK_NOT_ROW_IDENTITY"),
        ("SELECT TABLE _key.user AS id, ms FROM clicks PK id", "PK_NOT_ROW_IDENTITY"),
        ("SELECT TABLE currency, ok, COUNT(*) AS n FROM payments GROUP BY currency, ok PK ok", "PK_NOT_ROW_IDENTITY"),
        ("SELECT TABLE currency, COUNT(*) AS n FROM payments GROUP BY currency PK n", "PK_NOT_ROW_IDENTITY"),
        ("SELECT TABLE b._key AS id FROM payments AS a LEFT JOIN payments AS b PK id", "PK_NOT_ROW_IDENTITY"),
        (
            "SELECT TABLE b._key AS id FROM payments AS a JOIN payments AS b ON a.id = b._key PK id",
            "PK_NOT_ROW_IDENTITY",
        ),
        (
            "SELECT STREAM id, COUNT(*) AS n FROM payments WINDOW BY SESSION 1m GROUP BY id PK id",
            "SINK_ROW_IDENTITY_MISSING",
        ),
        (
            "SELECT STREAM id, COUNT(*) AS n FROM payments WINDOW BY TUMBLE 1m GROUP BY id HAVING COUNT(*) > 1 PK id",
            "SINK_ROW_IDENTITY_MISSING",
        ),
        ("SELECT TABLE COUNT(*) AS n FROM payments PK n", "SINK_ROW_IDENTITY_MISSING"),
    ],
)
def test_pk_must_identify_rows_that_can_be_deleted(select: str, code: str) -> None:
    assert error_of(f"UPSERT INTO shop {select}").code == code


@pytest.mark.parametrize(
    ("select", "identity"),
    [
        ("SELECT TABLE id, amount FROM payments PK id", "_key"),
        ("SELECT TABLE ms FROM clicks PK ms", "_key.user, _key.page"),
        ("SELECT TABLE LEN(id) AS l, COUNT(*) AS n FROM payments GROUP BY LEN(id), currency PK n", "LEN(id), currency"),
        ("SELECT TABLE COUNT(*) AS n FROM orders GROUP BY customer.address PK n",
         "customer.address.city, customer.address.country"),
        ("SELECT TABLE COUNT(*) AS n FROM payments AS a JOIN payments AS b GROUP BY b.currency PK n", "b.currency"),
        ("SELECT TABLE COUNT(*) AS n FROM payments AS a JOIN payments AS b PK n", "_key"),
        ("SELECT TABLE b.amount FROM payments AS a LEFT JOIN payments AS b PK amount", "_key"),
    ],
)  # fmt: skip
def test_the_error_names_what_identifies_rows_as_the_program_does(select: str, identity: str) -> None:
    error = error_of(f"UPSERT INTO shop {select}")

    assert (error.code, error.params["identity"]) == ("PK_NOT_ROW_IDENTITY", identity)
    assert error.params["first"] == identity.partition(", ")[0]


def test_the_advised_columns_identify_the_rows() -> None:
    select = (
        "SELECT TABLE LEN(id) AS l, currency, COUNT(*) AS n FROM payments GROUP BY LEN(id), currency PK l, currency"
    )

    assert write_of(f"UPSERT INTO shop {select}").target.deletes


def test_insert_cannot_write_a_table_whose_rows_can_be_deleted() -> None:
    insert = "INSERT INTO shop SELECT TABLE _key AS id, amount FROM payments PK id"

    assert error_of(insert).code == "SINK_UPSERT_REQUIRED"


def test_insert_of_changes_deletes_no_rows() -> None:
    changes = "INSERT INTO shop SELECT STREAM currency, COUNT(*) AS n FROM payments GROUP BY currency"

    assert not write_of(changes).target.deletes


def test_final_results_of_windows_are_not_deleted() -> None:
    select = "SELECT STREAM id, COUNT(*) AS n FROM payments WINDOW BY SESSION 1m GROUP BY id PK id"

    assert not write_of(f"SET emit='final'; UPSERT INTO shop {select}").target.deletes


def test_a_select_from_a_table_deletes_rows_only_if_the_table_or_a_filter_does() -> None:
    groups = "SELECT STREAM currency, COUNT(*) AS n FROM payments GROUP BY currency"
    unfiltered, filtered = ("SELECT TABLE n FROM g PK n", "SELECT TABLE n FROM g WHERE n > 1 PK n")

    assert not write_of(f"WITH g AS ({groups}); UPSERT INTO shop {unfiltered}").target.deletes
    assert error_of(f"WITH g AS ({groups}); UPSERT INTO shop {filtered}").code == "PK_NOT_ROW_IDENTITY"


def test_each_insert_into_a_sink_has_its_own_query() -> None:
    queries = plan(
        "SET autocreate=true; INSERT INTO a SELECT id FROM payments; INSERT INTO shop.b SELECT id FROM payments; "
        "INSERT INTO shop.c SELECT id FROM payments; INSERT INTO d SELECT id FROM payments"
    ).queries

    assert [(query.name, [write.name for write in query.writes]) for query in queries] == [
        ("stateless", ["a", "d"]),
        ("sink-0", ["shop.b"]),
        ("sink-1", ["shop.c"]),
    ]


def test_a_query_that_writes_to_a_sink_has_no_other_target() -> None:
    write = write_of("INSERT INTO shop SELECT id FROM payments")

    with pytest.raises(InvalidPlan):
        Query("both", (write, write))


@pytest.mark.parametrize(
    ("condition", "more", "code"),
    [
        ("LSQL_SINK_UNREACHABLE", {}, "SINK_UNREACHABLE"),
        ("LSQL_SINK_REFUSED", {}, "SINK_REFUSED"),
        ("LSQL_SINK_CERTIFICATE_UNTRUSTED", {}, "SINK_CERTIFICATE_UNTRUSTED"),
        ("LSQL_SINK_TABLE_MISMATCH", {}, "SINK_TABLE_MISMATCH"),
        ("LSQL_SINK_ROW_REFUSED", {"topic": "t", "partition": "1", "offset": "2"}, "SINK_RECORD_REFUSED"),
        ("LSQL_SINK_ROW_REFUSED", {"row": "id=1"}, "SINK_ROW_REFUSED"),
        ("LSQL_SINK_ROW_REFUSED", {}, "SINK_ROWS_REFUSED"),
        ("LSQL_SINK_FAILED", {}, "SINK_FAILED"),
    ],
)
def test_an_error_of_the_java_sink_has_a_code(condition: str, more: dict[str, str], code: str) -> None:
    errors = (JavaError("STREAM_FAILED"), JavaError(condition, {"reason": "x", **more}, "x", "SinkException"))
    write = write_of("INSERT INTO shop SELECT id FROM payments")

    error = sink_error(
        errors, write, {"shop": SinkConnection(name="shop", kind="postgresql", url="jdbc:postgresql://db/shop")}
    )

    assert error is not None
    assert error.code == code


def test_another_error_is_not_an_error_of_the_sink() -> None:
    write = write_of("INSERT INTO shop SELECT id FROM payments")

    assert sink_error((JavaError("CAST_INVALID_INPUT", {}, "no"),), write, {}) is None
