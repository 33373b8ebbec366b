"""The OpenAPI document describes what the API does: schemathesis generates requests from it in every state."""

import json
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import version
from typing import Any

import pytest
import schemathesis
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from hypothesis.strategies import sampled_from
from schemathesis import Case

from devkit.fake_processor import SCENARIOS, FakeProcessor
from devkit.openapi import BOUNDED, differences, schema_of
from lsql_runner.api import openapi
from lsql_runner.api.access import ActionsMode, ApiAccess
from lsql_runner.api.app import create_app
from lsql_runner.api.routes import ROUTES
from lsql_runner.errors import LsqlError
from lsql_runner.events.state import State
from lsql_runner.observe.metrics import Metrics
from lsql_runner.status.lifecycle import Cause

TOKEN = "0123456789abcdef"
WITH_TOKEN = ApiAccess("token", TOKEN, queries="token", read_token=TOKEN)


def schema_for(processor: FakeProcessor, access: ApiAccess = WITH_TOKEN) -> Any:
    metrics = Metrics(processor.identity, processor.status, lambda: processor.now_ms)
    app = create_app(processor, metrics.render, access, lambda: processor.now_ms)
    return schema_of(app, 501, 503, token=TOKEN)


@schemathesis.pytest.parametrize(**{name: schema_for(made()) for name, made in SCENARIOS.items()})
@BOUNDED
def test_every_operation_responds_as_documented(case: Case[Any]) -> None:
    case.call_and_validate()


@pytest.mark.parametrize(("mode", "status"), [("none", 403), ("token", 401)])
@pytest.mark.parametrize("path", ["/stop", "/start"])
def test_refused_actions_are_answered_as_documented(mode: ActionsMode, status: int, path: str) -> None:
    schema = schema_for(SCENARIOS["running"](), ApiAccess(mode, "another-token-123"))

    assert schema[path]["POST"].Case().call_and_validate().status_code == status


class ProcessorRequests(RuleBasedStateMachine):
    """Requests in any order while the processor changes its state: each response is as documented and consistent."""

    def __init__(self) -> None:
        super().__init__()
        self.processor = SCENARIOS["starting"]()
        self.schema = schema_for(self.processor)

    def ask(self, method: str, path: str) -> Any:
        return self.schema[path][method].Case().call_and_validate(headers={"Authorization": f"Bearer {TOKEN}"})

    @rule(path=sampled_from(["/health", "/health/ready", "/health/startup", "/metrics", "/topology", "/metadata"]))
    def read(self, path: str) -> None:
        self.ask("GET", path)

    @rule(action=sampled_from(["/stop", "/start"]))
    def request_action(self, action: str) -> None:
        before = self.processor.status().state
        status = self.ask("POST", action).status_code
        refused = (before, action) in {
            (State.STOPPING, "/start"),
            (State.ENDED, "/start"),
            (State.ENDED, "/stop"),
            (State.STANDBY, "/start"),  # only the leader can be stopped and started
            (State.STANDBY, "/stop"),
        }
        assert status == (409 if refused else 202)

    @rule(cause=sampled_from(Cause))
    def change_state(self, cause: Cause) -> None:
        with suppress(LsqlError):
            self.processor.transition(cause)

    @rule()
    def run_batch(self) -> None:
        self.processor.plan()
        self.processor.batch()

    @invariant()
    def stream_is_consistent(self) -> None:
        body = self.ask("GET", "/stream").json()
        assert body["state"] == self.processor.status().state.value
        assert body["batches"] == self.processor.status().batches


TestProcessorRequests = ProcessorRequests.TestCase
TestProcessorRequests.settings = BOUNDED


def test_document_has_the_version_of_the_package() -> None:
    assert openapi.document()["info"]["version"] == version("lsql-runner")


def test_document_has_every_route_of_the_table() -> None:
    assert not differences(openapi.document(), ROUTES)


def test_field_names_are_camel_case_in_every_schema() -> None:
    schemas = openapi.document()["components"]["schemas"]

    assert not [(name, field) for name, s in schemas.items() for field in s.get("properties", ()) if "_" in field]


def test_module_prints_the_document() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "lsql_runner.api.openapi"], check=True, capture_output=True, text=True
    ).stdout

    assert json.loads(printed) == openapi.document()
