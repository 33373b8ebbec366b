"""Chromium for all tests of the page, and visits that fail if the browser reports errors."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Browser, expect

from devkit.browser import chromium
from devkit.fake_processor import FakeProcessor
from lsql_runner.api.access import ApiAccess
from tests.browser.site import OPEN, Visit, serve_processor

Open = Callable[..., Visit]
"""The type of the fixture `visit`."""
DEADLINE_MS = 20_000
"""How long a page on a busy machine may take to show an expected text."""
expect.set_options(timeout=DEADLINE_MS)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def visit(browser: Browser) -> Iterator[Open]:
    """Opens the page of a processor. The fixture fails if the browser reported an error on any visit."""
    complaints: list[str] = []
    with ExitStack() as stack:

        def open_page(
            processor: FakeProcessor,
            wrap: Callable[[Flask], Any] = lambda app: app,
            path: str = "",
            access: ApiAccess = OPEN,
            **options: Any,
        ) -> Visit:
            address = stack.enter_context(serve_processor(processor, wrap, access))
            opened = Visit(browser, processor, address + path, **options)
            stack.callback(lambda: complaints.extend(opened.close()))
            return opened

        yield open_page
    assert complaints == []
