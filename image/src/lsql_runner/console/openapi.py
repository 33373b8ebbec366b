"""The OpenAPI document of the console's API.

`python -m lsql_runner.console.openapi` prints it for docs/reference/console-openapi.json.
"""

from __future__ import annotations

import json

from lsql_runner.console.auth import COOKIE
from lsql_runner.console.routes import ROUTES
from lsql_runner.web import openapi

INTRODUCTION = (
    "Shows all LSQL processors of a cluster, and stops, starts and deletes them where that is switched on. "
    "Every error is `application/problem+json` with a stable `code` and a `wayOut`. Field names are camelCase; times "
    "are RFC 3339 in UTC. Callers are authenticated by a token, by a session that began with one, or by a "
    "trusted reverse proxy, as configured; without authentication every caller is a viewer."
)
SCHEMES: openapi.Json = {
    "token": {"type": "http", "scheme": "bearer", "description": "A token of the console's file."},
    "session": {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "POST /api/v1/session sets it."},
}


def document() -> openapi.Json:
    """The document as plain values, in a stable order."""
    return openapi.document("lsql-console", INTRODUCTION, ROUTES, SCHEMES)


if __name__ == "__main__":
    print(json.dumps(document(), indent=2, ensure_ascii=False))
