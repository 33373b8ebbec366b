"""A release of the console in a cluster, and requests to it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from devkit.helm import ROOT
from devkit.release_with_traffic import ReleaseWithTraffic, merged

CHART = ROOT / "charts/lsql-console"
TOKEN = "example"
TOKEN_LINE = "ada operator 50d858e0985ecc7f60418aaf0cc5ab587f42c2570a884095a9e8ccacd0f6545c"
"""The SHA-256 of the token, in the format of `lsql-console token`."""

ASK = """
import sys, urllib.error, urllib.request
method, url, token = sys.argv[1:]
request = urllib.request.Request(url, method=method, headers={"Authorization": f"Bearer {token}"} if token else {})
try:
    answer = urllib.request.urlopen(request, timeout=20)
except urllib.error.HTTPError as error:
    answer = error
print(answer.status, answer.read().decode())
"""
"""A Python program that sends a request, for a pod without curl."""


@dataclass(frozen=True)
class Console:
    """The console. Requests are sent from a processor's pod to the name of the console's Service."""

    release: ReleaseWithTraffic

    def request(self, method: str, path: str, token: str = TOKEN) -> tuple[int, Any]:
        """Send a request; returns status and JSON of the response."""
        pod = self.release.processor.pod()["metadata"]["name"]
        url = f"http://watch:8084{path}"
        said = self.release.helm.kubectl.exec(pod, "python", "-c", ASK, method, url, token)
        status, _, body = said.partition(" ")
        return int(status), json.loads(body)

    def post_to_processor(self, action: str) -> tuple[int, Any]:
        """Send a POST without a token to the processor itself."""
        pod = self.release.processor.pod()["metadata"]["name"]
        url = f"http://{self.release.name}:8083/{action}"
        status, _, body = self.release.helm.kubectl.exec(pod, "python", "-c", ASK, "POST", url, "").partition(" ")
        return int(status), json.loads(body)

    def streams(self) -> list[dict[str, Any]]:
        status, body = self.request("GET", "/api/v1/streams")
        assert status == 200, body
        return list(body["streams"])


def install_console(release: ReleaseWithTraffic, **values: Any) -> Console:
    """Install the console as the release `watch`, with a token of an operator. The processor must run."""
    usual = {
        "image": release.values["image"],
        "auth": {"mode": "token", "token": {"tokens": TOKEN_LINE}},
        "runners": {"tokenSecrets": [f"{release.name}-api"]},
        "console": {"pollSeconds": 1},
    }
    replace(release.helm, chart=CHART).install("watch", merged(usual, values))
    return Console(release)
