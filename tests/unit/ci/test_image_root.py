"""The files of an image are mounted within a block."""

from pathlib import Path

import pytest

from ci.tools.image import image_root


def test_an_image_is_unmounted_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[tuple[str, ...]] = []

    def podman(*args: str) -> str:
        commands.append(args)
        return "/mounted\n"

    monkeypatch.setattr("ci.tools.image.podman", podman)

    def fail_within() -> None:
        with image_root("runner:1") as root:
            assert root == Path("/mounted")
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fail_within()
    assert commands == [("image", "mount", "runner:1"), ("image", "unmount", "runner:1")]
