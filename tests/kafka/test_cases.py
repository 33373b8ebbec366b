"""Case files on a real broker: few that have each operator and format between them; the others are thorough.

tests/streams runs all case files with the in-memory engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.registry import Registry
from lsql_runner.bind.bound import WindowSpec
from lsql_runner.cases.case_run import run_case
from lsql_runner.cases.load import load_case
from lsql_runner.cases.model import Case
from lsql_runner.cases.on_kafka import KafkaCases
from lsql_runner.cases.prepare import prepare_case
from lsql_runner.cases.run import find_cases
from lsql_runner.config.settings import read_settings
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.kafka.librdkafka import LibrdkafkaBrokers
from lsql_runner.kafka.registry import RestRegistry
from lsql_runner.plan.nodes import Aggregate, Join, PlanNode, ReadTopic
from lsql_runner.plan.queries import WriteTopic
from lsql_runner.plan.tree import nodes
from tests.thorough import inputs

ROOT = Path(__file__).parents[2]


def operator(node: PlanNode) -> str:
    """A node, with the kind of its windows or inputs. tests/streams has the variants of each."""
    match node:
        case Aggregate(window=WindowSpec(kind=kind)):
            return f"Aggregate {kind}"
        case Join():
            return f"Join {node.left.is_table} {node.right.is_table}"
    return type(node).__name__


@dataclass(frozen=True)
class Shown:
    """What a case shows on brokers: its operators and formats, or the error of a record."""

    kinds: frozenset[str]
    queries: int
    """How often the case starts a query."""


def shown_by(case: Case) -> Shown:
    if case.error is not None:
        # Errors of programs need no brokers.
        return Shown(frozenset({case.error.code} if case.error.code.startswith("RECORD_") else ()), 1)
    kinds: set[str] = set()
    queries = prepare_case(case).plan.queries
    for query in queries:
        for write in query.writes:
            assert isinstance(write, WriteTopic)
            kinds |= {f"write key {write.key_format.name}", f"write value {write.value_format.name}"}
            kinds.add(f"continuous {query.continuous}")
            for node in nodes(write.input):
                kinds.add(operator(node))
                if isinstance(node, ReadTopic):
                    kinds |= {f"read key {node.schema.key.format.name}", f"read value {node.schema.value.format.name}"}
    return Shown(frozenset(kinds), len(queries) * max(1, len(case.batches)))


def cover(by_file: Mapping[Path, Shown]) -> list[Path]:
    """Few and quick files that have all kinds of all files between them.

    Each next one has the most kinds that are left, for the queries that it starts.
    """
    left = set().union(*(shown.kinds for shown in by_file.values()))
    chosen: list[Path] = []
    while left:
        chosen.append(max(by_file, key=lambda path: len(by_file[path].kinds & left) / (1 + by_file[path].queries)))
        left -= by_file[chosen[-1]].kinds
    return chosen


def cases_on_kafka() -> list[object]:
    loaded = {path: load_case(path) for path in find_cases([ROOT / "sql-examples", ROOT / "tests/streams/cases"])}
    # Rows of sinks are not in topics; tests/sinks tests them on real servers.
    of_topics = {path: case for path, case in loaded.items() if not case.sinks}
    return inputs(of_topics, cover({path: shown_by(case) for path, case in of_topics.items()}).__contains__)


pytestmark = pytest.mark.timeout(120)


def name(path: Path) -> str:
    return path.parent.name if path.name == "case.yaml" else path.name.removesuffix(".case.yaml")


@pytest.fixture(scope="module")
def kafka_cases(broker: Broker, registry: Registry, engine: SparkEngine) -> Iterator[KafkaCases]:
    variables = {"SQL": "", "SQL_BOOTSTRAP_SERVERS": broker.bootstrap, "SQL_SCHEMA_REGISTRY_URL": registry.url}
    settings = read_settings(variables)
    assert settings.registry is not None
    with (
        closing(LibrdkafkaBrokers(settings.connection)) as brokers,
        closing(RestRegistry(settings.registry)) as schemas,
    ):
        yield KafkaCases(settings=settings, engine=engine, brokers=brokers, registry=schemas, warn=pytest.fail)


@pytest.mark.parametrize("path", cases_on_kafka(), ids=name)
def test_a_case_passes_on_kafka(path: Path, kafka_cases: KafkaCases) -> None:
    assert run_case(load_case(path), kafka_cases) == []
