"""The console's OpenAPI document describes what the API does: responses, and who may call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import schemathesis
from schemathesis import Case

from devkit.console_fixtures import ALL_ON, FakeConsole, settings
from devkit.fake_cluster import FakePod, workload
from devkit.fake_program import DESCRIPTION
from devkit.fake_runner_server import STORE
from devkit.openapi import BOUNDED, differences, path_of, schema_of
from lsql_runner.console import openapi
from lsql_runner.console.auth import Caller, TokenAuthenticator, Tokens, digest_of
from lsql_runner.console.routes import ROUTES, Route

HEADERS = {"Authorization": "Bearer t-ada"}
ACTION_STATUS = {"scale": 409, "stop": 202, "start": 202, "delete": 202}


class OneToken(Tokens):
    """The tokens of a file with one line."""

    def __init__(self) -> None:
        """Without a file."""

    def known(self) -> Mapping[str, Caller]:
        return {digest_of("t-ada"): Caller("ada", "operator")}


def full_console() -> FakeConsole:
    """A console with all actions enabled, and a processor that has all fields."""
    auth = {"mode": "token", "token": {"file": "/not/read"}}
    configured = settings(auth=auth, actions=ALL_ON, logs={"enabled": True})
    made = FakeConsole(configured, TokenAuthenticator(OneToken(), lambda: 0.0))
    made.cluster.add(workload("a"))
    selector = {"app.kubernetes.io/name": "lsql-runner", "app.kubernetes.io/instance": "a"}
    made.cluster.pods_of["streams", "a-0"] = FakePod(selector, ["batch 1 ended"])
    made.runners.others["/topology"] = (200, {**DESCRIPTION.topology, "plan": DESCRIPTION.plan})
    made.runners.others["/metadata"] = (200, [STORE])
    made.refresh()
    return made


@schemathesis.pytest.parametrize(console=schema_of(full_console().app, 502, 503))
@BOUNDED
def test_every_operation_responds_as_documented(case: Case[Any]) -> None:
    case.call_and_validate(headers=HEADERS)


PROCESSOR_ROUTES = [route for route in ROUTES if "<id>" in route.path]


@pytest.mark.parametrize("route", PROCESSOR_ROUTES, ids=lambda route: f"{route.method} {route.name}")
def test_routes_of_an_existing_processor_respond_as_documented(route: Route) -> None:
    console = full_console()
    path = path_of(route)
    values: dict[str, Any] = {"id": console.id_of("a")} | ({"workers": 2} if "workers" in path else {})

    asked = schema_of(console.app, 502, 503)[path][route.method].Case(path_parameters=values)
    response = asked.call_and_validate(headers=HEADERS)

    assert response.status_code == ACTION_STATUS.get(route.name, 200)


def test_document_has_every_route_of_the_table() -> None:
    assert not differences(openapi.document(), ROUTES)


def test_routes_with_authentication_list_their_security_schemes() -> None:
    operations = [o for path in openapi.document()["paths"].values() for o in path.values()]
    authenticated = {o["operationId"] for o in operations if "security" in o}

    assert authenticated == {route.name for route in ROUTES if route.access != "anyone"}
    assert all("401" in o["responses"] for o in operations if "security" in o)
