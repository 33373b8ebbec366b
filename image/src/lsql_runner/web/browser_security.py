"""Security in the browser: strict headers on every response; pages of other sites can only send GET requests, and only
to allowed host names.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import Flask, Request, Response, request

from lsql_runner.errors import LsqlError
from lsql_runner.web.allowed_hosts import AllowedHosts

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
DEFAULT_PORTS = {"http": 80, "https": 443}


def install(app: Flask, hosts: AllowedHosts) -> None:
    """Refuse requests to other hosts, and cross-site requests to `app` with any method that is not safe.

    Also set the headers on every response.
    """

    @app.before_request
    def refuse_other_sites() -> None:
        hosts.check(request.headers.get("Host"))
        if request.method not in SAFE_METHODS:
            refuse_cross_site(request)

    @app.after_request
    def protect(response: Response) -> Response:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        if request.endpoint != "static":
            response.headers.setdefault("Cache-Control", "no-store")
        return response


def refuse_cross_site(incoming: Request) -> None:
    """Allow requests from the app's own page and from programs; refuse requests from other pages.

    Browsers send `Origin` with every POST, PUT and DELETE, and `Sec-Fetch-Site` to trustworthy addresses (https,
    localhost); programs send neither. If `Sec-Fetch-Site` is present, `Origin` is not compared with `Host`, which a
    proxy may rewrite.

    Raises:
        LsqlError: CROSS_SITE_REFUSED.
    """
    origin = incoming.headers.get("Origin")
    site = incoming.headers.get("Sec-Fetch-Site")
    if site is not None:
        allowed = site in ("same-origin", "none")
    else:
        allowed = origin is None or _same_host(origin, incoming.host)
    if not allowed:
        raise LsqlError("CROSS_SITE_REFUSED", origin=(origin or "unknown")[:200])


def _same_host(origin: str, host: str) -> bool:
    try:
        source = urlsplit(origin)
        server = urlsplit(f"//{host}")
        default = DEFAULT_PORTS.get(source.scheme)
        return source.hostname is not None and (
            (source.hostname, source.port or default) == (server.hostname, server.port or default)
        )
    except ValueError:
        return False
