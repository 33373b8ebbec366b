"""The Flask app that the processor's API and the console build on."""

from __future__ import annotations

from pathlib import Path

from flask import Flask

from lsql_runner.web import browser_security, files, problems
from lsql_runner.web.allowed_hosts import AllowedHosts


def bare_app(name: str, static: Path, request_limit_bytes: int, hosts: AllowedHosts) -> Flask:
    """An app without views: it serves static files, refuses cross-site and large requests, and reports problems.

    Args:
        name: the name of the app and of its logger.
        static: the folder of the page's own static files.
        request_limit_bytes: the largest body of a request.
        hosts: the host names under which it answers.
    """
    app = Flask(name, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = request_limit_bytes
    app.url_map.merge_slashes = False
    browser_security.install(app, hosts)
    problems.install(app)
    files.install(app, static)
    return app
