"""Snapshots through the API on a fake processor; tests/unit/runtime/test_supervisor.py has the real requests."""

import pytest

from devkit.fake_processor import SCENARIOS
from lsql_runner.api.access import ApiAccess
from tests.unit.api.test_app import TOKEN, body_of, client_in, client_of


def test_a_snapshot_is_taken_listed_restored_and_deleted() -> None:
    client = client_in("running")

    taken = client.post("/snapshots", json={"name": "monday"})
    listed = client.get("/snapshots")
    restored = client.post("/snapshots/monday/restore")
    cloned = client.post("/snapshots/monday/clone", json={"appId": "trial"})
    deleted = client.post("/snapshots/prune?keep=0")

    responses = (taken, listed, restored, cloned, deleted)
    assert [each.status_code for each in responses] == [201, 200, 200, 201, 200]
    snapshot = body_of(taken)
    assert (snapshot["name"], snapshot["at"]) == ("monday", "2026-11-21T09:23:00Z")
    assert snapshot["positions"] == {"vehicle-positions": {"0": 100}}
    assert body_of(restored) == body_of(cloned) == snapshot
    assert listed.get_json() == deleted.get_json() == [snapshot]
    assert client.get("/snapshots").get_json() == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("", b""),
        ("", b'{"name": 1}'),
        ("", b'{"name": "a", "other": 1}'),
        ("/monday/clone", b"{}"),
        ("/monday/clone", b'{"appId": "../other"}'),
    ],
)
def test_a_body_without_a_valid_name_is_refused(path: str, body: bytes) -> None:
    response = client_in("running").post(f"/snapshots{path}", data=body)

    assert (response.status_code, body_of(response)["code"]) == (400, "REQUEST_BODY_INVALID")


@pytest.mark.parametrize(
    ("query", "code"), [("keep=-1", "REQUEST_PARAMETER_INVALID"), ("kept=1", "REQUEST_PARAMETER_UNKNOWN")]
)
def test_another_number_of_snapshots_is_refused(query: str, code: str) -> None:
    response = client_in("running").post(f"/snapshots/prune?{query}")

    assert (response.status_code, body_of(response)["code"]) == (400, code)


@pytest.mark.parametrize(
    ("path", "action"),
    [
        ("/snapshots", "snapshot"),
        ("/snapshots/a/restore", "restore"),
        ("/snapshots/a/clone", "clone"),
        ("/snapshots/prune", "prune"),
    ],
)
def test_a_request_without_the_token_is_refused_and_audited(path: str, action: str) -> None:
    processor = SCENARIOS["running"]()

    response = client_of(processor, ApiAccess("token", TOKEN)).post(path, json={})

    assert response.status_code == 401
    assert processor.refused == [(action, "127.0.0.1", "API_TOKEN_MISSING")]
    assert processor.requests == []


def test_a_name_that_exists_and_one_that_does_not_are_refused() -> None:
    client = client_in("running")
    client.post("/snapshots", json={"name": "monday"})

    again = client.post("/snapshots", json={"name": "monday"})
    missing = client.post("/snapshots/tuesday/restore")

    assert (again.status_code, body_of(again)["code"]) == (409, "SNAPSHOT_EXISTS")
    assert (missing.status_code, body_of(missing)["code"]) == (404, "SNAPSHOT_MISSING")
