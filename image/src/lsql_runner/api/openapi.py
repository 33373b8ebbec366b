"""The OpenAPI document of a processor's API.

`python -m lsql_runner.api.openapi` prints it for docs/reference/openapi.json.
"""

from __future__ import annotations

import json

from lsql_runner.api.routes import ROUTES
from lsql_runner.web import openapi

INTRODUCTION = (
    "Shows and controls one LSQL processor. Every error is `application/problem+json` with a stable `code` and "
    "a `wayOut`. Field names are camelCase; times are RFC 3339 in UTC. POST requests from "
    "pages of other sites are refused. The audit log names the user in `X-Forwarded-User` if a trusted proxy sent it."
)
SCHEMES: openapi.Json = {
    "token": {"type": "http", "scheme": "bearer", "description": "LSQL_API_TOKEN; not needed if `actions` is `open`."},
    "read_token": {
        "type": "http",
        "scheme": "bearer",
        "description": "LSQL_API_READ_TOKEN; not needed if LSQL_API_QUERIES is `open`.",
    },
}


def document() -> openapi.Json:
    """The document as plain values, in a stable order."""
    return openapi.document("lsql-runner", INTRODUCTION, ROUTES, SCHEMES)


if __name__ == "__main__":
    print(json.dumps(document(), indent=2, ensure_ascii=False))
