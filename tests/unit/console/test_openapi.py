"""The console's OpenAPI document is true: what it answers, and to whom, is what it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case, Config

from lsql_runner.console import openapi
from lsql_runner.console.auth import Caller, TokenGate, Tokens, digest_of
from lsql_runner.console.routes import ROUTES, Route
from tests.kit.console_fixtures import FakeConsole
from tests.kit.console_fixtures import settings as configured
from tests.kit.fake_cluster import FakePod, workload
from tests.kit.fake_program import DESCRIBED

CONFIG = {
    "generation": {"mode": "all", "deterministic": True},
    # 502 is an answer of the contract; a 500 never is.
    "checks": {"not_a_server_error": {"expected-statuses": ["2xx", "4xx", 502, 503]}},
}
HEADERS = {"Authorization": "Bearer t-ada"}
TAKEN = {"scale": 409, "stop": 202, "start": 202, "delete": 202}
BOUNDED = settings(max_examples=20, deadline=None, database=None, suppress_health_check=list(HealthCheck))


class OneToken(Tokens):
    """The tokens of a file with one line."""

    def __init__(self) -> None:
        """There is no file."""

    def known(self) -> Mapping[str, Caller]:
        return {digest_of("t-ada"): Caller("ada", "operator")}


def filled() -> FakeConsole:
    """A console in which everything is switched on, over a processor that tells all."""
    auth = {"mode": "token", "token": {"file": "/not/read"}}
    actions = {"stop": True, "start": True, "scale": True, "delete": True}
    made = FakeConsole(
        configured(auth=auth, actions=actions, logs={"enabled": True}), TokenGate(OneToken(), lambda: 0.0)
    )
    made.cluster.add(workload("a"))
    selector = {"app.kubernetes.io/name": "lsql-runner", "app.kubernetes.io/instance": "a"}
    made.cluster.pods_of["streams", "a-0"] = FakePod(selector, ["batch 1 ended"])
    made.runners.others["/topology"] = (200, {**DESCRIBED.topology, "plan": DESCRIBED.plan})
    made.runners.others["/metadata"] = (200, [{"name": "a-window", "rows": 12, "bytes": 340}])
    made.look()
    return made


def api_of(console: FakeConsole) -> Any:
    return schemathesis.openapi.from_wsgi("/openapi.json", console.app, config=Config.from_dict(CONFIG))


@schemathesis.pytest.parametrize(console=api_of(filled()))
@BOUNDED
def test_every_operation_answers_as_documented(case: Case[Any]) -> None:
    case.call_and_validate(headers=HEADERS)


OF_ONE = [route for route in ROUTES if "<id>" in route.path]
"""The routes of one processor."""


@pytest.mark.parametrize("route", OF_ONE, ids=lambda route: f"{route.method} {route.name}")
def test_a_processor_that_is_there_answers_as_documented(route: Route) -> None:
    console = filled()
    path = route.path.replace("<id>", "{id}").replace("<int:runners>", "{runners}")
    values: dict[str, Any] = {"id": console.id_of("a")} | ({"runners": 2} if "runners" in path else {})

    response = api_of(console)[path][route.method].Case(path_parameters=values).call_and_validate(headers=HEADERS)

    assert response.status_code == TAKEN.get(route.name, 200)


def test_document_has_every_route_of_the_table() -> None:
    described = {
        (method.upper(), path, operation["operationId"])
        for path, operations in openapi.document()["paths"].items()
        for method, operation in operations.items()
    }

    assert described == {
        (r.method, r.path.replace("<id>", "{id}").replace("<int:runners>", "{runners}"), r.name) for r in ROUTES
    }


def test_what_is_not_for_anyone_names_how_callers_are_known() -> None:
    operations = [o for path in openapi.document()["paths"].values() for o in path.values()]
    guarded = {o["operationId"] for o in operations if "security" in o}

    assert guarded == {route.name for route in ROUTES if route.access != "anyone"}
    assert all("401" in o["responses"] for o in operations if "security" in o)
