"""The console and its recovery job."""

from __future__ import annotations

from http import HTTPStatus

from lsql_runner.errors.kinds import RUNTIME, ErrorKind

CONSOLE: dict[str, ErrorKind] = {
    "CONSOLE_CONFIG_INVALID": ErrorKind(
        "The console's configuration {path} is wrong at {place}: {reason}.",
        "Correct that place; docs/guides/console.md lists the keys.",
    ),
    "CLUSTER_REFUSED": ErrorKind(
        "The API server did not {what}: {reason}.",
        "Check that it can be reached and what the service account's Role allows.",
        exit_code=RUNTIME,
        http_status=HTTPStatus.BAD_GATEWAY,
    ),
    "DOCUMENT_TOO_LARGE": ErrorKind(
        "What is known of {processors} processors takes {size_bytes} bytes; a ConfigMap holds {limit_bytes}.",
        "Divide the namespaces between several releases of the console.",
        exit_code=RUNTIME,
    ),
    "PROCESSOR_UNKNOWN": ErrorKind(
        "There is no processor {id}.", "GET /api/v1/streams lists them.", http_status=HTTPStatus.NOT_FOUND
    ),
    "PROCESSOR_DELETED": ErrorKind(
        "The processor {name} was deleted.", "Install its release again.", http_status=HTTPStatus.CONFLICT
    ),
    "AUTHENTICATION_REQUIRED": ErrorKind(
        "It is not known who asks: {reason}.",
        "Log in, or send what the console asks for.",
        http_status=HTTPStatus.UNAUTHORIZED,
    ),
    "TOKEN_INVALID": ErrorKind(
        "This token is not known.", "Ask whoever runs the console for one.", http_status=HTTPStatus.UNAUTHORIZED
    ),
    "PERMISSION_DENIED": ErrorKind(
        "{user} may not {action}.",
        "Ask whoever runs the console for the role {role}.",
        http_status=HTTPStatus.FORBIDDEN,
    ),
    "ACTION_DISABLED": ErrorKind(
        "To {action} is switched off.", "Set {setting} to true in the chart's values.", http_status=HTTPStatus.FORBIDDEN
    ),
    "SCALE_REFUSED": ErrorKind(
        "{name} cannot be scaled to {runners}: its release has no workers, and a second runner would do all its work twice.",
        "Give the runner more CPU, or divide the program.",
        http_status=HTTPStatus.CONFLICT,
    ),
    "RUNNER_UNREACHABLE": ErrorKind(
        "The runner of {name} does not answer: {reason}.",
        "Look at its pod and its Service.",
        exit_code=RUNTIME,
        http_status=HTTPStatus.BAD_GATEWAY,
    ),
    "RUNNER_REFUSED": ErrorKind(
        "The runner of {name} refused to {action}: {reason}.", "{way_out}", http_status=HTTPStatus.CONFLICT
    ),
}
