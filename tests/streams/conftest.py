"""One engine for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from devkit.engines import memory_engine
from devkit.spark_rows import conf
from devkit.temporary import keep_temporary_files_in_memory
from lsql_runner.engine.memory import MemoryEngine

keep_temporary_files_in_memory()

ABROAD = ("-Duser.language=tr", "-Duser.country=TR", "-Duser.timezone=America/New_York")
"""No value depends on where the machine stands: a locale with rules of its own, a time zone with summer time."""


@pytest.fixture(scope="package")
def executed() -> list[str]:
    """The physical plan of every query that the engine has run, the newest last. A test clears it first."""
    return []


@pytest.fixture(scope="package")
def engine(executed: list[str]) -> Iterator[MemoryEngine]:
    """A memory engine. It ends with this folder: other folders start JVMs of their own, and pyspark knows one."""
    with memory_engine(ABROAD, executed.append) as running:
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
