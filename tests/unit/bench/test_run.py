"""The observation of a process until the end of its input, and its memory."""

import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from bench.expected import BenchFailed
from bench.run import watch


def process(running: bool = True) -> Any:
    return SimpleNamespace(name="engine", running=running, exit_code=1, pid=os.getpid(), output=lambda: "its output")


def positions(*values: int) -> Iterator[int]:
    yield from values


def test_each_change_of_the_position_is_a_sample() -> None:
    committed = positions(0, 5, 5, 10)
    samples = watch(process(), lambda: next(committed), start=0, count=10, deadline_s=float("inf"))
    assert [sample.committed for sample in samples] == [0, 5, 10]
    assert all(sample.cpu_s > 0 for sample in samples[1:])


def test_a_process_that_ends_early_fails_with_its_output() -> None:
    with pytest.raises(BenchFailed, match="its output"):
        watch(process(running=False), lambda: 0, start=0, count=10, deadline_s=float("inf"))


def test_a_process_that_misses_the_deadline_fails() -> None:
    with pytest.raises(BenchFailed, match="at 3 of 10"):
        watch(process(), lambda: 3, start=0, count=10, deadline_s=0)
