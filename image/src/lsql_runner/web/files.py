"""Serves the static files of a page, and those that all pages share, under one URL path."""

from __future__ import annotations

from pathlib import Path

from flask import Flask, Response, send_from_directory
from werkzeug.exceptions import NotFound
from werkzeug.security import safe_join

SHARED = Path(__file__).parent / "static"


def install(app: Flask, own: Path) -> None:
    """Serve /static/<name> from the folder `own`, else from the shared files. `app` must have no static folder."""

    def static(filename: str) -> Response:
        for folder in (own, SHARED):
            path = safe_join(str(folder), filename)
            if path is not None and Path(path).is_file():
                return send_from_directory(folder, filename)
        raise NotFound

    app.add_url_rule("/static/<path:filename>", "static", static)
