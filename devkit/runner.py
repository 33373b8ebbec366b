"""Runs the runner as a user does: `lsql run` with a program, a broker and a state directory.

Its JVM uses only the fast compiler, which saves two fifths of the processor time of a start. tests/image and
tests/cluster use the settings of production.
"""

import http.client
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from ci.tools.ports import free_port
from devkit.process import Process

LSQL = Path(sys.prefix, "bin", "lsql")
REQUEST_TIMEOUT_S = 20
POLL_S = 0.05
TOKEN = "token-of-the-tests"
FAST_COMPILER = "-XX:TieredStopAtLevel=1"

Stream = dict[str, Any]


@dataclass(frozen=True)
class Response:
    """An HTTP response. `body` is its JSON, or its text if it is not JSON."""

    status: int
    body: Any


class Runner(Process):
    """`lsql run` on a free port; it is ready when its API responds. `env` adds or replaces environment variables.

    `start` may be called again after `stop` or `kill`: the port and the state are the same.
    """

    def __init__(self, broker_bootstrap: str, sql: str, app_id: str, state_dir: Path, **env: str) -> None:
        self.app_id = app_id
        self.state_dir = state_dir
        self._may_serve = True
        self.port = int(env.get("SQL_PORT", free_port()))
        variables = {
            "SQL": sql,
            "SQL_APP_ID": app_id,
            "SQL_BOOTSTRAP_SERVERS": broker_bootstrap,
            "SQL_STATE_STORE_DIR": str(state_dir),
            "SQL_PORT": str(self.port),
            "LSQL_API_TOKEN": TOKEN,
            "SQL_METRIC_FREQUENCY": "500",
            "PYTHONFAULTHANDLER": "1",
            "MALLOC_ARENA_MAX": "2",
            "JAVA_OPTS": FAST_COMPILER,
        }
        super().__init__(
            [LSQL, "run"],
            name="runner",
            probe=lambda: self._may_serve and self.get("/health/live").status == 200,
            deadline_s=90,
            grace_s=40,
            env=variables | env,
        )

    def get(self, path: str) -> Response:
        """Send a GET request to the API."""
        return self._request("GET", path)

    def post(self, path: str, token: str = TOKEN, body: Any = None) -> Response:
        """Send a POST request to the API, with a token, and a value as JSON."""
        content = "" if body is None else json.dumps(body)
        return self._request("POST", path, {"Authorization": f"Bearer {token}"}, content)

    def stream(self) -> Stream:
        """GET /stream. AssertionError, with the output of the process, if the response is not a report."""
        answer = self.get("/stream")
        assert answer.status == 200, f"{answer}\n{self.output()[-6000:]}"
        body: Stream = answer.body
        return body

    def health(self) -> tuple[int, list[str]]:
        """The status of GET /health and the codes of its reasons."""
        answer = self.get("/health")
        return answer.status, [reason["code"] for reason in answer.body["reasons"]]

    def metrics(self) -> dict[str, float]:
        """GET /metrics: the sum of each metric's samples over all its labels, by sample name."""
        values: dict[str, float] = {}
        for family in text_string_to_metric_families(self.get("/metrics").body):
            for sample in family.samples:
                values[sample.name] = values.get(sample.name, 0) + sample.value
        return values

    def read_to(self, position: int, deadline_s: float = 90) -> Stream:
        """Wait until the sum of the positions of all partitions is at least `position`."""
        return self.wait_for(
            lambda s: sum(place["position"] or 0 for place in s["offsets"]) >= position,
            deadline_s,
            f"position {position}",
        )

    def reach(self, state: str, deadline_s: float = 90) -> Stream:
        """Wait until the processor is in a state."""
        return self.wait_for(lambda s: s["state"] == state, deadline_s, f"state {state}")

    def wait_for(
        self, predicate: Callable[[Stream], bool], deadline_s: float = 90, condition: str = "the condition"
    ) -> Stream:
        """The first /stream that the predicate accepts. AssertionError, with the output, after the deadline."""
        deadline = time.monotonic() + deadline_s
        while True:
            stream = self.stream()
            if predicate(stream):
                return stream
            if time.monotonic() > deadline:
                shown = {name: value for name, value in stream.items() if name not in ("sql", "lastBatch")}
                raise AssertionError(
                    f"{condition} not within {deadline_s} s: {json.dumps(shown, indent=1)}\n{self.output()[-6000:]}"
                )
            time.sleep(POLL_S)

    def run_until_refused(self) -> str:
        """Start, expect that the process ends without serving its API, and return its output."""
        self._may_serve = False  # if the port is in use, another process responds
        try:
            self.start()
        except AssertionError:
            if self.exit_code is None or self.exit_code < 0:
                raise
            return self.output()
        self.stop()
        raise AssertionError(f"the processor started:\n{self.output()}")

    def traces(self) -> list[str]:
        """The first line of each Python stack trace in the output."""
        return [line for line in self.output().splitlines() if "Traceback" in line]

    def crash(self) -> None:
        """Kill the program and its JVM, as the end of a pod does. After `kill`, the JVM may process records for some
        time, until it notices."""
        os.kill(self.jvm_pid(), signal.SIGKILL)
        self.kill()

    def jvm_pid(self) -> int:
        """The process id of the JVM, of which there is one."""
        pids = [pid for pid in _processes("java") if self.pid in _ancestors(pid)]
        assert len(pids) == 1, f"{len(pids)} JVMs under process {self.pid}"
        return pids[0]

    def child_pid(self) -> int:
        """The id of the child process, which contains the control loop; it is the parent of the JVM."""
        stat = _stat(self.jvm_pid())
        assert stat is not None, "the JVM has ended"
        return stat[1]

    def _request(
        self, method: str, path: str, headers: Mapping[str, str] = MappingProxyType({}), content: str = ""
    ) -> Response:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=REQUEST_TIMEOUT_S)
        try:
            connection.request(method, path, content or None, headers=dict(headers))
            answer = connection.getresponse()
            text = answer.read().decode()
            is_json = "json" in (answer.getheader("Content-Type") or "")
            return Response(answer.status, json.loads(text) if is_json else text)
        except http.client.HTTPException as error:
            raise ConnectionError(f"{method} {path}: {error!r}") from error
        finally:
            connection.close()


def has_ended(pid: int) -> bool:
    """Whether a process that is no child of this one has ended."""
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def _processes(name: str) -> list[int]:
    """The process ids of all programs with this name."""
    pids = [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit()]
    return [pid for pid in pids if (_stat(pid) or ("", 0))[0] == name]


def _ancestors(pid: int) -> list[int]:
    pids: list[int] = []
    while pid > 1 and (stat := _stat(pid)) is not None:
        pid = stat[1]
        pids.append(pid)
    return pids


def _stat(pid: int) -> tuple[str, int] | None:
    """The name and the parent of a process; None if it has ended."""
    try:
        text = Path("/proc", str(pid), "stat").read_text()
    except OSError:
        return None
    name, rest = text.split("(", 1)[1].rsplit(")", 1)
    return name, int(rest.split()[1])
