"""Every program has the results of Kafka Streams, on the records of some seeds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from devkit.engines import memory_engine
from tests.differential import chains
from tests.differential.check import Engines, check, generated, topology_writes
from tests.differential.kafka_streams import KafkaStreams
from tests.differential.late import lateness
from tests.differential.programs import SUITES
from tests.differential.suites import Suite
from tests.thorough import THOROUGH, inputs

pytestmark = pytest.mark.timeout(300)  # several streaming queries, and the search for fewer records after a failure

SEED = 1


@pytest.fixture(scope="module")
def engines() -> Iterator[Engines]:
    with memory_engine() as engine, KafkaStreams() as streams:
        yield Engines(engine, streams)


CHAINS = [chain.name for chain in chains.suites()]
REPEATED = {"windows-since-1970", "joins-sts", "joins-stt", "joins-tss", "joins-tst"}
"""Suites whose operators the others have, at other times or in another order."""


def bounded(suite: Suite) -> Suite:
    """For the joins of three sources, one program, another kind for each suite; `make test-differential` runs all."""
    if THOROUGH or suite.name not in CHAINS:
        return suite
    return replace(suite, programs=(suite.programs[CHAINS.index(suite.name) % len(suite.programs)],))


@pytest.mark.parametrize(
    "suite", inputs(map(bounded, SUITES), lambda suite: suite.name not in REPEATED), ids=lambda suite: suite.name
)
def test_programs_have_the_results_of_kafka_streams(suite: Suite, engines: Engines) -> None:
    check(suite, SEED, engines)


def test_some_records_are_late_but_most_are_not() -> None:
    for suite in SUITES:
        for program in suite.programs:
            if program.grace is not None:
                late, in_time = lateness(generated(suite, SEED), program.grace)
                assert 0 < late < in_time, program.name


@pytest.mark.parametrize("suite", chains.suites(), ids=lambda suite: suite.name)
def test_joins_of_three_sources_have_matches(suite: Suite, engines: Engines) -> None:
    events = generated(suite, SEED)
    for program in suite.programs:
        written = topology_writes(program, events, engines.streams)
        matched = [record for record in written if record.value and None not in record.value.values()]
        assert len(matched) >= 10, program.name
