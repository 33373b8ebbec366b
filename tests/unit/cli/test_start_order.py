"""The order in which `lsql run` starts: checks, the JVM, the imports of what uses it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = "INSERT INTO a SELECT STREAM * FROM b"
_SOURCE = """
import json, sys
from lsql_runner import service
from lsql_runner.config.settings import read_settings
from lsql_runner.errors import LsqlError
from lsql_runner.start.request import request_of

def started(options, inherits):
    print(json.dumps({"modules": sorted(sys.modules)}))
    sys.exit()

service.SparkJvm = started
variables = {"SQL_APP_ID": "a", "SQL_BOOTSTRAP_SERVERS": "127.0.0.1:1"}
settings = read_settings(variables | {"SQL": sys.argv[1], "SQL_STATE_STORE_DIR": sys.argv[2]})
try:
    with service.processor(request_of(settings)):
        pass
except LsqlError as error:
    print(json.dumps({"error": error.code}))
"""


def started(sql: str, state: Path) -> dict[str, object]:
    """The modules that are imported when the JVM starts, or the error before it starts."""
    command = [sys.executable, "-c", _SOURCE, sql, str(state)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=50, check=True)
    document: dict[str, object] = json.loads(process.stdout)
    return document


def test_the_jvm_starts_before_what_uses_it_is_imported(tmp_path: Path) -> None:
    modules = started(PROGRAM, tmp_path)["modules"]

    assert isinstance(modules, list)
    late = ("pyspark", "py4j", "confluent_kafka", "prometheus_client")
    own = ("engine.processor", "runtime.supervisor", "api.app", "kafka.librdkafka")
    assert not {*late, *(f"lsql_runner.{name}" for name in own)} & set(modules)


def test_a_program_with_a_syntax_error_starts_no_jvm(tmp_path: Path) -> None:
    assert started("INSERT INTO", tmp_path) == {"error": "SQL_SYNTAX"}


def test_an_invalid_setting_of_the_program_starts_no_jvm(tmp_path: Path) -> None:
    assert started(f"SET processing.mode='fast'; {PROGRAM}", tmp_path) == {"error": "SETTING_INVALID"}


def test_a_file_in_place_of_the_state_directory_starts_no_jvm(tmp_path: Path) -> None:
    (in_the_way := tmp_path / "state").touch()

    assert started(PROGRAM, in_the_way) == {"error": "STATE_DIR_UNWRITABLE"}


def test_the_commands_import_neither_the_binder_nor_the_simulation() -> None:
    code = "import json, sys, lsql_runner.cli.lsql; print(json.dumps(sorted(sys.modules)))"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50, check=True)

    modules = set(json.loads(process.stdout))
    assert not {"lsql_runner.bind.settings", "lsql_runner.cli.autoscale", "lsql_runner.sql.parser"} & modules
