"""One engine for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from devkit.engines import memory_engine
from devkit.spark_rows import conf
from lsql_runner.engine.memory import MemoryEngine


@pytest.fixture(scope="module")
def engine() -> Iterator[MemoryEngine]:
    """A memory engine. Of the module, not the session: other modules start JVMs of their own, pyspark knows one."""
    with memory_engine() as running:
        yield running


@pytest.fixture(params=["CODEGEN_ONLY", "NO_CODEGEN"])
def session(engine: MemoryEngine, request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """The session with generated code, which must compile, and without."""
    whole_stage = str(request.param == "CODEGEN_ONLY").lower()
    with (
        conf(engine.session, "spark.sql.codegen.factoryMode", request.param),
        conf(engine.session, "spark.sql.codegen.wholeStage", whole_stage),
        conf(engine.session, "spark.sql.codegen.fallback", "false"),
    ):
        yield engine.session
