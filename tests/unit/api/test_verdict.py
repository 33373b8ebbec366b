"""POST /verdict on a fake processor; tests/unit/start/test_changed_program.py has the verdicts."""

import pytest

from devkit.fake_processor import SCENARIOS
from lsql_runner.api.access import ApiAccess
from tests.unit.api.test_app import TOKEN, body_of, client_in, client_of


def test_another_program_has_a_verdict_for_each_insert() -> None:
    response = client_in("running").post("/verdict", json={"sql": "INSERT INTO fast SELECT STREAM * FROM t"})

    assert (response.status_code, body_of(response)["starts"]) == (200, True)
    [insert] = body_of(response)["inserts"]
    assert (insert["target"], insert["verdict"], insert["changes"][0]["code"]) == (
        "fast",
        "keeps from here on",
        "FILTER",
    )


def test_a_wrong_program_is_an_answer_with_its_error() -> None:
    body = body_of(client_in("running").post("/verdict", json={"sql": ""}))

    assert (body["inserts"], body["starts"], body["error"]["code"]) == ([], False, "SQL_EMPTY")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"sql": 1}', b'{"sql": "", "other": ""}'])
def test_a_body_without_a_program_is_refused(data: bytes) -> None:
    response = client_in("running").post("/verdict", data=data)

    assert (response.status_code, body_of(response)["code"]) == (400, "REQUEST_BODY_INVALID")


def test_it_needs_the_token_because_the_answer_names_fields_of_topics() -> None:
    client = client_of(SCENARIOS["running"](), ApiAccess("token", TOKEN))

    assert client.post("/verdict", json={"sql": ""}).status_code == 401
    authorized = {"Authorization": f"Bearer {TOKEN}"}
    assert client.post("/verdict", json={"sql": ""}, headers=authorized).status_code == 200
