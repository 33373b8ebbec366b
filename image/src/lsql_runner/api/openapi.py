"""The OpenAPI 3.1 document, made from the table of routes and the models.

`python -m lsql_runner.api.openapi` prints it for docs/reference/openapi.json.
"""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import TypeAdapter

import lsql_runner
from lsql_runner.api.routes import BROKEN, ROUTES, Answer, Route

PARAMETER = re.compile(r"<(\w+)>")
INTRODUCTION = (
    "Shows and steers one LSQL processor. Every error is `application/problem+json` with a stable `code` and "
    "a `wayOut`. Field names are camelCase; times are RFC 3339 in UTC. POST requests need no body; those of "
    "other sites' pages are refused. `X-Forwarded-User` of a proxy names who asked."
)

Json = dict[str, Any]


def document() -> Json:
    """The document as plain values, in a stable order."""
    answers = [answer for route in ROUTES for answer in _answers(route)]
    kinds = {id(a.model): TypeAdapter(a.model) for a in answers}
    schemas, definitions = TypeAdapter.json_schemas(
        [(key, "serialization", adapter) for key, adapter in kinds.items()],
        ref_template="#/components/schemas/{model}",
    )
    paths: Json = {}
    for route in ROUTES:
        paths.setdefault(PARAMETER.sub(r"{\1}", route.path), {})[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "lsql-runner",
            "version": version(),
            "description": INTRODUCTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {"schemas": dict(sorted(definitions.get("$defs", {}).items()))},
    }


def version() -> str:
    """The version of the contract: it follows the package's."""
    return str(getattr(lsql_runner, "__version__", "0.1.0"))


def _answers(route: Route) -> tuple[Answer, ...]:
    return (*route.answers, BROKEN)


def _operation(route: Route, schemas: dict[Any, Any]) -> Json:
    operation: Json = {"operationId": route.name, "tags": [route.tag], "summary": route.summary}
    if route.description:
        operation["description"] = route.description
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in PARAMETER.findall(route.path)
    ]
    if parameters:
        operation["parameters"] = parameters
    operation["responses"] = {str(answer.status): _response(answer, schemas) for answer in _answers(route)}
    return operation


def _response(answer: Answer, schemas: dict[Any, Any]) -> Json:
    schema = schemas[id(answer.model), "serialization"]
    return {
        "description": answer.description,
        "content": {media: {"schema": schema} for media in answer.media_types},
    }


if __name__ == "__main__":
    print(json.dumps(document(), indent=2, ensure_ascii=False))
