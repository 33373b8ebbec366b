"""The Flask app that the processor's API and the console build on."""

from __future__ import annotations

from pathlib import Path

from flask import Flask

from lsql_runner.web import browser_security, files, problems


def bare_app(name: str, static: Path, request_limit_bytes: int) -> Flask:
    """Without routes: serves the page's files, refuses cross-site and large requests, and reports problems."""
    app = Flask(name, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = request_limit_bytes
    app.url_map.merge_slashes = False
    browser_security.install(app)
    problems.install(app)
    files.install(app, static)
    return app
