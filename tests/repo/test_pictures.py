"""The picture in the docs shows the running program of the demo; tests/kafka compares the guarantee."""

import json
from typing import Any

from demo.system import read_program
from devkit.docs import ROOT

PICTURE = ROOT / "docs/images/processor-page.png"


def responses() -> dict[str, Any]:
    """The responses of the API when the picture was taken."""
    document: dict[str, Any] = json.loads(PICTURE.with_suffix(".json").read_text(encoding="utf-8"))
    return document


def test_the_picture_shows_the_program_of_the_demo() -> None:
    assert responses()["stream"]["sql"] == read_program(), "take it again: make pictures"


def test_the_picture_shows_a_running_processor() -> None:
    stream = responses()["stream"]

    assert stream["state"] == "running"
    assert stream["recordsOut"] > 0
    assert stream["lastError"] is None
