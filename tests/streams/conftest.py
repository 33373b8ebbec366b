"""One engine for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from devkit.engines import memory_engine
from devkit.spark_rows import conf
from devkit.temporary import keep_temporary_files_in_memory
from lsql_runner.engine.in_memory.engine import MemoryEngine

keep_temporary_files_in_memory()

OTHER_LOCALE = ("-Duser.language=tr", "-Duser.country=TR", "-Duser.timezone=America/New_York")
"""Results must not depend on the machine's locale and time zone: Turkish has other case mappings, New York has DST."""

_MAINTENANCE_STOP = "1s"
"""`StateStore.stop` holds the lock that a running maintenance thread waits for, and waits 5 minutes for that thread."""


@pytest.fixture(scope="package")
def executed() -> list[str]:
    """The physical plans of the queries that the engine has run, the newest last. A test clears the list first."""
    return []


@pytest.fixture(scope="package")
def engine(executed: list[str]) -> Iterator[MemoryEngine]:
    """A memory engine for all tests of this folder. Other folders start other JVMs, and pyspark can use only one."""
    with memory_engine(OTHER_LOCALE, executed.append) as engine:
        for timeout in ("maintenanceShutdownTimeout", "maintenanceForceShutdownTimeout"):
            engine.session.conf.set(f"spark.sql.streaming.stateStore.{timeout}", _MAINTENANCE_STOP)
        yield engine


@pytest.fixture(scope="module")
def spark(engine: MemoryEngine) -> Iterator[SparkSession]:
    """The session, for SELECTs of hundreds of expressions."""
    # Their code exceeds the size of a JVM method. Spark would try to compile it and fall back.
    with conf(engine.session, "spark.sql.codegen.wholeStage", "false"):
        yield engine.session


@pytest.fixture(params=["CODEGEN_ONLY", "NO_CODEGEN"])
def session(engine: MemoryEngine, request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """The session, once with generated code, which must compile, and once without."""
    whole_stage = str(request.param == "CODEGEN_ONLY").lower()
    with (
        conf(engine.session, "spark.sql.codegen.factoryMode", request.param),
        conf(engine.session, "spark.sql.codegen.wholeStage", whole_stage),
        conf(engine.session, "spark.sql.codegen.fallback", "false"),
    ):
        yield engine.session
