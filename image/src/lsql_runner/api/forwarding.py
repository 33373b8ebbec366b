"""A standby forwards requests about the processor to the process that leads, so that a Service may choose any pod."""

from __future__ import annotations

import logging

import httpx2
from flask import Flask, Response, request

from lsql_runner.api.access import ApiAccess
from lsql_runner.errors import LsqlError
from lsql_runner.runtime.port import Processor

LOG = logging.getLogger("lsql_runner.api")

FORWARDED = frozenset({"stores", "store_rows", "stream", "history", "stop", "start", "topology"})
"""The routes that describe or change the processor. Health and metrics are those of each process."""
MARK = "Lsql-Forwarded"
"""A header that the leader gets with a forwarded request. It is not forwarded again: the leader may have changed."""

_SENT = ("Accept", "Authorization", "Content-Type")
_TIMEOUT_S = 10.0


def install(app: Flask, processor: Processor, access: ApiAccess) -> None:
    """Forward requests while this process does not lead. The app has checked host and origin of a request before."""
    client = httpx2.Client(timeout=_TIMEOUT_S, trust_env=False, verify=False, follow_redirects=False)

    @app.before_request
    def forward() -> Response | None:
        seen = processor.status().leadership
        if seen is None or seen.leads or request.endpoint not in FORWARDED:
            return None
        if not seen.address or MARK in request.headers:
            raise LsqlError("LEADER_UNKNOWN")
        if request.method == "POST":  # the audit log of the leader has the address of this process
            user = access.requester(request)
            LOG.info("request forwarded", extra={"path": request.path, "user": user, "leader": seen.holder})
        return _answer_of(client, seen.address)


def _answer_of(client: httpx2.Client, address: str) -> Response:
    headers = {name: request.headers[name] for name in _SENT if name in request.headers} | {MARK: "1"}
    url = f"http://{address}{request.full_path if request.query_string else request.path}"
    try:
        answer = client.request(request.method, url, content=request.get_data(), headers=headers)
    except httpx2.HTTPError as error:
        raise LsqlError("LEADER_UNREACHABLE", address=address, reason=str(error) or type(error).__name__) from None
    return Response(answer.content, status=answer.status_code, content_type=answer.headers.get("Content-Type", ""))
