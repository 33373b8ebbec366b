"""The demo ends when its processor fails, also one whose process stays to show the reason."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import cast

from demo.__main__ import watch
from demo.processor import DemoProcessor, Reading
from demo.results import Results
from demo.screen import Lines


class RecordingScreen(Lines):
    def __init__(self) -> None:
        super().__init__(begun_s=0.0)
        self.said: list[str] = []
        self.shown: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def show(self, reading: Reading, newest: Iterable[str]) -> None:
        self.shown.append(reading.state)


def test_a_processor_that_fails_after_it_waited_ends_the_demo_with_the_error() -> None:
    states = iter(["waiting", "failed"])
    processor = SimpleNamespace(
        process=SimpleNamespace(running=True),
        read=lambda: Reading(state=next(states)),
        why_it_ended=lambda: "FIELD_UNKNOWN: iot_data has no field Sped.",
    )
    results = SimpleNamespace(follow=lambda targets: None, first_at_s=None, newest=[])
    screen = RecordingScreen()

    code = watch(cast("DemoProcessor", processor), cast("Results", results), screen, None)

    assert code == 1
    assert screen.shown == ["waiting", "failed"]
    assert screen.said == ["the processor failed:\nFIELD_UNKNOWN: iot_data has no field Sped."]
