"""A standby answers for itself on health and metrics, and forwards the rest to the leader."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import httpx2
import pytest
from flask.testing import FlaskClient
from werkzeug.serving import make_server

from devkit.fake_processor import BEGIN_MS, FakeProcessor, running, standby
from lsql_runner.api.access import ApiAccess
from lsql_runner.api.app import create_app
from lsql_runner.api.forwarding import FOR, MARK, PROOF, install
from lsql_runner.engine.port import StoredRows
from lsql_runner.events.leadership import LeadershipChanged, LeadershipView

TOKEN = "0123456789abcdef"
AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}
SECRET = "2 leader_1 7c1a"
ACCESS = ApiAccess("token", TOKEN, queries="open")


def app_of(processor: FakeProcessor) -> Any:
    app = create_app(processor, lambda _: (b"# own\n", "text/plain"), ACCESS, lambda: processor.now_ms)
    install(app, processor, ACCESS)
    return app


def knows_leader(processor: FakeProcessor, address: str, *, leads: bool = False) -> FakeProcessor:
    view = LeadershipView(leads=leads, holder="leader_1", address=address, term=3)
    processor.emit(LeadershipChanged(processor.now_ms, view))
    return processor


@contextmanager
def served(processor: FakeProcessor) -> Iterator[str]:
    """The address of the API of a processor."""
    server = make_server("127.0.0.1", 0, app_of(processor), threaded=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()


@pytest.fixture
def leader() -> FakeProcessor:
    leader = knows_leader(running(), "own:1", leads=True)
    leader.secret = SECRET
    return leader


@pytest.fixture
def standing_by() -> FakeProcessor:
    processor = standby()
    processor.secret = SECRET
    return processor


@pytest.fixture
def client(leader: FakeProcessor, standing_by: FakeProcessor) -> Iterator[FlaskClient]:
    """Of the standby."""
    with served(leader) as address:
        yield app_of(knows_leader(standing_by, address)).test_client()


def test_the_stream_is_that_of_the_leader(client: FlaskClient) -> None:
    body = client.get("/stream").get_json()

    assert (body["state"], body["standby"]["role"], body["standby"]["term"]) == ("running", "leader", 3)
    assert body["batches"] == 3


@pytest.mark.parametrize("path", ["/health", "/health/live", "/health/ready", "/health/startup"])
def test_health_is_its_own(client: FlaskClient, path: str) -> None:
    answer = client.get(path)

    assert (answer.status_code, answer.get_json()["state"]) == (200, "standby")


def test_metrics_are_its_own(client: FlaskClient) -> None:
    assert client.get("/metrics").get_data() == b"# own\n"


def test_the_token_of_the_caller_decides_at_the_leader(client: FlaskClient, leader: FakeProcessor) -> None:
    assert client.post("/stop", headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert leader.requests == []

    answer = client.post("/stop", headers={"Authorization": f"Bearer {TOKEN}"})
    assert (answer.status_code, answer.get_json()["state"]) == (202, "stopping")
    assert leader.requests == [("stop", "127.0.0.1")]


def test_the_leader_audits_the_client_of_the_standby(client: FlaskClient, leader: FakeProcessor) -> None:
    caller = {"REMOTE_ADDR": "10.0.3.4"}

    assert client.post("/stop", headers=AUTHORIZED, environ_base=caller).status_code == 202
    assert leader.requests == [("stop", "10.0.3.4")]
    assert client.post("/start", headers={"Authorization": "Bearer x"}, environ_base=caller).status_code == 401
    assert leader.refused == [("start", "10.0.3.4", "API_TOKEN_INVALID")]


def test_a_process_with_another_state_directory_cannot_name_a_client(
    client: FlaskClient, leader: FakeProcessor, standing_by: FakeProcessor
) -> None:
    standing_by.secret = "2 leader_1 guessed"
    caller = {"REMOTE_ADDR": "10.0.3.4"}

    assert client.post("/stop", headers=AUTHORIZED, environ_base=caller).status_code == 202
    assert leader.requests == [("stop", "127.0.0.1")]


def test_a_client_that_names_itself_is_audited_with_its_address(client: FlaskClient, leader: FakeProcessor) -> None:
    named = AUTHORIZED | {FOR: "ann", PROOF: "0" * 64}
    caller = {"REMOTE_ADDR": "10.0.3.4"}

    direct = app_of(leader).test_client().post("/stop", headers=named | {MARK: "1"}, environ_base=caller)
    assert direct.status_code == 202
    leader.end_transition()
    assert client.post("/start", headers=named, environ_base=caller).status_code == 202

    assert leader.requests == [("stop", "10.0.3.4"), ("start", "10.0.3.4")]


def test_a_leader_without_a_secret_accepts_no_proof(leader: FakeProcessor) -> None:
    leader.secret = ""
    forwarding = knows_leader(standby(), "127.0.0.1:1")
    forwarding.secret = ""
    app = app_of(forwarding)
    with served(leader) as address:
        knows_leader(forwarding, address)
        app.test_client().post("/stop", headers=AUTHORIZED, environ_base={"REMOTE_ADDR": "10.0.3.4"})

    assert leader.requests == [("stop", "127.0.0.1")]


def test_the_proof_of_one_action_is_not_that_of_another(
    client: FlaskClient, leader: FakeProcessor, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: dict[str, str] = {}
    request = httpx2.Client.request

    def recorded(self: httpx2.Client, method: str, url: str, **options: Any) -> httpx2.Response:
        sent.update({name.decode(): value.decode() for name, value in options["headers"].items()})
        return request(self, method, url, **options)

    monkeypatch.setattr(httpx2.Client, "request", recorded)
    client.post("/stop", headers=AUTHORIZED, environ_base={"REMOTE_ADDR": "10.0.3.4"})
    leader.end_transition()
    replayed = {"REMOTE_ADDR": "10.0.6.6"}
    app_of(leader).test_client().post("/start", headers=sent, environ_base=replayed)

    assert leader.requests == [("stop", "10.0.3.4"), ("start", "10.0.6.6")]


def test_a_page_of_another_site_is_refused_before_the_request_is_forwarded(
    client: FlaskClient, leader: FakeProcessor
) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Origin": "https://evil.example"}

    assert client.post("/stop", headers=headers).status_code == 403
    assert leader.requests == []


def test_a_request_is_forwarded_once(client: FlaskClient) -> None:
    answer = client.get("/stream", headers={MARK: "1"})

    assert (answer.status_code, answer.get_json()["code"]) == (503, "LEADER_UNKNOWN")


def test_without_a_leader_nobody_answers() -> None:
    answer = app_of(knows_leader(standby(), "")).test_client().get("/stream")

    assert (answer.status_code, answer.get_json()["code"]) == (503, "LEADER_UNKNOWN")


def test_a_leader_that_does_not_answer_is_named() -> None:
    answer = app_of(knows_leader(standby(), "127.0.0.1:1")).test_client().get("/stream")

    assert (answer.status_code, answer.get_json()["code"]) == (503, "LEADER_UNREACHABLE")
    assert "127.0.0.1:1" in answer.get_json()["detail"]


@pytest.mark.parametrize(
    ("query", "is_own"),
    [
        ("standby=true&key=a", True),
        ("key=a", False),
        ("standby=false&key=a", False),
        ("standby=true&maxLag=9", False),
        ("standby=true&atLeast=positions:0:1", False),
    ],
)
def test_a_standby_answers_reads_that_may_be_old(standing_by: FakeProcessor, query: str, is_own: bool) -> None:
    """Also without a leader. It does not know what the state lacks."""
    standing_by.plan()
    row = '[{"key":"a","window":null,"value":{"n":1},"error":null}]'
    standing_by.stored = [
        StoredRows(rows=row, cursor=None, batch=7, positions={}, watermark_ms=None, planned_ms=BEGIN_MS)
    ]
    answer = app_of(knows_leader(standing_by, "")).test_client().get(f"/metadata/vehicles-latest?{query}")

    if is_own:
        body = answer.get_json()
        assert (answer.status_code, body["rows"][0]["value"], body["contains"]["lag"]) == (200, {"n": 1}, None)
        assert body["contains"]["ageMs"] > 0
        assert standing_by.queries == [("vehicles-latest", "127.0.0.1")]
    else:
        assert (answer.status_code, answer.get_json()["code"]) == (503, "LEADER_UNKNOWN")
