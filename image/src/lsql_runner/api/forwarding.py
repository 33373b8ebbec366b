"""A standby forwards requests about the processor to the process that leads, so that a Service may choose any pod."""

from __future__ import annotations

import hashlib
import hmac
import logging

import httpx2
from flask import Flask, Request, Response, request

from lsql_runner.api.access import FORWARDED_USER, ApiAccess
from lsql_runner.api.store_query import standby_answers
from lsql_runner.errors import LsqlError
from lsql_runner.runtime.port import Processor
from lsql_runner.web.forwarded import forwarded_user, user_value

LOG = logging.getLogger("lsql_runner.api")

FORWARDED = frozenset(
    {
        *("stores", "store_rows", "comparison", "stream", "history", "topology", "verdict", "stop", "start", "switch"),
        *("snapshots", "take_snapshot", "restore_snapshot", "clone_snapshot", "prune_snapshots"),
    }
)
"""The routes that describe or change the processor. Each process has its own health and metrics."""
MARK = "Lsql-Forwarded"
"""A header that the leader gets with a forwarded request. It is not forwarded again: the leader may have changed."""
FOR = "Lsql-Forwarded-For"
"""The sender of a forwarded request, as it would be in the audit log of the standby."""
PROOF = "Lsql-Forwarded-Proof"
"""An HMAC that only a process with the same state directory can compute. Without it, FOR is ignored."""

_SENT = ("Accept", "Authorization", "Content-Type")
_TIMEOUT_S = 10.0
_SNAPSHOT_TIMEOUT_S = 600.0
"""State at a URI is copied."""


def install(app: Flask, processor: Processor, access: ApiAccess) -> None:
    """Forward requests while this process does not lead. The app has checked host and origin of a request before."""
    client = httpx2.Client(trust_env=False, verify=False, follow_redirects=False)

    @app.before_request
    def forward() -> Response | None:
        seen = processor.status().leadership
        if seen is not None and seen.leads and FOR in request.headers:
            _accept_user(request, processor.shared_secret())
        if seen is None or seen.leads or request.endpoint not in FORWARDED:
            return None
        if request.endpoint == "store_rows" and standby_answers(request.args):
            return None
        if not seen.address or MARK in request.headers:
            raise LsqlError("LEADER_UNKNOWN")
        headers = {name: request.headers[name].encode() for name in _SENT if name in request.headers} | {MARK: b"1"}
        if request.method == "POST" or request.endpoint in ("store_rows", "comparison"):
            user = access.requester(request)
            if request.method == "POST":
                LOG.info("request forwarded", extra={"path": request.path, "user": user, "leader": seen.holder})
            proof = _proof(request, user, processor.shared_secret())
            headers |= {FOR: user_value(user), PROOF: proof.encode()}
        is_copied = request.endpoint in ("take_snapshot", "restore_snapshot", "clone_snapshot")
        return _answer_of(client, seen.address, headers, _SNAPSHOT_TIMEOUT_S if is_copied else _TIMEOUT_S)


def _accept_user(incoming: Request, secret: str) -> None:
    """Use the sender that a standby names, if its proof is valid."""
    user = forwarded_user(incoming, FOR)
    if user is not None and secret:
        proof = incoming.headers.get(PROOF, "").encode(errors="surrogateescape")
        if hmac.compare_digest(proof, _proof(incoming, user, secret).encode()):
            incoming.environ[FORWARDED_USER] = user


def _proof(incoming: Request, user: str, secret: str) -> str:
    """The HMAC of a request and its sender. Who sends it again needs the same token, and only repeats the request."""
    parts = (incoming.method, incoming.path, incoming.query_string, incoming.headers.get("Authorization", ""), user)
    return hmac.digest(secret.encode(), repr(parts).encode(), hashlib.sha256).hex()


def _answer_of(client: httpx2.Client, address: str, headers: dict[str, bytes], timeout_s: float) -> Response:
    sent = {name.encode(): value for name, value in headers.items()}
    url = f"http://{address}{request.full_path if request.query_string else request.path}"
    try:
        answer = client.request(request.method, url, content=request.get_data(), headers=sent, timeout=timeout_s)
    except httpx2.HTTPError as error:
        raise LsqlError("LEADER_UNREACHABLE", address=address, reason=str(error) or type(error).__name__) from None
    return Response(answer.content, status=answer.status_code, content_type=answer.headers.get("Content-Type", ""))
