"""The OpenAPI 3.1 document of a table of operations; the app registers its views from the same table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

import lsql_runner
from lsql_runner.web.models import Problem
from lsql_runner.web.problems import MEDIA_TYPE

JSON = "application/json"
_PARAMETER = re.compile(r"<(?:(int):)?(\w+)>")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ResponseSpec:
    """One possible answer: `model` is any type that pydantic can describe."""

    status: int
    description: str
    model: Any
    media_types: tuple[str, ...] = (JSON,)


@dataclass(frozen=True, slots=True)
class ApiOperation:
    """One operation. `name` is its operationId and the name of the view that answers it."""

    method: str
    path: str
    name: str
    tag: str
    summary: str
    answers: tuple[ResponseSpec, ...]
    description: str = ""
    query: tuple[str, ...] = ()
    """The names of its parameters, all texts that may be left out."""
    body: Any = None
    """The model of what it is sent as JSON."""
    schemes: tuple[str, ...] = ()
    """The security schemes by which it knows callers: any of them will do."""


def problem(status: int, description: str) -> ResponseSpec:
    """An answer that is a problem."""
    return ResponseSpec(status, description, Problem, (MEDIA_TYPE,))


BROKEN = problem(500, "Something broke; the log has the details under the reference in `detail`.")
"""Every operation may answer this."""


def document(title: str, introduction: str, operations: Sequence[ApiOperation], schemes: Json | None = None) -> Json:
    """The document as plain values, in a stable order. `schemes` are the security schemes by name."""
    models = [*(answer.model for o in operations for answer in _responses(o)), *(o.body for o in operations if o.body)]
    schemas, definitions = TypeAdapter.json_schemas(
        [(id(model), "serialization", TypeAdapter(model)) for model in {id(model): model for model in models}.values()],
        ref_template="#/components/schemas/{model}",
    )
    paths: Json = {}
    for operation in operations:
        path = _PARAMETER.sub(r"{\2}", operation.path)
        paths.setdefault(path, {})[operation.method.lower()] = _described(operation, schemas)
    components: Json = {"schemas": dict(sorted(definitions.get("$defs", {}).items()))}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": version(),
            "description": introduction,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": components | ({"securitySchemes": schemes} if schemes else {}),
    }


def version() -> str:
    """The version of the contract: it follows the package's."""
    return str(getattr(lsql_runner, "__version__", "0.1.0"))


def _responses(operation: ApiOperation) -> tuple[ResponseSpec, ...]:
    return (*operation.answers, BROKEN)


def _described(operation: ApiOperation, schemas: dict[Any, Any]) -> Json:
    told: Json = {"operationId": operation.name, "tags": [operation.tag], "summary": operation.summary}
    if operation.description:
        told["description"] = operation.description
    if parameters := _parameters(operation):
        told["parameters"] = parameters
    if operation.body:
        schema = schemas[id(operation.body), "serialization"]
        told["requestBody"] = {"required": True, "content": {JSON: {"schema": schema}}}
    if operation.schemes:
        told["security"] = [{scheme: []} for scheme in operation.schemes]
    told["responses"] = {str(answer.status): _response(answer, schemas) for answer in _responses(operation)}
    return told


def _parameters(operation: ApiOperation) -> list[Json]:
    kinds: dict[str, Json] = {"int": {"type": "integer", "minimum": 0}, "": {"type": "string", "minLength": 1}}
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": kinds[kind]}
        for kind, name in _PARAMETER.findall(operation.path)
    ]
    return [*in_path, *({"name": name, "in": "query", "schema": {"type": "string"}} for name in operation.query)]


def _response(answer: ResponseSpec, schemas: dict[Any, Any]) -> Json:
    schema = schemas[id(answer.model), "serialization"]
    return {
        "description": answer.description,
        "content": {media: {"schema": schema} for media in answer.media_types},
    }
