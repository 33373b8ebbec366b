"""The limits of a container in control groups of both versions."""

import os
from pathlib import Path

import pytest

from lsql_runner.container.limits import cores, kernel_memory_bytes, memory_kills, memory_limit_mib

MIB = 1 << 20


def groups(folder: Path, **files: str) -> Path:
    """A tree of control groups; `__` in a name stands for `/`, `_DOT_` for a point."""
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    return folder


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({"memory_DOT_max": "805306368\n"}, 768),
        ({"memory_DOT_max": "805306367\n"}, 767),
        ({"memory_DOT_max": "max\n"}, None),
        ({"memory__memory_DOT_limit_in_bytes": "805306368\n"}, 768),
        ({"memory__memory_DOT_limit_in_bytes": "9223372036854771712\n"}, None),
        ({}, None),
    ],
)
def test_the_memory_limit_is_read_from_either_version(tmp_path: Path, files: dict[str, str], limit: int | None) -> None:
    assert memory_limit_mib(groups(tmp_path, **files)) == limit


@pytest.mark.parametrize(
    ("files", "used"),
    [
        ({"memory_DOT_max": "805306368\n", "memory_DOT_stat": "anon 400\nkernel 9437184\nkernel_stack 7\n"}, 9 * MIB),
        (
            {
                "memory__memory_DOT_limit_in_bytes": "805306368\n",
                "memory__memory_DOT_kmem_DOT_usage_in_bytes": "9437184\n",
            },
            9 * MIB,
        ),
        ({"memory_DOT_max": "805306368\n", "memory_DOT_stat": "anon 400\n"}, None),
        ({"memory_DOT_max": "max\n", "memory_DOT_stat": "kernel 9437184\n"}, None),
        ({}, None),
    ],
)
def test_the_memory_of_the_kernel_is_known_in_a_group_with_a_limit(
    tmp_path: Path, files: dict[str, str], used: int | None
) -> None:
    assert kernel_memory_bytes(groups(tmp_path, **files)) == used


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"cpu_DOT_max": "100000 100000\n"}, 1),
        ({"cpu_DOT_max": "50000 100000\n"}, 1),
        ({"cpu_DOT_max": "max 100000\n"}, 4),
        ({"cpu_DOT_max": "250000 100000\n"}, 3),
        ({"cpu_DOT_max": "900000 100000\n"}, 4),
        ({"cpu__cpu_DOT_cfs_quota_us": "150000\n", "cpu__cpu_DOT_cfs_period_us": "100000\n"}, 2),
        ({"cpu__cpu_DOT_cfs_quota_us": "-1\n", "cpu__cpu_DOT_cfs_period_us": "100000\n"}, 4),
        ({}, 4),
    ],
)
def test_cores_are_the_cpu_quota_rounded_up_and_at_most_those_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})

    assert cores(groups(tmp_path, **files)) == expected


@pytest.mark.parametrize(
    ("files", "kills"),
    [
        ({"memory_DOT_events": "low 0\noom 3\noom_kill 2\noom_group_kill 0\n"}, 2),
        ({"memory__memory_DOT_oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"}, 1),
        ({}, 0),
    ],
)
def test_processes_that_the_kernel_killed_are_counted(tmp_path: Path, files: dict[str, str], kills: int) -> None:
    assert memory_kills(groups(tmp_path, **files)) == kills
