"""`lsql validate --running`: what a running processor says about its state decides whether an upgrade goes on."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner, Result
from werkzeug.serving import make_server

from ci.tools.ports import free_port
from devkit.fake_processor import FakeProcessor
from devkit.fake_runtime import FakeRuntime
from lsql_runner.api.access import ApiAccess
from lsql_runner.api.app import create_app
from lsql_runner.cli.lsql import cli
from lsql_runner.errors import LsqlError, report
from lsql_runner.start.changed_program import ProgramVerdict, verdict_on

TOKEN = "0123456789abcdef"
COUNT = "SET autocreate=true; INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t GROUP BY g"
FILTERED = COUNT.replace("FROM t", "FROM t WHERE g IS NOT NULL")
WINDOWED = COUNT.replace("GROUP", "WINDOW BY TUMBLE 1m GROUP")
TOPICS = {"t": {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": {"g": "string"}}}}

Judge = Callable[[str], ProgramVerdict]


@pytest.fixture
def judge(tmp_path: Path) -> Iterator[Judge]:
    """The verdict of a processor with the state of COUNT."""
    runtime = FakeRuntime(tmp_path, COUNT)
    runtime.brokers.add_topic("t")
    runtime.brokers.produce("t", (b"k", b'{"g": "x"}'))
    with runtime.process() as running:
        running.run()
        yield lambda sql: verdict_on(sql, runtime.settings(), runtime.brokers, None, running.state_dir)


class Judged(FakeProcessor):
    """A processor with the verdicts of another one."""

    def __init__(self, judge: Judge) -> None:
        super().__init__()
        self._judge = judge

    def verdict(self, sql: str) -> ProgramVerdict:
        return self._judge(sql)


@contextmanager
def served(judge: Judge) -> Iterator[str]:
    """The address of an API that gives these verdicts to who has the token."""
    app = create_app(Judged(judge), lambda _: (b"", ""), ApiAccess("token", TOKEN))
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def validated(url: str, sql: str, *options: str, token: str = TOKEN, **env: str) -> Result:
    variables = {
        "SQL": sql,
        "SQL_APP_ID": "fast-vehicles",
        "LSQL_TOPICS": json.dumps(TOPICS),
        "LSQL_API_TOKEN": token,
        **env,
    }
    return CliRunner().invoke(cli, ["validate", "--running", url, *options], env=variables)


def fail_to_look_up(monkeypatch: pytest.MonkeyPatch, fault: OSError) -> None:
    """The resolver of a machine may not know names outside: its answers are given here."""

    def look_up(*_: object) -> None:
        raise fault

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


def test_what_happens_to_the_state_is_printed(judge: Judge) -> None:
    with served(judge) as url:
        result = validated(url, FILTERED)

    assert result.exit_code == 0
    assert result.stdout.splitlines()[-2:] == [
        "INSERT INTO o: keeps from here on",
        "- INSERT INTO o has a different filter before its stateful operator",
    ]


@pytest.mark.parametrize(("rate", "time", "at"), [(None, "", ""), (2.0, " (1 min)", ", at its 2 records/s")])
def test_the_cost_of_new_state_is_printed(judge: Judge, rate: float | None, time: str, at: str) -> None:
    with served(lambda sql: replace(judge(sql), records_per_s=rate)) as url:
        result = validated(url, WINDOWED, LSQL_STATE_ON_CHANGE="reset")

    cost = f"1 records{time} are read from the oldest open window, or 1{time} from the first record{at}"
    assert result.stdout.splitlines()[-1] == f"- to build its state again, {cost}"


@pytest.mark.parametrize(
    ("sql", "env", "code"),
    [
        (COUNT, {}, None),
        (WINDOWED, {}, "STATE_INCOMPATIBLE"),
        (WINDOWED, {"LSQL_STATE_ON_CHANGE": "reset"}, None),
        (FILTERED, {"LSQL_STATE_ON_MEANING_CHANGE": "refuse"}, "STATE_MEANING_CHANGED"),
        (COUNT.replace("AS n", "AS m"), {"LSQL_STATE_ON_MEANING_CHANGE": "refuse"}, None),
        (f"SET state.partitions=9; {COUNT}", {}, "STATE_INCOMPATIBLE"),
        ("SET autocreate=true; INSERT INTO p SELECT STREAM g FROM t", {}, "STATE_INCOMPATIBLE"),
    ],
)
def test_the_settings_of_the_new_processor_decide(
    judge: Judge, sql: str, env: dict[str, str], code: str | None
) -> None:
    with served(judge) as url:
        result = validated(url, sql, **env)

    assert (result.exit_code, code is None or f"{code}: " in result.stderr) == (0 if code is None else 1, True)


def test_the_partitions_are_those_of_the_new_processor(judge: Judge) -> None:
    """The running one may have failed because of its own number."""
    with served(
        lambda sql: replace(judge(sql), error=report(LsqlError("STATE_INCOMPATIBLE", path="", change="")))
    ) as url:
        results = [validated(url, COUNT, LSQL_STATE_PARTITIONS=number) for number in ("0", "1", "9")]

    assert [result.exit_code for result in results] == [0, 0, 1]
    assert "state.partitions is 9, and the state has 1 partitions" in results[-1].stderr


def test_the_state_of_another_application_id_does_not_matter(judge: Judge) -> None:
    with served(judge) as url:
        result = validated(url, WINDOWED, SQL_APP_ID="another")

    assert (result.exit_code, "has the application id fast-vehicles" in result.stdout) == (0, True)


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("http://resolver-fails:8083", socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")),
        ("fast-vehicles:8083", None),
        ("http://a..b:8083", None),
    ],
)
def test_an_address_that_cannot_be_looked_up_is_not_a_missing_processor(
    monkeypatch: pytest.MonkeyPatch, url: str, fault: OSError | None
) -> None:
    if fault is not None:
        fail_to_look_up(monkeypatch, fault)

    result = validated(url, COUNT, "--on-unknown", "refuse")

    assert (result.exit_code, "VERDICT_UNKNOWN" in result.stderr) == (3, True)


def test_without_a_processor_there_is_no_state(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_to_look_up(monkeypatch, socket.gaierror(socket.EAI_NONAME, "Name or service not known"))

    result = validated("http://there-is-no-processor.invalid:8083", COUNT, "--on-unknown", "refuse")

    assert (result.exit_code, result.stdout.splitlines()[-1]) == (
        0,
        "There is no processor at http://there-is-no-processor.invalid:8083 yet.",
    )


def test_a_processor_that_cannot_say_is_accepted_or_refused(judge: Judge) -> None:
    gone = f"http://127.0.0.1:{free_port()}"
    with served(judge) as url:
        answers = [validated(gone, COUNT), validated(url, COUNT, token="another-token-123")]
        refused = [validated(gone, COUNT, "--on-unknown", "refuse")]
        refused.append(validated(url, COUNT, "--on-unknown", "refuse", token="another-token-123"))

    assert [(result.exit_code, "cannot say whether its state fits" in result.stderr) for result in answers] == [
        (0, True)
    ] * 2
    assert [(result.exit_code, "VERDICT_UNKNOWN" in result.stderr) for result in refused] == [(3, True)] * 2
    assert "is not the processor's token" in refused[1].stderr
