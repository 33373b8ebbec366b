"""The OpenAPI document of the console's API.

`python -m lsql_runner.console.openapi` prints it for docs/reference/console-openapi.json.
"""

from __future__ import annotations

import json

from lsql_runner.console.auth import COOKIE
from lsql_runner.console.routes import ROUTES
from lsql_runner.web import openapi

INTRODUCTION = (
    "Shows the LSQL processors in the configured namespaces, and stops, starts and deletes them if these actions are "
    "enabled. "
    "Every error is `application/problem+json` with a stable `code` and a `wayOut`. Field names are camelCase; times "
    "are RFC 3339 in UTC. Depending on the configuration, callers are authenticated by a token, by a session that "
    "began with a token, or by a trusted reverse proxy; without authentication every caller is a viewer."
)
SCHEMES: openapi.Json = {
    "token": {"type": "http", "scheme": "bearer", "description": "A token whose hash is in the console's token file."},
    "session": {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "POST /api/v1/session sets it."},
}


def document() -> openapi.Json:
    """The document as plain values, in a stable order."""
    return openapi.document("lsql-console", INTRODUCTION, ROUTES, SCHEMES)


if __name__ == "__main__":
    print(json.dumps(document(), indent=2, ensure_ascii=False))
