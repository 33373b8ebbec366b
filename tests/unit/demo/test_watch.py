"""The demo ends when its processor fails, also one whose process stays to show the reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from types import SimpleNamespace, TracebackType
from typing import Self, cast

from demo.__main__ import watch
from demo.processor import DemoProcessor, Reading
from demo.results import Results


@dataclass
class RecordingScreen:
    said: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        self.said.append(text)

    def show(self, reading: Reading, newest: Iterable[str]) -> None:
        self.shown.append(reading.state)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return


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
