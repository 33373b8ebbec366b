"""Every error response has one format, and contains no internal details."""

import logging
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.exceptions import RequestEntityTooLarge

from devkit.fake_processor import FakeProcessor, running
from lsql_runner.api.access import ApiAccess
from lsql_runner.api.app import create_app
from lsql_runner.errors import LsqlError
from lsql_runner.status.model import Status

FIELDS = {"type", "title", "status", "code", "detail", "wayOut", "instance"}


class Broken(FakeProcessor):
    """A processor whose status raises an error."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def status(self) -> Status:
        raise self.error


def client_of(processor: FakeProcessor) -> FlaskClient:
    return create_app(processor, lambda accept: (b"", "text/plain"), ApiAccess("open")).test_client()


def problem(client: FlaskClient, method: str, path: str) -> dict[str, Any]:
    response = client.open(path, method=method)
    assert response.headers["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = response.get_json(force=True)
    assert set(body) == FIELDS
    assert body["status"] == response.status_code
    assert body["instance"] == path
    return body


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "NOT_FOUND"),
        ("GET", "/health//live", 404, "NOT_FOUND"),
        ("GET", "/stream/", 404, "NOT_FOUND"),
        ("GET", "/static/nothing.js", 404, "NOT_FOUND"),
        ("GET", "/static/../app.py", 404, "NOT_FOUND"),
        ("GET", "/stop", 405, "METHOD_NOT_ALLOWED"),
        ("DELETE", "/stream", 405, "METHOD_NOT_ALLOWED"),
        ("POST", "/", 405, "METHOD_NOT_ALLOWED"),
    ],
)
def test_a_missing_resource_is_a_problem(method: str, path: str, status: int, code: str) -> None:
    body = problem(client_of(running()), method, path)

    assert (body["status"], body["code"]) == (status, code)
    assert body["type"] == "urn:lsql:error:" + code.lower().replace("_", "-")


def test_a_wrong_method_is_reported_with_the_allowed_ones() -> None:
    response = client_of(running()).get("/stop")

    assert response.get_json(force=True)["wayOut"] == "Use OPTIONS, POST."
    assert set(response.headers["Allow"].split(", ")) == {"OPTIONS", "POST"}


def test_an_internal_error_shows_a_reference_to_the_log_and_no_trace(caplog: pytest.LogCaptureFixture) -> None:
    client = client_of(Broken(KeyError("secret-of-the-inside")))

    with caplog.at_level(logging.ERROR):
        body = problem(client, "GET", "/stream")

    assert (body["status"], body["code"]) == (500, "INTERNAL")
    assert "secret-of-the-inside" not in str(body)
    (record,) = caplog.records
    assert record.__dict__["reference"] in body["wayOut"]
    assert record.exc_info is not None


def test_any_other_http_error_is_an_invalid_request() -> None:
    body = problem(client_of(Broken(RequestEntityTooLarge())), "GET", "/stream")

    assert (body["status"], body["code"]) == (413, "REQUEST_INVALID")


def test_an_error_of_the_processor_without_a_status_of_its_own_is_a_500() -> None:
    body = problem(client_of(Broken(LsqlError("JVM_GONE", reason="killed"))), "GET", "/stream")

    assert (body["status"], body["code"]) == (500, "JVM_GONE")
    assert body["detail"] == "The Spark JVM ended: killed."
