"""The static files of the page are short, have nothing inline, and name no other host."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lsql_runner.console.app import STATIC
from lsql_runner.web.files import SHARED

OWN = sorted(file for file in STATIC.glob("*") if file.is_file())


@pytest.mark.parametrize("file", OWN, ids=lambda file: file.name)
def test_own_files_are_short_and_name_no_other_host(file: Path) -> None:
    text = file.read_text()

    assert len(text.splitlines()) < 400
    assert not re.findall(r"https?://(?!www\.w3\.org/)[^\s\"']+", text)


def test_page_has_neither_inline_scripts_nor_inline_styles() -> None:
    page = (STATIC / "index.html").read_text()

    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)


@pytest.mark.parametrize("file", [file for file in OWN if file.suffix == ".js"], ids=lambda file: file.name)
def test_every_module_that_is_imported_exists(file: Path) -> None:
    names = re.findall(r'from "\./([^"]+)"', file.read_text())

    assert [name for name in names if not (STATIC / name).is_file() and not (SHARED / name).is_file()] == []


def test_no_own_file_hides_a_shared_one() -> None:
    assert [file.name for file in OWN if (SHARED / file.name).exists()] == []
