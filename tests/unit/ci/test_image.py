"""The base of the image is pulled, or created if no registry responds."""

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
