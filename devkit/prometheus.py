"""A real Prometheus for tests: Debian's server on a random port, in a temporary folder."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import yaml

from ci.tools.ports import free_port
from devkit.process import Process

REQUEST_TIMEOUT_S = 20
Series = dict[str, Any]


class Prometheus(Process):
    """A server that scrapes one target each second, and gives its series `labels`."""

    def __init__(self, target: str, labels: Mapping[str, str]) -> None:
        self.port = free_port()
        self._began_s = time.time()
        super().__init__(
            [
                "prometheus",
                "--config.file=prometheus.yaml",
                "--storage.tsdb.path=data",
                f"--web.listen-address=127.0.0.1:{self.port}",
            ],
            name="prometheus",
            probe=lambda: self._get("/-/ready") != b"",
        )
        scrape = {"job_name": "lsql", "static_configs": [{"targets": [target], "labels": dict(labels)}]}
        config = {"global": {"scrape_interval": "1s", "scrape_timeout": "1s"}, "scrape_configs": [scrape]}
        (self.folder / "prometheus.yaml").write_text(yaml.safe_dump(config))

    def series(self, query: str) -> list[Series]:
        """The result of a query since this object was made, as a panel of a dashboard gets it. AssertionError, with the
        server's error, if the query is wrong.
        """
        parameters = {"query": query, "start": self._began_s, "end": time.time(), "step": "1"}
        body = json.loads(self._get(f"/api/v1/query_range?{urlencode(parameters)}"))
        assert body["status"] == "success", body
        result: list[Series] = body["data"]["result"]
        return result

    def _get(self, path: str) -> bytes:
        with urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=REQUEST_TIMEOUT_S) as response:
            body: bytes = response.read()
            return body
