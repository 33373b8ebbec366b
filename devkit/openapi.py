"""Tests an app with its own OpenAPI document, and compares the document with the table of routes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import schemathesis
from flask import Flask
from hypothesis import HealthCheck, settings
from schemathesis import Config

from lsql_runner.web.openapi import ApiOperation

BOUNDED = settings(
    max_examples=20,
    stateful_step_count=12,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def schema_of(app: Flask, *expected_5xx: int, token: str = "") -> Any:
    """The operations of an app as schemathesis schemas, whose requests have a bearer token if one is given.

    A status from 500 on is a failure unless it is expected, and so is success without a token where one is required.
    """
    config: dict[str, Any] = {
        "generation": {"mode": "all", "deterministic": True},
        "checks": {"not_a_server_error": {"expected-statuses": ["2xx", "4xx", *expected_5xx]}},
    }
    if token:
        config["headers"] = {"Authorization": f"Bearer {token}"}
    return schemathesis.openapi.from_wsgi("/openapi.json", app, config=Config.from_dict(config))


def path_of(route: ApiOperation) -> str:
    """The path as OpenAPI writes it."""
    return re.sub(r"<(?:int:)?(\w+)>", r"{\1}", route.path)


def differences(document: dict[str, Any], routes: Sequence[ApiOperation]) -> set[tuple[str, str, str]]:
    """Method, path and id of each operation that only the document or only the routes have."""
    described = {
        (method.upper(), path, operation["operationId"])
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }
    return described ^ {(route.method, path_of(route), route.name) for route in routes}
