"""The base of the image is pulled, or created if no registry responds; labels say from what the image is built."""

import subprocess
from pathlib import Path

import pytest

from ci.tools import image


@pytest.mark.parametrize(
    "podman", ["exit 1", "[ $1 = image ] && exit 1; exec sleep 60"], ids=["pull is refused", "no response"]
)
def test_a_base_that_cannot_be_pulled_is_created(podman: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    created: list[str] = []
    (tmp_path / "podman").write_text(f"#!/bin/sh\n{podman}\n")
    (tmp_path / "podman").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("BASE_IMAGE", raising=False)
    monkeypatch.setattr(image, "PULL_S", 0.2)
    monkeypatch.setattr(image, "make_base", created.append)

    assert created == [image.base_image()]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one commit."""
    (tmp_path / "image").mkdir()
    (tmp_path / "image/requirements.txt").write_text("flask==3.1\n")
    monkeypatch.setattr(image, "ROOT", tmp_path)
    for name in ("GIT_AUTHOR", "GIT_COMMITTER"):
        monkeypatch.setenv(f"{name}_NAME", "ada")
        monkeypatch.setenv(f"{name}_EMAIL", "ada@example.com")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", "-C", tmp_path, *command], check=True)
    return tmp_path


def test_the_revision_says_that_files_of_the_image_were_changed(checkout: Path) -> None:
    (checkout / "notes.txt").write_text("not in the image\n")
    assert not image.revision().endswith("-dirty")

    (checkout / "image/requirements.txt").write_text("flask==3.2\n")
    assert image.revision().endswith("-dirty")
