"""The console and its recovery job."""

from __future__ import annotations

from http import HTTPStatus

from lsql_runner.errors.kinds import EXIT_RUNTIME, ErrorKind

CONSOLE: dict[str, ErrorKind] = {
    "CONSOLE_CONFIG_INVALID": ErrorKind(
        "The configuration {path} of the console is invalid at {place}: {reason}.",
        "Correct that place. The chart lsql-console writes this file from its values.",
    ),
    "TOKEN_FILE_INVALID": ErrorKind(
        "Line {line} of the token file {path} is invalid.",
        "Write a name (at most 128 characters, no comma), viewer or operator, and the SHA-256 of the token, separated "
        "by blanks.",
    ),
    "CLUSTER_UNREACHABLE": ErrorKind(
        "The API server cannot be used: {reason}.",
        "Check KUBECONFIG, or the service account of the pod.",
        exit_code=EXIT_RUNTIME,
    ),
    "CLUSTER_REFUSED": ErrorKind(
        "The API server failed to {action} {resource}: {reason}.",
        "Check that it is reachable and what the Role of the service account allows.",
        exit_code=EXIT_RUNTIME,
        http_status=HTTPStatus.BAD_GATEWAY,
    ),
    "DOCUMENT_CONFLICT": ErrorKind(
        "{resource} was changed by another writer in each of {attempts} attempts to write it.",
        "Run one recovery job for each ConfigMap.",
        exit_code=EXIT_RUNTIME,
        http_status=HTTPStatus.BAD_GATEWAY,
    ),
    "DOCUMENT_TOO_LARGE": ErrorKind(
        "The document of {processors} processors has {size_bytes} bytes; a ConfigMap holds {limit_bytes}.",
        "Divide the namespaces between several releases of the console.",
        exit_code=EXIT_RUNTIME,
    ),
    "CONSOLE_STARTING": ErrorKind(
        "The console has not listed the processors yet.",
        "Try again in a few seconds.",
        exit_code=EXIT_RUNTIME,
        http_status=HTTPStatus.BAD_GATEWAY,
    ),
    "PROCESSOR_UNKNOWN": ErrorKind(
        "The processor {id} does not exist.",
        "GET /api/v1/streams lists all processors.",
        http_status=HTTPStatus.NOT_FOUND,
    ),
    "PROCESSOR_DELETED": ErrorKind(
        "The processor {name} was deleted.", "Install its release again.", http_status=HTTPStatus.CONFLICT
    ),
    "AUTHENTICATION_REQUIRED": ErrorKind(
        "Authentication is required.", "Log in, or send a bearer token.", http_status=HTTPStatus.UNAUTHORIZED
    ),
    "PROXY_UNTRUSTED": ErrorKind(
        "Authentication is required, and the request did not come through a trusted proxy.",
        "Send the request through the proxy, or add its address to auth.header.trustedProxies.",
        http_status=HTTPStatus.UNAUTHORIZED,
    ),
    "PROXY_USER_MISSING": ErrorKind(
        "Authentication is required, and the proxy did not send one valid user name.",
        "Log in at the proxy, or correct the header in which it sends the user.",
        http_status=HTTPStatus.UNAUTHORIZED,
    ),
    "PROXY_HEADER_REPEATED": ErrorKind(
        "Authentication is required, and the request has the header {header} more than once.",
        "Configure the proxy to remove the header from the requests of clients before it sets it.",
        http_status=HTTPStatus.UNAUTHORIZED,
    ),
    "TOKEN_INVALID": ErrorKind(
        "The token is not valid.",
        "Ask the administrator of the console for a token.",
        http_status=HTTPStatus.UNAUTHORIZED,
    ),
    "TOKENS_DISABLED": ErrorKind(
        "Logging in with a token is disabled: auth.mode is {mode}.",
        "Set auth.mode to token.",
        http_status=HTTPStatus.BAD_REQUEST,
    ),
    "PERMISSION_DENIED": ErrorKind(
        "The user {user} does not have permission to {action}.",
        "Ask the administrator of the console for the role {role}.",
        http_status=HTTPStatus.FORBIDDEN,
    ),
    "ACTION_DISABLED": ErrorKind(
        "The action {action} is disabled.",
        "Set {setting} to true in the values of the chart.",
        http_status=HTTPStatus.FORBIDDEN,
    ),
    "SCALE_REFUSED": ErrorKind(
        "{name} cannot be scaled to {workers}: its release has no workers, and a second runner would process every "
        "record twice.",
        "Set workers.replicas in the values of its release, give the runner more CPU, or split the program.",
        http_status=HTTPStatus.CONFLICT,
    ),
    "SCALE_OUT_OF_RANGE": ErrorKind(
        "{name} cannot be scaled to {workers} workers; the largest number is {maximum}.",
        "Set a number from 0 to {maximum}, or workers.maximum in the values of the console.",
        http_status=HTTPStatus.CONFLICT,
    ),
    "SCALED_BY_AUTOSCALER": ErrorKind(
        "{name} cannot be scaled to {workers}: {autoscaler} scales its workers, and its next decision would undo the "
        "change.",
        "Change the minimum or the maximum of {autoscaler}, or disable autoscaling in the values of its release.",
        http_status=HTTPStatus.CONFLICT,
    ),
    "RUNNER_UNREACHABLE": ErrorKind(
        "The runner of {name} does not answer: {reason}.",
        "Check its pod and its Service.",
        exit_code=EXIT_RUNTIME,
        http_status=HTTPStatus.BAD_GATEWAY,
    ),
    "RUNNER_TOKEN_UNREADABLE": ErrorKind(
        "The token of {name} in Secret/{secret} cannot be read: {reason}.",
        "Add the name of the Secret to runners.tokenSecrets in the values of the console.",
        exit_code=EXIT_RUNTIME,
        http_status=HTTPStatus.BAD_GATEWAY,
    ),
    "RUNNER_REFUSED": ErrorKind(
        "The runner of {name} refused to {action}: {reason}.", "{way_out}", http_status=HTTPStatus.CONFLICT
    ),
}
