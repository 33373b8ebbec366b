"""The parts of the memory: from the API's answer, from the kernel's list of mappings, and how they changed."""

from dataclasses import replace

import pytest

from bench.soak.parts import PARTS, mapped_mib, reported_mib
from bench.soak.plan import Fault, Slot, phase
from bench.soak.verdict import PodSample, part_changes
from lsql_runner.reports.stream import Memory, MemoryPart

SAMPLE = PodSample(
    at_s=0, private_mib=0, descriptors=0, threads=0, checkpoint_mib=0, checkpoint_files=0, temporary_mib=0
)
MIB = 1 << 20


def stream(memory: Memory) -> dict[str, object]:
    return {"memory": memory.model_dump(mode="json", by_alias=True, exclude_none=True)}


def memory(parts: list[MemoryPart], size: int | None) -> Memory:
    return Memory(
        measured_at=None,
        limit_bytes=768 * MIB,
        private_bytes=None,
        parts=parts,
        heap_committed_bytes=size,
        metaspace_bytes=size,
        direct_buffers_bytes=size,
        threads=None,
    )


def test_the_parts_of_the_api_are_in_mib() -> None:
    parts = [
        MemoryPart(part="heap", budget_bytes=300 * MIB, used_bytes=70 * MIB),
        MemoryPart(part="python", budget_bytes=100 * MIB, used_bytes=75 * MIB),
        MemoryPart(part="reserve", budget_bytes=24 * MIB, used_bytes=20 * MIB),
    ]

    assert reported_mib(stream(memory(parts, 20 * MIB))) == {
        "heap, used": 70,
        "Python": 75,
        "heap, committed": 20,
        "metaspace": 20,
        "direct buffers": 20,
    }


def test_parts_that_are_not_measured_yet_are_missing() -> None:
    assert reported_mib(stream(memory([MemoryPart(part="jvm", budget_bytes=MIB, used_bytes=None)], None))) == {}


@pytest.mark.parametrize(
    ("mapping", "kind"),
    [
        ("ed000000-f0000000 rw-p 00000000 00:00 0 ", "JVM, heap"),
        ("55d4c1a00000-55d4c1b00000 rw-p 00000000 00:00 0                          [heap]", "JVM, malloc"),
        ("7f2a24000000-7f2a27000000 rw-p 00000000 00:00 0 ", "JVM, malloc"),
        ("800000000-803f80000 rw-p 00001000 fe:00 1234           /opt/app/classes.aot", "JVM, changed pages of files"),
        ("7ffd1c000000-7ffd1c021000 rw-p 00000000 00:00 0                          [stack]", "JVM, stacks"),
        ("7f2a30a00000-7f2a30b00000 rwxp 00000000 00:00 0 ", "JVM, other"),
    ],
)
def test_a_mapping_has_a_kind(mapping: str, kind: str) -> None:
    mib = mapped_mib([mapping, "Rss:                4096 kB", "Anonymous:          2048 kB"])

    assert mib[kind] == 2
    assert sum(mib.values()) == 2


def test_a_stack_is_above_a_guard_and_not_above_a_reserved_area() -> None:
    guard, stack = "7f2a30a00000-7f2a30a04000 ---p 0 00:00 0 ", "7f2a30a04000-7f2a30b00000 rw-p 0 00:00 0 "
    reserved, code = "7f2a40a00000-7f2a41a00000 ---p 0 00:00 0 ", "7f2a41a00000-7f2a41b00000 rwxp 0 00:00 0 "
    none, two_mib = "Anonymous:             0 kB", "Anonymous:          2048 kB"

    mib = mapped_mib([guard, none, stack, two_mib, reserved, none, code, two_mib])

    assert (mib["JVM, stacks"], mib["JVM, other"]) == (2, 2)


def test_all_parts_of_the_kernel_have_a_row() -> None:
    assert set(mapped_mib([])) < set(PARTS)


def test_the_change_of_a_part_is_that_of_the_process_that_lived_longest() -> None:
    phases = [
        phase(Slot(None, 0, 600), 0, begin_s=0, caught_up_s=0),
        phase(Slot(Fault.KILL, 600, 4200), 1, begin_s=600, caught_up_s=620),
    ]
    killed_at, warm_from = 600, 800
    samples = [
        replace(
            SAMPLE,
            at_s=float(at_s),
            parts={"Python": 300.0 if at_s < killed_at else 200.0 if at_s < warm_from else 70 + at_s / 1000}
            if at_s % 30 == 0
            else {},
        )
        for at_s in range(0, 4200, 5)
    ]

    [change] = part_changes(samples, phases)

    assert change.title == "Python"
    assert change.first == pytest.approx(71.38, abs=0.1)
    assert change.last == pytest.approx(73.62, abs=0.1)
    assert change.most == 74.17


def test_without_parts_there_is_no_change() -> None:
    assert part_changes([SAMPLE], [phase(Slot(None, 0, 600), 0, begin_s=0, caught_up_s=0)]) == []
    assert part_changes([], []) == []
