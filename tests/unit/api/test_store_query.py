"""GET /metadata/<store> on a fake processor; tests/kafka/test_store_reads.py has the rows."""

from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from devkit.fake_processor import BEGIN_MS, PARTITIONS, SCENARIOS, FakeProcessor
from lsql_runner.api.access import ApiAccess
from lsql_runner.engine.port import StoredRows
from lsql_runner.errors import LsqlError
from lsql_runner.reports.responses import StoreRows
from tests.unit.api.test_app import TOKEN, body_of, client_of

WINDOW = '{"start":"2026-11-30T10:00:00Z","end":"2026-11-30T11:00:00Z"}'
ROW = f'{{"key":"a","window":{WINDOW},"value":{{"n":12345678901234567890}},"error":null}}'
OPEN = ApiAccess("none", queries="open")


def stored(processor: FakeProcessor, missing: int = 0) -> StoredRows:
    """An answer that lacks so many records of the first partition."""
    ends = {place: processor.status().ends[place] for place in PARTITIONS}
    ends[PARTITIONS[0]] -= missing
    return StoredRows(
        rows=f"[{ROW}]",
        cursor="0.AA",
        batch=7,
        positions=ends,
        watermark_ms=BEGIN_MS,
        planned_ms=processor.now_ms - 2_000,
    )


def processor() -> FakeProcessor:
    running = SCENARIOS["running"]()
    running.stored = [stored(running)]
    return running


def get(
    of: FakeProcessor, query: str = "", access: ApiAccess = OPEN, client: FlaskClient | None = None, **headers: str
) -> Any:
    return (client or client_of(of, access)).get(f"/metadata/vehicles-latest?{query}", headers=headers)


def test_an_answer_has_the_rows_and_what_the_state_contains() -> None:
    response = get(processor())

    assert response.status_code == 200
    assert ROW.encode() in response.data  # numbers keep their digits
    answer = StoreRows.model_validate_json(response.data)
    assert (answer.store, answer.cursor) == ("vehicles-latest", "0.AA")
    assert (answer.contains.batch, answer.contains.lag) == (7, 0)
    assert answer.contains.positions.keys() == {PARTITIONS[0].topic}


def test_the_lag_is_what_the_state_lacks() -> None:
    running = processor()
    running.stored = [stored(running, missing=3)]

    assert body_of(get(running))["contains"]["lag"] == 3


def test_parameters_are_passed_on() -> None:
    running = processor()
    query = (
        "key=EUR&keyFrom=A&keyTo=F&window=2026-11-30T10:00:00Z&from=1&to=2026-11-30T10:00:00.5%2B01:00"
        "&limit=7&cursor=0.AA&partition=1"
    )
    assert get(running, query).status_code == 200

    [read] = running.reads
    assert (read.key, read.limit, read.cursor, read.partition) == ("EUR", 7, "0.AA", 1)
    assert (read.key_from, read.key_to) == ("A", "F")
    assert (read.window_ms, read.since_ms, read.until_ms) == (1_796_032_800_000, 1, 1_796_029_200_500)


@pytest.mark.parametrize(
    "query",
    [
        *("limit=0", "limit=1001", "limit=x", "limit=", "limit=-1", "limit=٣", "partition=-1", "wait=5001", "wait=1s"),
        *("window=today", "window=2026-11-30", "from=2026-11-30T10:00:00", "to=1e3", "to=9999999999999999"),
        *("atLeast=", "atLeast=t", "atLeast=t:1", "atLeast=t:x:1", "atLeast=t:0:-1", "atLeast=t:0:1,"),
        *("maxLag=", "maxLag=500ms", "maxLag=-1", "maxLag=1.5", "from=-1"),
    ],
)
def test_a_parameter_of_another_form_is_refused(query: str) -> None:
    running = processor()
    body = body_of(get(running, query))

    assert (body["status"], body["code"], running.reads) == (400, "REQUEST_PARAMETER_INVALID", [])


def test_an_unknown_parameter_is_refused() -> None:
    assert body_of(get(processor(), "Key=1"))["code"] == "REQUEST_PARAMETER_UNKNOWN"


def test_a_topic_that_is_no_source_is_refused_at_once() -> None:
    running = processor()
    body = body_of(get(running, "atLeast=other:0:1"))

    assert (body["status"], body["code"], running.saved) == (400, "REQUEST_PARAMETER_INVALID", [])


@pytest.mark.parametrize("bound", ["atLeast=vehicle-positions:0:{offset}", "maxLag=2"])
def test_a_bound_waits_until_the_state_is_as_new(bound: str) -> None:
    running = processor()
    behind, enough = stored(running, missing=3), stored(running)
    last = enough.positions[PARTITIONS[0]] - 1
    running.stored = [None, behind, enough]

    response = get(running, bound.format(offset=last))
    assert (response.status_code, running.saved) == (200, ["vehicles-latest"])


@pytest.mark.parametrize(
    "bound", ["atLeast=vehicle-positions:0:999999999", "atLeast=vehicle-positions:99:0", "maxLag=2"]
)
def test_a_state_that_stays_behind_is_not_shown(bound: str) -> None:
    running = processor()
    running.stored = [stored(running, missing=3)]
    for wait in ("0", "50"):
        body = body_of(get(running, f"{bound}&wait={wait}"))

        assert (body["status"], body["code"]) == (503, "STORE_BEHIND")
    assert running.saved != []


def test_a_state_that_is_not_loaded_is_no_answer() -> None:
    running = processor()
    running.stored = [None]

    body = body_of(get(running))
    assert (body["status"], body["code"], running.saved) == (503, "STORE_NOT_LOADED", [])


def test_another_store_is_not_found() -> None:
    response = client_of(processor(), OPEN).get("/metadata/vehicles")

    assert (response.status_code, body_of(response)["code"]) == (404, "NOT_FOUND")


def test_errors_of_the_engine_have_their_status() -> None:
    running = processor()
    running.stored = [LsqlError("STORE_NOT_QUERYABLE", store="vehicles-latest", reason="it is a join")]

    body = body_of(get(running))
    assert (body["status"], body["code"]) == (501, "STORE_NOT_QUERYABLE")


def test_rows_are_shown_to_those_who_have_the_token_of_readers() -> None:
    access = replace(OPEN, queries="token", read_token=TOKEN, token="another token of the API")
    running = processor()
    refused = [
        get(running, access=access),
        get(running, access=access, Authorization="Bearer another token of the API"),
    ]
    allowed = get(running, access=access, Authorization=f"Bearer {TOKEN}")

    assert [body_of(response)["code"] for response in refused] == ["API_TOKEN_MISSING", "API_TOKEN_INVALID"]
    assert allowed.status_code == 200
    assert (running.refused, len(running.reads)) == (
        [("query", "127.0.0.1", "API_TOKEN_MISSING"), ("query", "127.0.0.1", "API_TOKEN_INVALID")],
        1,
    )
    assert running.queries == [("vehicles-latest", "127.0.0.1")]


def test_rows_are_hidden_by_default() -> None:
    running = processor()
    body = body_of(get(running, access=ApiAccess("open")))

    assert (body["status"], body["code"], running.reads) == (403, "QUERIES_DISABLED", [])
    assert (running.refused, running.queries) == ([], [])


def test_requests_above_the_limit_are_refused() -> None:
    running = processor()
    client = client_of(running, replace(OPEN, queries_per_second=3))
    codes = {get(running, client=client).status_code for _ in range(20)}

    assert codes == {200, 429}
