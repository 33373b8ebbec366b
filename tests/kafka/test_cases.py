"""Every case file on a real broker, examples and edges: the same that tests/streams runs in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsql_runner.cases.model import load_case
from lsql_runner.cases.run import find_cases, run_case
from lsql_runner.engine.processor import SparkEngine
from tests.kit.broker import Broker
from tests.kit.kafka_cases import KafkaCases

ROOT = Path(__file__).parents[2]
FILES = find_cases([ROOT / "sql-examples", ROOT / "tests/streams/cases"])
# Rows of sinks are not in topics: tests/sinks has them on real servers.
CASES = [path for path in FILES if not load_case(path).sinks]

pytestmark = pytest.mark.timeout(120)


def name(path: Path) -> str:
    return path.parent.name if path.name == "case.yaml" else path.name.removesuffix(".case.yaml")


@pytest.fixture(scope="module")
def kafka_cases(broker: Broker, engine: SparkEngine, tmp_path_factory: pytest.TempPathFactory) -> KafkaCases:
    return KafkaCases(broker, engine, tmp_path_factory.mktemp("checkpoints"))


@pytest.mark.parametrize("path", CASES, ids=name)
def test_a_case_holds_on_kafka(path: Path, kafka_cases: KafkaCases) -> None:
    assert run_case(load_case(path), kafka_cases) == []
