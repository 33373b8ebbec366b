"""Fixtures of the chart tests, which need no cluster."""

from pathlib import Path

import pytest

from devkit.helm import HELMS, tool

BASE = {
    "sql": "INSERT INTO fast SELECT STREAM * FROM vehicles WHERE speed > 10",
    "kafka": {"bootstrapServers": "kafka:9092"},
}


@pytest.fixture
def base() -> dict[str, object]:
    """The minimal values of a release."""
    return {**BASE}


@pytest.fixture(params=HELMS)
def helm(request: pytest.FixtureRequest) -> str:
    """Each version of Helm."""
    return str(request.param)


@pytest.fixture
def helm_path(helm: str, tmp_path: Path) -> Path:
    """A folder for the PATH in which `helm` is the Helm under test."""
    folder = tmp_path / "path"
    folder.mkdir()
    (folder / "helm").symlink_to(tool(helm))
    return folder
