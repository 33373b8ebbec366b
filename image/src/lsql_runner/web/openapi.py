"""Makes an OpenAPI 3.1 document from a table of operations; the app registers its views from the same table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from importlib.metadata import version
from typing import Any

from pydantic import TypeAdapter

from lsql_runner.reports.model import Problem
from lsql_runner.web.problems import MEDIA_TYPE

JSON = "application/json"
METRICS_TYPES = ("text/plain", "application/openmetrics-text")
"""The formats of GET /metrics."""
_PARAMETER = re.compile(r"<(?:(int):)?(\w+)>")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ResponseSpec:
    """One possible response. `model` is any type that pydantic can describe."""

    status: int
    description: str
    model: Any
    media_types: tuple[str, ...] = (JSON,)


@dataclass(frozen=True, slots=True)
class ApiOperation:
    """An operation of the API. `name` is its operationId and the name of its view."""

    method: str
    path: str
    _: KW_ONLY
    name: str
    tag: str
    summary: str
    responses: tuple[ResponseSpec, ...]
    description: str = ""
    query: Mapping[str, Json] = field(default_factory=dict)
    """Its query parameters, which are optional: their JSON Schemas. They are strings unless it says another type."""
    body: Any = None
    """The model of the JSON body."""
    schemes: tuple[str, ...] = ()
    """Alternative security schemes."""


def problem(status: int, description: str) -> ResponseSpec:
    """The specification of an error response."""
    return ResponseSpec(status, description, Problem, (MEDIA_TYPE,))


INTERNAL_ERROR = problem(500, "Internal error; the log has the details under the reference in `wayOut`.")
HOST_REFUSED = problem(403, "The host name in the URL is not allowed.")
"""Responses that every operation may have."""


def document(title: str, introduction: str, operations: Sequence[ApiOperation], schemes: Json | None = None) -> Json:
    """The document as plain values, in a stable order. `schemes` are the security schemes by name."""
    models = [
        *(response.model for o in operations for response in _responses(o)),
        *(o.body for o in operations if o.body),
    ]
    schemas, definitions = TypeAdapter.json_schemas(
        [(id(model), "serialization", TypeAdapter(model)) for model in {id(model): model for model in models}.values()],
        ref_template="#/components/schemas/{model}",
    )
    paths: Json = {}
    for operation in operations:
        path = _PARAMETER.sub(r"{\2}", operation.path)
        paths.setdefault(path, {})[operation.method.lower()] = _describe_operation(operation, schemas)
    components: Json = {"schemas": dict(sorted(definitions.get("$defs", {}).items()))}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": version("lsql-runner"),
            "description": introduction,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": components | ({"securitySchemes": schemes} if schemes else {}),
    }


def _responses(operation: ApiOperation) -> tuple[ResponseSpec, ...]:
    is_documented = any(response.status == HOST_REFUSED.status for response in operation.responses)
    return (*operation.responses, *(() if is_documented else (HOST_REFUSED,)), INTERNAL_ERROR)


def _describe_operation(operation: ApiOperation, schemas: dict[Any, Any]) -> Json:
    described: Json = {"operationId": operation.name, "tags": [operation.tag], "summary": operation.summary}
    if operation.description:
        described["description"] = operation.description
    if parameters := _parameters(operation):
        described["parameters"] = parameters
    if operation.body:
        schema = schemas[id(operation.body), "serialization"]
        described["requestBody"] = {"required": True, "content": {JSON: {"schema": schema}}}
    if operation.schemes:
        described["security"] = [{scheme: []} for scheme in operation.schemes]
    described["responses"] = {str(response.status): _response(response, schemas) for response in _responses(operation)}
    return described


def _parameters(operation: ApiOperation) -> list[Json]:
    kinds: dict[str, Json] = {"int": {"type": "integer", "minimum": 0}, "": {"type": "string", "minLength": 1}}
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": kinds[kind]}
        for kind, name in _PARAMETER.findall(operation.path)
    ]
    return [*in_path, *(_query_parameter(*each) for each in operation.query.items())]


def _query_parameter(name: str, schema: Json) -> Json:
    described = {"description": schema["description"]} if "description" in schema else {}
    rest = {key: value for key, value in schema.items() if key != "description"}
    return {"name": name, "in": "query", **described, "schema": rest if "anyOf" in rest else {"type": "string"} | rest}


def _response(response: ResponseSpec, schemas: dict[Any, Any]) -> Json:
    schema = schemas[id(response.model), "serialization"]
    return {
        "description": response.description,
        "content": {media: {"schema": schema} for media in response.media_types},
    }
