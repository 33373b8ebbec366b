"""The picture of the docs shows the program of the demo, at work; tests/kafka compares what it promises."""

import json
from typing import Any

from demo.parts import read_program
from devkit.docs import ROOT

PICTURE = ROOT / "docs/images/processor-page.png"


def answers() -> dict[str, Any]:
    """What the API said when the picture was taken."""
    found: dict[str, Any] = json.loads(PICTURE.with_suffix(".json").read_text(encoding="utf-8"))
    return found


def test_the_picture_shows_the_program_of_the_demo() -> None:
    assert answers()["stream"]["sql"] == read_program(), "take it again: make pictures"


def test_the_picture_shows_a_processor_at_work() -> None:
    stream = answers()["stream"]

    assert stream["state"] == "running"
    assert stream["recordsOut"] > 0
    assert stream["lastError"] is None
