"""Folders for state in a real object store: the contract, what the JVM does there, and what errors say."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from devkit.engines import quick_jvm
from devkit.jars import jar_folder
from devkit.object_store import ObjectStore
from lsql_runner.config.state_store import UriStore
from lsql_runner.engine.session import SessionOptions, forget_jvm, open_session
from lsql_runner.engine.warm_up import checkpoints_on_disk
from lsql_runner.errors import LsqlError
from lsql_runner.jvm.call import java_class
from lsql_runner.jvm.java_entries import STATE_FILES
from lsql_runner.jvm.spark_jvm import SparkJvm
from lsql_runner.state.at_uri import check_store
from lsql_runner.state.folder import StateFolder
from lsql_runner.state.owner import newest_number
from lsql_runner.state.uri_folder import UriFolder
from tests.contract.state_folder_contract import StateFolderContract

pytestmark = pytest.mark.timeout(300)

DEADLINE_S = 240


@pytest.fixture(scope="module")
def session(store: ObjectStore) -> Iterator[SparkSession]:
    """A session whose checkpoints are in the store, in a JVM with its connector."""
    jvm = SparkJvm(replace(quick_jvm(), state_jars=jar_folder("s3a-jars")))
    # The other bucket is one that does not answer.
    options = store.options() | {"fs.s3a.bucket.away.endpoint": "http://127.0.0.1:9"}
    try:
        jvm.connect()
        at = UriStore(store.uri, tuple(options.items()))
        yield open_session(SessionOptions(app_id="tests", scratch=jvm.scratch, threads=1, store=at))
    finally:
        jvm.close()
        forget_jvm()


@pytest.fixture
def root(session: SparkSession, store: ObjectStore) -> UriFolder:
    """A folder that does not exist."""
    return UriFolder(f"{store.uri}/{uuid.uuid4().hex}")


class TestUriFolder(StateFolderContract):
    @pytest.fixture
    def folder(self, root: UriFolder) -> StateFolder:
        return root


def test_the_store_passes_the_check_of_a_start(root: UriFolder) -> None:
    check_store(root)

    assert root.all_files() == {}


def test_a_query_of_a_warm_up_has_its_checkpoint_on_the_disk(session: SparkSession, tmp_path: Path) -> None:
    counts = session.readStream.format("rate-micro-batch").option("rowsPerBatch", 10).load().groupBy("value").count()
    session.conf.set("spark.sql.shuffle.partitions", "1")
    with checkpoints_on_disk(session):
        writer = counts.writeStream.outputMode("update").option("checkpointLocation", str(tmp_path / "checkpoint"))
        query = writer.format("noop").trigger(once=True).start()
    query.awaitTermination(DEADLINE_S)

    assert query.exception() is None
    assert (tmp_path / "checkpoint" / "commits" / "0").exists()


def test_the_jvm_finds_the_largest_number_of_a_folder_as_python_does(root: UriFolder) -> None:
    def numbers() -> tuple[int, int]:
        return newest_number(root), int(java_class(STATE_FILES).newestNumber(str(root)))

    assert numbers() == (0, 0)
    for name in ("9", "10", ".11", "12x", "folder/13"):
        root.write(name, b"")

    assert numbers() == (10, 10)


@pytest.mark.parametrize(
    ("uri", "code"),
    [
        ("s3a://missing-bucket/app", "STATE_STORE_REFUSED"),
        ("s3a://away/app", "STATE_STORE_UNREACHABLE"),
        ("gs://bucket/app", "STATE_STORE_WITHOUT_CONNECTOR"),
    ],
)
def test_an_error_has_a_code_and_one_line_for_people(root: UriFolder, uri: str, code: str) -> None:
    with pytest.raises(LsqlError) as caught:
        check_store(UriFolder(uri))

    reason = str(caught.value.params["reason"])
    assert caught.value.code == code
    assert "\n" not in reason
    assert "software.amazon" not in reason
    assert "java." not in reason
