"""The class path of Spark's JVM."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsql_runner.errors import LsqlError
from lsql_runner.jvm.spark_jvm import class_path


@pytest.fixture
def jars(tmp_path: Path) -> Path:
    """A folder with Kafka's client."""
    folder = tmp_path / "shared"
    folder.mkdir()
    (folder / "kafka-clients-3.9.2.jar").touch()
    return folder


def test_checkouts_that_link_to_one_folder_have_one_class_path(tmp_path: Path, jars: Path) -> None:
    """The class archive, which they share, fits only the paths of its training."""
    (tmp_path / "checkout").symlink_to(jars)

    assert class_path(tmp_path / "checkout") == class_path(jars)


def test_the_jars_of_both_folders_are_sorted_by_name(jars: Path) -> None:
    names = [Path(path).name for path in class_path(jars)]

    assert names == sorted(names)
    assert {"kafka-clients-3.9.2.jar", "py4j-0.10.9.9.jar"} <= set(names)


def test_a_folder_without_kafkas_client_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LsqlError, match="JARS_MISSING"):
        class_path(tmp_path)
