"""The processor of the demo, `lsql run`, and the status that its API reports."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ci.tools.ports import free_port
from devkit.process import Process

LSQL = Path(sys.prefix, "bin", "lsql")
APP_ID = "demo"
RATE_WINDOW_S = 5.0
CHECK_S = 30
LOG_LINES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The status that the API reported at one time; rates are averages of RATE_WINDOW_S."""

    state: str
    reason: str = ""
    """Why the processor waits, restarts or has failed; empty otherwise."""
    in_per_s: float = 0.0
    out_per_s: float = 0.0
    lag: int = 0
    state_rows: int = 0
    targets: tuple[str, ...] = ()


@dataclass(slots=True)
class DemoProcessor:
    """`lsql run` on a free port; its state and temporary files are in the folder of `process`."""

    sql: str
    bootstrap: str
    process: Process = field(init=False)
    port: int = field(init=False)
    _counts: deque[tuple[float, int, int]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.port = free_port()
        self.process = Process([LSQL, "run"], name="demo", probe=lambda: True, grace_s=30, env=self._environment())

    def _environment(self) -> dict[str, str]:
        return {
            "SQL": self.sql,
            "SQL_APP_ID": APP_ID,
            "SQL_BOOTSTRAP_SERVERS": self.bootstrap,
            "SQL_PORT": str(self.port),
            "SQL_STATE_STORE_DIR": "state",
            "SQL_METRIC_FREQUENCY": "1000",
            "LSQL_API_ACTIONS": "open",
            "LSQL_API_QUERIES": "open",
        }

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def read(self) -> Reading:
        """The current status; state `starting` until the API responds."""
        try:
            stream, stores = self._get("/stream"), self._get("/metadata")
        except (OSError, http.client.HTTPException, ValueError):
            return Reading(state="starting")
        now_s = time.monotonic()
        self._counts.append((now_s, stream["recordsIn"], stream["recordsOut"]))
        while len(self._counts) > 2 and now_s - self._counts[0][0] > RATE_WINDOW_S:
            self._counts.popleft()
        then_s, read, written = self._counts[0]
        elapsed_s = now_s - then_s
        reason = stream["reason"]
        return Reading(
            state=stream["state"],
            reason=f"{reason['code']}: {reason['message']} {reason['wayOut']}" if reason else "",
            in_per_s=(stream["recordsIn"] - read) / elapsed_s if elapsed_s else 0.0,
            out_per_s=(stream["recordsOut"] - written) / elapsed_s if elapsed_s else 0.0,
            lag=stream["lag"],
            state_rows=sum(store["rows"] or 0 for store in stores),
            targets=tuple(t["topic"] for t in stream["topics"] if t["role"] == "target"),
        )

    def why_it_ended(self) -> str:
        """Why the processor ended: the error of the program with its place in the text, else the end of the log."""
        with suppress(subprocess.TimeoutExpired):
            checked = subprocess.run(
                [LSQL, "validate"],
                cwd=self.process.folder,
                env={**os.environ, **self._environment()},
                capture_output=True,
                text=True,
                timeout=CHECK_S,
                check=False,
            )
            if checked.returncode:
                return checked.stderr.rstrip()
        return "\n".join(self.process.output().splitlines()[-LOG_LINES:]) or "its log is empty"

    def _get(self, path: str) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            body = response.read()
        finally:
            connection.close()
        if response.status != 200:
            raise ValueError(f"GET {path}: HTTP {response.status}")
        return json.loads(body)
