"""The command line in a process: its output and exit code for valid and invalid input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner

from devkit.fake_brokers import FakeBrokers
from lsql_runner.cli.lsql import cli
from lsql_runner.errors import LsqlError
from lsql_runner.start import dry_run

LSQL = Path(sys.prefix, "bin", "lsql")
TOPICS = {
    "cars": {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": {"speed": "double", "name": "string"}}}
}


def lsql(*arguments: str, sql: str | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """Run `lsql` with no other environment variables than these."""
    variables = {"LSQL_TOPICS": json.dumps(TOPICS), **({} if sql is None else {"SQL": sql}), **env}
    return subprocess.run([LSQL, *arguments], env=variables, capture_output=True, text=True, timeout=50, check=False)


def insert(rest: str) -> str:
    return f"SET autocreate=true; INSERT INTO fast SELECT STREAM {rest}"


def test_a_valid_program_is_ok() -> None:
    result = lsql("validate", sql=insert("* FROM cars WHERE speed > 1"))

    assert (result.returncode, result.stdout.splitlines()[0], result.stderr) == (0, "ok: cars -> fast", "")


def test_validate_and_explain_show_the_memory_that_the_program_needs() -> None:
    sql = insert("COUNT(*) AS n FROM cars WINDOW BY TUMBLE 1m")
    validated, explained = lsql("validate", sql=sql), lsql("explain", sql=sql, LSQL_STATE_PARTITIONS="2")

    assert validated.stdout.splitlines()[1] == "The program needs about 656 MiB of memory."
    assert explained.stdout.splitlines()[-2:] == [
        "partitions of its state: 2 (LSQL_STATE_PARTITIONS)",
        "needs about 656 MiB of memory",
    ]


def test_validate_and_explain_say_that_state_at_a_uri_is_not_read() -> None:
    uri = "s3a://states/fleet"
    sql = insert("COUNT(*) AS n FROM cars WINDOW BY TUMBLE 1m")

    validated, explained = (lsql(command, sql=sql, LSQL_STATE_URI=uri) for command in ("validate", "explain"))

    assert "The program needs about 720 MiB of memory." in validated.stdout.splitlines()
    assert f"The state at {uri} was not read. Without state there:" in validated.stdout.splitlines()
    assert f"the state at {uri} was not read; state that exists there may have other partitions" in explained.stdout


def test_a_container_that_is_too_small_for_the_program_is_refused() -> None:
    sql = insert("COUNT(*) AS n FROM cars WINDOW BY TUMBLE 1m")
    refused = lsql("validate", sql=sql, LSQL_MEMORY_LIMIT="512Mi")

    assert refused.returncode == 1
    assert "MEMORY_LIMIT_TOO_SMALL" in refused.stderr
    assert "needs about 656 MiB of memory; the container has 512 MiB" in refused.stderr
    assert "Set resources.limits.memory to 656Mi or more" in refused.stderr
    assert lsql("validate", sql=sql, LSQL_MEMORY_LIMIT="656Mi").returncode == 0


def test_the_changes_of_a_first_start_are_listed() -> None:
    result = lsql("validate", sql=insert("name FROM cars").replace("INTO fast", "INTO fast STORE VALUE AS AVRO"))

    assert result.stdout.splitlines()[2:] == [
        "A first start, with none of the targets present, will:",
        "- register the AVRO schema of subject fast-value",
        "- create topic fast",
        "- begin empty checkpoints in generation 1: stateless",
        "- write program.json for generation 1",
    ]


@pytest.mark.parametrize(
    ("sql", "code", "marked"),
    [
        pytest.param(insert("* FORM cars"), "SQL_SYNTAX", "FORM", id="syntax"),
        pytest.param(insert("* FROM bikes"), "TOPIC_UNKNOWN", "bikes", id="topic"),
        pytest.param(insert("sped FROM cars"), "FIELD_UNKNOWN", "sped", id="field"),
        pytest.param(insert("UPER(name) AS n FROM cars"), "FUNCTION_UNKNOWN", "UPER(name)", id="function"),
        pytest.param(insert("UPPER(name, name) AS n FROM cars"), "ARGUMENT_COUNT", None, id="arity"),
        pytest.param(insert("speed + name AS n FROM cars"), "OPERATOR_TYPES", None, id="type"),
        pytest.param(insert("* FROM cars HAVING speed > 1"), "HAVING_WITHOUT_AGGREGATE", None, id="clause"),
        pytest.param(
            "WITH x AS (SELECT STREAM * FROM cars; SELECT STREAM * FROM cars); INSERT INTO a SELECT STREAM * FROM x",
            "MULTIPLE_STATEMENTS",
            ";",
            id="two statements",
        ),
        pytest.param("", "SQL_EMPTY", None, id="empty"),
        pytest.param(insert(f"{'(' * 10_000}speed{')' * 10_000} AS s FROM cars"), "SQL_TOO_DEEP", None, id="brackets"),
    ],
)
def test_an_error_is_shown_with_its_position_in_the_program(sql: str, code: str, marked: str | None) -> None:
    result = lsql("validate", sql=sql)

    lines = result.stderr.splitlines()
    assert result.returncode == 1
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert "To fix it: " in lines[-1]
    assert lines[0].startswith(f"{code}: ")
    if marked is not None:
        shown, underline = lines[-3], lines[-2]
        start, length = underline.index("^"), underline.count("^")
        assert shown[start : start + length] == marked


def test_a_program_of_a_megabyte_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "query.sql"
    file.write_text(insert("* FROM cars WHERE name = '" + "x" * 1_100_000 + "'"))

    result = lsql("validate", "--file", str(file))

    assert (result.returncode, result.stderr.split(":")[0]) == (1, "SQL_TOO_LARGE")
    assert len(result.stderr) < 2_000


def test_a_program_that_is_not_utf_8_is_refused_with_the_byte(tmp_path: Path) -> None:
    file = tmp_path / "query.sql"
    file.write_bytes(insert("* FROM cars WHERE name = '").encode() + b"\xff'")

    result = lsql("validate", "--file", str(file))

    assert (result.returncode, result.stderr.split(":")[0]) == (1, "SQL_NOT_UTF8")
    assert f"line 1, column {len(insert('* FROM cars WHERE name = ')) + 2}" in result.stderr


def test_a_missing_file_and_a_wrong_setting_are_refused() -> None:
    missing = lsql("validate", "--file", "/nowhere/query.sql")
    wrong = lsql("validate", sql=insert("* FROM cars"), SQL_PORT="none")

    assert (missing.returncode, wrong.returncode) == (1, 1)
    assert "/nowhere/query.sql" in missing.stderr
    assert "SQL_PORT" in wrong.stderr
    assert "Traceback" not in missing.stderr + wrong.stderr


def test_a_plan_and_its_graph_are_printed() -> None:
    sql = insert("name FROM cars WHERE speed > 1")

    plan, graph = lsql("explain", sql=sql), lsql("topology", sql=sql)

    assert (plan.returncode, graph.returncode) == (0, 0)
    assert "cars" in plan.stdout
    assert {"nodes", "edges"} <= json.loads(graph.stdout).keys()


@pytest.mark.parametrize("command", ["validate", "explain", "topology"])
def test_a_topic_that_the_policies_do_not_allow_is_refused_with_its_place(command: str) -> None:
    result = lsql(command, sql=insert("* FROM cars"), LSQL_POLICY_WRITE_ALLOW="slow*, out.*")

    assert result.returncode == 1
    assert result.stderr.startswith("TOPIC_NOT_ALLOWED: The topic policies do not allow programs to write fast: ")
    assert "INSERT INTO fast" in result.stderr
    assert "^^^^" in result.stderr


def test_a_wrong_pattern_of_a_policy_is_refused() -> None:
    result = lsql("validate", sql=insert("* FROM cars"), LSQL_POLICY_READ_ALLOW="[a-z]*")

    assert result.returncode == 1
    assert "LSQL_POLICY_READ_ALLOW" in result.stderr
    assert "names of topics, separated by commas" in result.stderr


def test_a_validation_that_cannot_reach_the_brokers_fails_readably(monkeypatch: pytest.MonkeyPatch) -> None:
    """As docs/guides/brokers-down.md shows it: what an upgrade hook logs."""
    brokers = FakeBrokers()
    brokers.outage = LsqlError("BROKER_UNREACHABLE", servers="kafka:9092", reason="no answer within 10 s")
    monkeypatch.setattr(dry_run, "connections", lambda _settings: nullcontext((brokers, None)))
    monkeypatch.setattr(os, "environ", {"SQL": insert("* FROM cars"), "SQL_BOOTSTRAP_SERVERS": "kafka:9092"})

    result = CliRunner().invoke(cli, ["validate"])

    assert result.exit_code == 3
    assert f"```text\n{result.stderr}```" in (GUIDE.parent / "brokers-down.md").read_text(encoding="utf-8")


GUIDE = Path(__file__).parents[3] / "docs/guides/security.md"
ORDERS = json.dumps({"orders": {"value": {"format": "JSON", "schema": {"id": "long"}}}})
TOTALS = "INSERT INTO sums SELECT STREAM COUNT(*) AS n FROM orders GROUP BY id"


def test_the_acls_of_a_program_are_those_of_the_guide() -> None:
    result = lsql("explain", "--acls", "--principal", "User:shop", sql=TOTALS, LSQL_TOPICS=ORDERS, SQL_APP_ID="totals")

    command = f"$ export SQL='{TOTALS}' SQL_APP_ID=totals\n$ lsql explain --acls --principal User:shop\n"
    assert f"{command}{result.stdout}```" in GUIDE.read_text(encoding="utf-8")


def test_the_acls_include_what_error_policies_and_created_topics_need() -> None:
    sql = f"SET autocreate=true; SET error.policy='dlq'; SET dead.letter.queue='letters'; {TOTALS}"
    variables = {"LSQL_TOPICS": ORDERS, "SQL_APP_ID": "totals", "SASL_USERNAME": "ada", "SASL_MECHANISM": "PLAIN"}

    result = lsql("explain", "--acls", "--json", sql=sql, **variables)

    def topic(name: str, *operations: str) -> dict[str, object]:
        return {"resourceType": "topic", "name": name, "patternType": "literal", "operations": list(operations)}

    assert json.loads(result.stdout) == {
        "principal": "User:ada",
        "acls": [
            topic("orders", "Read"),
            topic("sums", "Read", "Write", "DescribeConfigs", "Create"),
            topic("letters", "Read", "Write", "DescribeConfigs", "Create"),
            {"resourceType": "group", "name": "totals", "patternType": "literal", "operations": ["Read"]},
            {
                "resourceType": "transactional-id",
                "name": "totals/",
                "patternType": "prefixed",
                "operations": ["Write"],
            },
        ],
    }


def test_the_options_of_acls_need_acls() -> None:
    assert lsql("explain", "--json", sql=TOTALS, LSQL_TOPICS=ORDERS).returncode == 2


def test_the_difference_of_two_programs_is_a_verdict_for_each_insert(tmp_path: Path) -> None:
    old, new, topics = tmp_path / "old.sql", tmp_path / "new.sql", tmp_path / "topics.json"
    count = insert("name, COUNT(*) AS n FROM cars {} GROUP BY name")
    old.write_text(count.format("WINDOW BY TUMBLE 1m"))
    topics.write_text(json.dumps(TOPICS))

    new.write_text(count.format("WINDOW BY TUMBLE 1m GRACE BY 1h"))
    text = lsql("diff", str(old), str(new))
    new.write_text(count.format("WINDOW BY TUMBLE 5m"))
    document = lsql("diff", "--json", "--topics", str(topics), str(old), str(new), LSQL_TOPICS="{}")
    new.write_text(insert("speeed FROM cars"))
    wrong = lsql("diff", str(old), str(new))

    assert (text.returncode, text.stdout.splitlines()) == (
        0,
        ["INSERT INTO fast: keeps from here on", "- INSERT INTO fast has a different grace"],
    )
    [verdict] = json.loads(document.stdout)["inserts"]
    assert (verdict["verdict"], [change["code"] for change in verdict["changes"]]) == ("new generation", ["WINDOW"])
    assert (wrong.returncode, "FIELD_UNKNOWN" in wrong.stderr, "speeed FROM cars" in wrong.stderr) == (1, True, True)


def test_functions_are_listed_or_described() -> None:
    every, one, none = lsql("functions"), lsql("functions", "upper"), lsql("functions", "uper")

    assert "UPPER" in every.stdout
    assert one.stdout.startswith("UPPER")
    assert (every.returncode, one.returncode, none.returncode) == (0, 0, 1)


def test_an_internal_error_is_printed_without_its_trace() -> None:
    source = """
from unittest import mock
import lsql_runner.start.dry_run as dry_run
from lsql_runner.cli.lsql import main
import logging, sys
sys.argv = ["lsql", "validate"]
with mock.patch.object(dry_run, "validate", side_effect=ZeroDivisionError("internal")):
    main()
"""
    result = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=50, check=False)

    assert result.returncode == 3
    assert result.stderr.startswith("INTERNAL: ")
    assert "ZeroDivisionError: internal" in result.stderr
    assert "Traceback" not in result.stderr


def test_log_messages_of_libraries_are_not_printed() -> None:
    source = """
import logging
from lsql_runner.cli.lsql import cli
try:
    cli(["functions", "upper"])
except SystemExit:
    logging.error("a library's trace")
"""
    result = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=50, check=False)

    assert (result.returncode, result.stderr) == (0, "")


def test_a_registry_without_brokers_is_wrong_usage(tmp_path: Path) -> None:
    result = lsql("test", str(tmp_path), "--registry", "http://registry:8081")

    assert result.returncode == 2
    assert "--registry requires --kafka" in result.stderr


def test_invalid_addresses_of_brokers_are_refused(tmp_path: Path) -> None:
    (tmp_path / "case.yaml").touch()

    result = lsql("test", str(tmp_path), "--kafka", "kafka")

    assert (result.returncode, result.stderr.split(":")[0]) == (1, "ENV_INVALID")
    assert "Traceback" not in result.stderr
