"""Compares the results of an engine in its topic with the expected ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bench.engines import FLINK_SQL, ComparedEngine
from bench.expected import Expected, Records, Window, check_finals, check_records
from bench.outputs import (
    Result,
    avro_decoder,
    json_value,
    last_counts,
    results_of,
    sampled_rows,
    session_of_fields,
    session_of_key,
    window_of_fields,
    window_of_key,
)
from bench.workloads import Workload
from devkit.registry import Registry
from devkit.topics import Topics

_SIZES_MS = {"tumble": 60_000, "hop": 300_000}


def check(
    engine: ComparedEngine, workload: Workload, expected: Expected, broker: Topics, registry: Registry, topic: str
) -> None:
    """Compare all results.

    Raises:
        BenchFailed: the results are not the expected ones.
    """
    name = f"{workload.name}: {engine.name}"
    results = results_of(broker, topic)
    if isinstance(expected, Records):
        decode = avro_decoder(registry) if workload.is_avro else json_value
        counted = _Counted(results)
        sample = sampled_rows(counted, decode)
        check_records(name, expected, counted.count, sample)
    else:
        check_finals(name, expected, last_counts(results, _window(engine, workload)))


class _Counted:
    """Counts results as they are read. The offsets of a topic count the markers of transactions too."""

    def __init__(self, results: Iterator[Result]) -> None:
        self.count = 0
        self._results = results

    def __iter__(self) -> Iterator[Result]:
        for result in self._results:
            self.count += 1
            yield result


def _window(engine: ComparedEngine, workload: Workload) -> Callable[[Result], Window]:
    if workload.name == "session":
        return session_of_fields if engine is FLINK_SQL else session_of_key
    return window_of_fields if engine is FLINK_SQL else window_of_key(_SIZES_MS[workload.name])
