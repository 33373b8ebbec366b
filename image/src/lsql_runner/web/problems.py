"""Turns every error into a response: application/problem+json (RFC 9457) with a code and a way out."""

from __future__ import annotations

import logging
import secrets
from http import HTTPStatus

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException, InternalServerError, MethodNotAllowed, NotFound

from lsql_runner.errors import LsqlError
from lsql_runner.reports.model import Problem

MEDIA_TYPE = "application/problem+json"

LOG = logging.getLogger(__name__)


def problem(error: LsqlError, path: str, status: int | None = None) -> Problem:
    """The error as the API reports it."""
    status = error.kind.http_status if status is None else HTTPStatus(status)
    return Problem(
        type="urn:lsql:error:" + error.code.lower().replace("_", "-"),
        title=status.phrase,
        status=status.value,
        code=error.code,
        detail=error.message,
        way_out=error.way_out,
        instance=path,
    )


def problem_response(error: LsqlError, status: int | None = None) -> Response:
    """The error as a Flask response."""
    body = problem(error, request.path, status)
    return Response(body.model_dump_json(by_alias=True), status=body.status, content_type=MEDIA_TYPE)


def install(app: Flask) -> None:
    """Turn every error of `app` into a problem: LsqlError, errors of werkzeug, and unexpected exceptions."""
    app.register_error_handler(LsqlError, problem_response)
    app.register_error_handler(HTTPException, _from_http)
    app.register_error_handler(Exception, _from_bug)


def _from_http(error: HTTPException) -> Response:
    if error.code is None or error.code < 400:
        return Response(error.get_response().get_data(), status=error.code, headers=error.get_headers())
    ours = _translate(error)
    response = problem_response(ours, error.code)
    for name, value in error.get_headers():
        if name.lower() not in ("content-type", "content-length"):
            response.headers[name] = value
    return response


def _translate(error: HTTPException) -> LsqlError:
    if isinstance(error, NotFound):
        return LsqlError("NOT_FOUND", path=request.path)
    if isinstance(error, MethodNotAllowed):
        allowed = ", ".join(sorted(error.valid_methods or ()))
        return LsqlError("METHOD_NOT_ALLOWED", method=request.method, path=request.path, allowed=allowed)
    if isinstance(error, InternalServerError):
        return _internal(error)
    return LsqlError("REQUEST_INVALID", reason=error.name)


def _from_bug(error: Exception) -> Response:
    return problem_response(_internal(error))


def _internal(error: Exception) -> LsqlError:
    """INTERNAL with a reference, under which the trace is logged, and with the type of the exception."""
    reference = secrets.token_hex(4)
    LOG.error("request failed", exc_info=error, extra={"reference": reference, "path": request.path})
    return LsqlError("INTERNAL", reason=type(error).__name__, reference=reference)
