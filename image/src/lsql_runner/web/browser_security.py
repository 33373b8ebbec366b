"""Security in the browser: strict headers on every response, and no POST from pages of other sites."""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import Flask, Request, Response, request

from lsql_runner.errors import LsqlError

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


def install(app: Flask) -> None:
    """Refuse cross-site POST requests to `app`, and set the headers on every response."""

    @app.before_request
    def refuse_other_sites() -> None:
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
    """Allow requests of the processor's own page and of programs; refuse those of other pages.

    Browsers send the origin: `Sec-Fetch-Site` where the address is trustworthy (https, localhost), `Origin` on
    every post. A program sends neither. The former alone decides where it is there, for a proxy may rewrite
    `Host`.

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
        asked_from = urlsplit(origin)
        asked = urlsplit(f"//{host}")
        default = DEFAULT_PORTS.get(asked_from.scheme)
        return asked_from.hostname is not None and (
            (asked_from.hostname, asked_from.port or default) == (asked.hostname, asked.port or default)
        )
    except ValueError:
        return False
