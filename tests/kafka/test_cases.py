"""Case files on a real broker: those that have each kind of operator, format and error policy between them.

tests/streams runs all case files with the in-memory engine. With ALL_CASES=1, as in `make test-all`, all run here too.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping
from contextlib import closing
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

ROOT = Path(__file__).parents[2]


def operator(node: PlanNode) -> str:
    """A node with what decides how it runs."""
    details: list[object] = [field.name for field in dataclasses.fields(node) if getattr(node, field.name) is True]
    match node:
        case ReadTopic(schema):
            details += [schema.key.format.name, schema.value.format.name]
        case Aggregate(window=WindowSpec(kind=kind)):
            details.append(kind)
        case Join():
            sides = (node.left, node.right)
            details += [node.kind, node.residual is not None, *((side.is_table, side.by_key) for side in sides)]
    return f"{type(node).__name__} {details}"


def kinds(case: Case) -> set[str]:
    """What a case shows on brokers: its operators and formats, the operators with each error policy, or its error."""
    if case.error is not None:
        return {case.error.code}
    found: set[str] = set()
    for query in prepare_case(case).plan.queries:
        for write in query.writes:
            assert isinstance(write, WriteTopic)
            policies = f"{write.errors.read} {write.errors.write} {write.errors.late}"
            found |= {f"write {write.key_format.name} {write.value_format.name}", f"continuous {query.continuous}"}
            for each in {type(node) for node in nodes(write.input)} - {ReadTopic}:
                found.add(f"{each.__name__} {policies}")
            found |= {operator(node) for node in nodes(write.input)}
    return found


def cover(by_file: Mapping[Path, set[str]]) -> list[Path]:
    """Few files that have all kinds of all files between them: each next one has the most that are left."""
    left = set().union(*by_file.values())
    chosen: list[Path] = []
    while left:
        chosen.append(max(by_file, key=lambda path: len(by_file[path] & left)))
        left -= by_file[chosen[-1]]
    return chosen


def cases_to_run() -> list[Path]:
    loaded = {path: load_case(path) for path in find_cases([ROOT / "sql-examples", ROOT / "tests/streams/cases"])}
    # Rows of sinks are not in topics; tests/sinks tests them on real servers.
    of_topics = {path: case for path, case in loaded.items() if not case.sinks}
    if os.environ.get("ALL_CASES"):
        return list(of_topics)
    return cover({path: kinds(case) for path, case in of_topics.items()})


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


@pytest.mark.parametrize("path", cases_to_run(), ids=name)
def test_a_case_passes_on_kafka(path: Path, kafka_cases: KafkaCases) -> None:
    assert run_case(load_case(path), kafka_cases) == []
