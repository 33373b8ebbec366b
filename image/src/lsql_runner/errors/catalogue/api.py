"""Requests to the REST API."""

from __future__ import annotations

from http import HTTPStatus

from lsql_runner.errors.kinds import EXIT_RUNTIME, ErrorKind

API: dict[str, ErrorKind] = {
    "TRANSITION_REFUSED": ErrorKind(
        "The processor cannot {action} while it is {state}.",
        "Wait until the state changes. GET /stream shows it.",
        http_status=HTTPStatus.CONFLICT,
    ),
    "SWITCH_REFUSED": ErrorKind(
        "The processor cannot switch: {reason}.",
        "See blueGreen in GET /stream, and switch while its phase is ready.",
        http_status=HTTPStatus.CONFLICT,
    ),
    "RESTORE_REFUSED": ErrorKind(
        "The processor cannot restore a snapshot while it is {state}.",
        "Stop it first (POST /stop), and start it afterwards.",
        http_status=HTTPStatus.CONFLICT,
    ),
    "NOTHING_TO_COMPARE": ErrorKind(
        "No changed INSERT is built beside an earlier one.",
        "Change the program with LSQL_STATE_ON_CHANGE=blue_green (upgrade.onIncompatible=blueGreen), and compare "
        "before the switch.",
        http_status=HTTPStatus.CONFLICT,
    ),
    "ACTIONS_DISABLED": ErrorKind(
        "The processor does not accept requests to {action}.",
        "Set LSQL_API_TOKEN, or LSQL_API_ACTIONS to open (api.actions in the values of the chart).",
        http_status=HTTPStatus.FORBIDDEN,
    ),
    "API_TOKEN_MISSING": ErrorKind(
        "The request to {action} has no token.",
        "Send the token of the processor in the header Authorization: Bearer <token>.",
        http_status=HTTPStatus.UNAUTHORIZED,
    ),
    "API_TOKEN_INVALID": ErrorKind(
        "The token of the request to {action} is not the processor's token.",
        "Send the value of {setting}, which the chart has in the Secret of the release.",
        http_status=HTTPStatus.UNAUTHORIZED,
    ),
    "LEADER_UNKNOWN": ErrorKind(
        "No process leads at the moment, so that nobody can answer.",
        "Try again after some seconds. If it lasts, see GET /health of the pods.",
        http_status=HTTPStatus.SERVICE_UNAVAILABLE,
    ),
    "LEADER_UNREACHABLE": ErrorKind(
        "The process that leads, at {address}, does not answer: {reason}.",
        "Try again after some seconds. If it lasts, check that the pods of the processor may reach each other.",
        http_status=HTTPStatus.SERVICE_UNAVAILABLE,
    ),
    "QUERIES_DISABLED": ErrorKind(
        "The processor does not show rows of its state.",
        "Set LSQL_API_QUERIES to token or open (api.queries in the values of the chart).",
        http_status=HTTPStatus.FORBIDDEN,
    ),
    "QUERIES_LIMITED": ErrorKind(
        "The processor answers {limit} requests for state in a second, and this one is more.",
        "Send fewer, or increase LSQL_API_QUERIES_PER_SECOND (api.queriesPerSecond in the values of the chart).",
        http_status=HTTPStatus.TOO_MANY_REQUESTS,
    ),
    "QUERIES_WAITING": ErrorKind(
        "Too many requests wait for records in the state.",
        "Try again after some seconds, or without atLeast and maxLag.",
        http_status=HTTPStatus.SERVICE_UNAVAILABLE,
    ),
    "STORE_NOT_QUERYABLE": ErrorKind(
        "The rows of the state store {store} cannot be read: {reason}.",
        "Read the target topic.",
        http_status=HTTPStatus.NOT_IMPLEMENTED,
    ),
    "STORE_NOT_LOADED": ErrorKind(
        "The state store {store} has no batch: none has run since the start, or none was ever saved.",
        "Try again after some seconds. The first record, or the first tick of the clock, runs a batch.",
        http_status=HTTPStatus.SERVICE_UNAVAILABLE,
    ),
    "STORE_UNREADABLE": ErrorKind(
        "The saved state of the store {store} cannot be read: {reason}.",
        "Check the volume or the store of the state.",
    ),
    "STORE_BEHIND": ErrorKind(
        "The state store {store} does not contain {wanted}.",
        "Try again, increase the parameter wait, or ask for less. GET /stream shows the lag.",
        http_status=HTTPStatus.SERVICE_UNAVAILABLE,
    ),
    "STORE_KEY_INVALID": ErrorKind(
        "The key is not one of the state store {store}, whose keys are {type}: {reason}.",
        "Give the key as JSON of this type; a string without quotes.",
        http_status=HTTPStatus.BAD_REQUEST,
    ),
    "STORE_CURSOR_INVALID": ErrorKind(
        "The cursor {cursor} is not of an answer of this store.",
        "Give the cursor of the page before, or none.",
        http_status=HTTPStatus.BAD_REQUEST,
    ),
    "REQUEST_INVALID": ErrorKind(
        "The request is invalid: {reason}.", "See GET /openapi.json.", http_status=HTTPStatus.BAD_REQUEST
    ),
    "REQUEST_NOT_HTTP": ErrorKind(
        "The request is not valid HTTP: {reason}.", "Send an HTTP request.", http_status=HTTPStatus.BAD_REQUEST
    ),
    "REQUEST_BODY_INVALID": ErrorKind(
        "The body of the request is invalid.", "Send JSON of the form {expected}.", http_status=HTTPStatus.BAD_REQUEST
    ),
    "REQUEST_PARAMETER_UNKNOWN": ErrorKind(
        "The parameter {name} does not exist.", "Use one of {known}.", http_status=HTTPStatus.BAD_REQUEST
    ),
    "REQUEST_PARAMETER_INVALID": ErrorKind(
        "The parameter {name} is {value!r}, not {expected}.",
        "See GET /openapi.json.",
        http_status=HTTPStatus.BAD_REQUEST,
    ),
    "HOST_NOT_ALLOWED": ErrorKind(
        "The request has the host name {host}, which is not allowed.",
        "Add the name to {setting} ({value} in the values of the chart), or send the request to an IP address.",
        http_status=HTTPStatus.FORBIDDEN,
    ),
    "CROSS_SITE_REFUSED": ErrorKind(
        "The request came from a page of another site, {origin}.",
        "Send it from the processor's page, or from a program.",
        http_status=HTTPStatus.FORBIDDEN,
    ),
    "NOT_FOUND": ErrorKind(
        "{path} does not exist.", "GET /openapi.json lists all paths.", http_status=HTTPStatus.NOT_FOUND
    ),
    "METHOD_NOT_ALLOWED": ErrorKind(
        "{method} is not allowed on {path}.", "Use {allowed}.", http_status=HTTPStatus.METHOD_NOT_ALLOWED
    ),
    "INTERNAL": ErrorKind(
        "Internal error: {reason}.",
        "Please report it. The log has the details under {reference}.",
        exit_code=EXIT_RUNTIME,
    ),
}
