"""User-defined functions in the commands that plan a program without running it."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from devkit.java_compiler import build_jar
from lsql_runner.cli.lsql import cli
from lsql_runner.errors import LsqlError
from lsql_runner.start.dry_run import explain_from_environment, validate

SOURCE = """
package com.example;

public class Twice implements org.apache.spark.sql.api.java.UDF1<Long, Long> {
    @Override
    public Long call(Long x) { return 2 * x; }
}
"""
PROGRAM = "SET defaults.topic.autocreate=true; INSERT INTO o SELECT STREAM twice(n) AS n FROM t"
TOPICS = '{"t": {"value": {"format": "JSON", "schema": {"n": "long not null"}}}}'


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("functions")
    build_jar({"com/example/Twice.java": SOURCE}, folder / "twice.jar")
    text = "TWICE: {class: com.example.Twice, arguments: {x: long not null}, result: long not null}"
    (folder / "functions.yaml").write_text(text)
    return folder


def test_validate_and_explain_know_the_functions(directory: Path, tmp_path: Path) -> None:
    environment = {
        "SQL": PROGRAM,
        "LSQL_TOPICS": TOPICS,
        "LSQL_UDF_DIR": str(directory),
        "SQL_STATE_STORE_DIR": str(tmp_path),
    }

    assert validate(environment).planned.plan.targets == ("o",)
    assert "n: TWICE(n)" in explain_from_environment(environment)


def test_lsql_functions_lists_the_functions(directory: Path) -> None:
    invocation = CliRunner(env={"LSQL_UDF_DIR": str(directory)}).invoke(cli, ["functions", "Twice"])

    assert (invocation.exit_code, invocation.output) == (0, "TWICE(x: long not null) -> long not null\n")


@pytest.mark.parametrize("directory_name", ["", None])
def test_without_a_directory_there_are_no_functions(directory_name: str | None) -> None:
    environment = {"SQL": PROGRAM, "LSQL_TOPICS": TOPICS}
    if directory_name is not None:
        environment["LSQL_UDF_DIR"] = directory_name

    with pytest.raises(LsqlError) as refused:
        explain_from_environment(environment)
    assert refused.value.code == "FUNCTION_UNKNOWN"


def test_validate_refuses_a_directory_that_does_not_exist(tmp_path: Path) -> None:
    missing = tmp_path / "none"
    environment = {"SQL": PROGRAM, "LSQL_TOPICS": TOPICS, "LSQL_UDF_DIR": str(missing)}

    with pytest.raises(LsqlError) as refused:
        validate(environment)
    assert (refused.value.code, refused.value.params["path"]) == ("FILE_UNREADABLE", str(missing / "functions.yaml"))
