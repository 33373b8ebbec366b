"""The static files of the page: vendored files are unchanged, our own are short."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from devkit.fake_program import DESCRIPTION
from lsql_runner.api.app import STATIC
from lsql_runner.web.files import SHARED

VENDOR = SHARED / "vendor"
OWN = sorted(file for folder in (STATIC, SHARED) for file in folder.glob("*") if file.is_file())


def test_vendored_files_are_unchanged() -> None:
    rows = re.findall(r"^\| `([^`]+)` \|.*`([0-9a-f]{64})` \|$", (VENDOR / "README.md").read_text(), re.M)

    assert rows
    for name, digest in rows:
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest, name


def test_every_vendored_script_is_listed_and_has_its_licence() -> None:
    readme = (VENDOR / "README.md").read_text()

    for script in VENDOR.glob("*.js"):
        assert f"`{script.name}`" in readme
    assert "Permission is hereby granted" in (VENDOR / "dagre.LICENSE").read_text()


@pytest.mark.parametrize("file", OWN, ids=lambda f: f.name)
def test_own_files_are_short_and_name_no_other_host(file: Path) -> None:
    text = file.read_text()

    assert len(text.splitlines()) < 400
    assert not re.findall(r"https?://(?!www\.w3\.org/)[^\s\"']+", text)


def test_page_has_neither_inline_scripts_nor_inline_styles() -> None:
    page = (STATIC / "index.html").read_text()

    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)


def test_all_kinds_of_nodes_in_styles_and_in_the_fake_topology_exist_in_real_topologies() -> None:
    styled = set(re.findall(r'data-kind="(\w+)"', (SHARED / "panels.css").read_text()))
    faked = {node["kind"] for node in DESCRIPTION.topology["nodes"]}
    goldens = Path(__file__).parents[2] / "golden/accepted"
    real = {node["kind"] for file in goldens.glob("*.topology.json") for node in json.loads(file.read_text())["nodes"]}

    assert real
    assert styled | faked <= real
