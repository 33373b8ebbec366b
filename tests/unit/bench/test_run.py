"""The observation of a process until the end of its input, and its memory."""

import os
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from bench.expected import BenchFailed
from bench.run import PeakMemory, watch
from bench.usage import descriptors, private_mib, processor_s, threads


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


def test_the_largest_private_memory_is_kept() -> None:
    memory = PeakMemory()
    memory.measure(process())
    assert memory.most_mib > 1


def test_a_process_that_has_ended_uses_nothing() -> None:
    ended = 2**22 + 1
    assert (private_mib(ended), processor_s(ended), descriptors([ended]), threads([ended])) == (0, 0, 0, 0)


def test_descriptors_and_threads_are_those_of_the_processes() -> None:
    own, is_ended = [os.getpid()], threading.Event()
    before = descriptors(own), threads(own)
    thread = threading.Thread(target=is_ended.wait)
    thread.start()
    with open(os.devnull, encoding="utf-8"):
        during = descriptors(own), threads(own)
    is_ended.set()
    thread.join()

    assert during == (before[0] + 1, before[1] + 1)
