"""The contract of folders for state, for the scheme `file`: the JVM reads and writes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lsql_runner.errors import LsqlError
from lsql_runner.state.at_uri import check_store
from lsql_runner.state.folder import StateFolder
from lsql_runner.state.uri_folder import UriFolder
from tests.contract.state_folder_contract import StateFolderContract


class TestUriFolder(StateFolderContract):
    @pytest.fixture
    def folder(self, spark: SparkSession, tmp_path: Path) -> StateFolder:
        return UriFolder(f"file://{tmp_path}/root/app")


def test_a_file_system_passes_the_check_of_a_start(spark: SparkSession, tmp_path: Path) -> None:
    folder = UriFolder(f"file://{tmp_path}/app")

    check_store(folder)

    assert folder.all_files() == {}


def test_a_scheme_without_a_connector_is_refused_by_name(spark: SparkSession) -> None:
    with pytest.raises(LsqlError) as caught:
        check_store(UriFolder("s3a://bucket/app"))

    assert caught.value.code == "STATE_STORE_WITHOUT_CONNECTOR"
    assert "S3A" in str(caught.value.params["reason"])
