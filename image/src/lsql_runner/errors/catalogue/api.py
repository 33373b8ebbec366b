"""Requests to the REST API."""

from __future__ import annotations

from http import HTTPStatus

from lsql_runner.errors.kinds import RUNTIME, ErrorKind

API: dict[str, ErrorKind] = {
    "TRANSITION_REFUSED": ErrorKind(
        "The processor cannot {action} while it is {state}.",
        "Wait for the state to change; GET /stream shows it.",
        http_status=HTTPStatus.CONFLICT,
    ),
    "REQUEST_INVALID": ErrorKind(
        "The request is wrong: {reason}.", "See GET /openapi.json.", http_status=HTTPStatus.BAD_REQUEST
    ),
    "CROSS_SITE_REFUSED": ErrorKind(
        "A page of {origin} asked for this, not the processor's own page.",
        "Ask from the processor's page, or from a program.",
        http_status=HTTPStatus.FORBIDDEN,
    ),
    "NOT_FOUND": ErrorKind(
        "There is no {path} here.", "See GET /openapi.json for what there is.", http_status=HTTPStatus.NOT_FOUND
    ),
    "METHOD_NOT_ALLOWED": ErrorKind(
        "{method} is not allowed on {path}.", "Use {allowed}.", http_status=HTTPStatus.METHOD_NOT_ALLOWED
    ),
    "INTERNAL": ErrorKind(
        "Something broke that is not your doing: {reason}.",
        "The log holds the details under {reference}; please report it.",
        exit_code=RUNTIME,
    ),
}
