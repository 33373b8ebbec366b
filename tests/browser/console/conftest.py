"""Visits of the console's page that fail if the browser reports errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from devkit.console_fixtures import FakeConsole, token_settings
from tests.browser.console.site import Visit, populate
from tests.browser.site import serve_app

Open = Callable[..., Visit]
"""The type of the fixture `visit`."""


@pytest.fixture
def console(tmp_path: Path) -> FakeConsole:
    """A console with tokens, all actions enabled, and processors in all states."""
    console = FakeConsole(token_settings(tmp_path))
    populate(console)
    return console


@pytest.fixture
def visit(browser: Browser) -> Iterator[Open]:
    """Opens the console's page. The fixture fails if the browser reported an error on any visit."""
    complaints: list[str] = []
    with ExitStack() as stack:

        def open_page(console: FakeConsole, path: str = "", **options: Any) -> Visit:
            address = stack.enter_context(serve_app(console.app))
            opened = Visit(browser, console, address, path, **options)
            stack.callback(lambda: complaints.extend(opened.close()))
            return opened

        yield open_page
    assert complaints == []
