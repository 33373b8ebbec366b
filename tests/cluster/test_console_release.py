"""The console as a release, in pods: its job finds a processor, its API shows, stops and deletes it."""

import base64
import gzip
import json
from dataclasses import dataclass, replace
from typing import Any

import pytest

from devkit.broker import Broker
from devkit.helm import ROOT
from devkit.kubectl import Kubectl
from devkit.release_with_traffic import ReleaseWithTraffic
from tests.cluster.conftest import HelmFactory

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


@pytest.fixture
def console(namespace: Kubectl, kafka: Broker, image: str, newest_helm: HelmFactory) -> Console:
    helm = newest_helm(namespace)
    release = ReleaseWithTraffic(helm, kafka, image)
    release.install()
    values = {
        "image": release.values["image"],
        "auth": {"mode": "token", "token": {"tokens": TOKEN_LINE}},
        "actions": {"stop": True, "start": True, "delete": True},
        "logs": {"enabled": True},
        "runners": {"tokenSecrets": [f"{release.name}-api"]},
        "console": {"pollSeconds": 1},
    }
    replace(helm, chart=CHART).install("watch", values)
    return Console(release)


def workload(release: ReleaseWithTraffic) -> dict[str, Any]:
    return dict(json.loads(release.helm.kubectl.run("get", "statefulset", release.name, "-o", "json")))


def published(kubectl: Kubectl) -> dict[str, Any]:
    """The document in its ConfigMap; empty before the job has run."""
    found = json.loads(kubectl.run("get", "configmap", "watch-processors", "-o", "json"))
    packed = found.get("binaryData", {}).get("processors.json.gz")
    return json.loads(gzip.decompress(base64.b64decode(packed))) if packed else {}


def test_a_processor_is_found_shown_stopped_and_deleted(console: Console) -> None:
    release, kubectl = console.release, console.release.helm.kubectl
    uid = release.processor.uid()
    kubectl.wait_until(
        lambda: [s["state"] for s in console.streams()] == ["running"], 60, "the console shows it running"
    )

    found = console.request("GET", f"/api/v1/streams/{console.streams()[0]['id']}")[1]
    assert (found["name"], found["sql"], found["release"]) == (release.name, release.sql, release.name)
    assert workload(release)["metadata"]["labels"]["lenses-id"] == found["id"]
    assert release.processor.uid() == uid, "the pod was not replaced"

    path = f"/api/v1/streams/{found['id']}"
    assert console.request("GET", f"{path}/logs")[0] == 200
    assert console.request("PUT", f"{path}/stop", token="")[0] == 401
    status, answer = console.post_to_processor("stop")
    assert (status, answer["code"]) == (401, "API_TOKEN_MISSING")
    assert release.processor.stream()["state"] == "running"

    status, answer = console.request("PUT", f"{path}/stop")
    assert status == 202, answer
    kubectl.wait_until(lambda: release.processor.stream()["state"] == "stopped", 60, "the processor is stopped")
    events = kubectl.list("events")
    assert any("ada" in event["message"] and event["involvedObject"]["name"] == release.name for event in events)

    status, answer = console.request("PUT", f"{path}/scale/2")
    assert (status, answer["code"]) == (403, "ACTION_DISABLED")
    assert console.request("PUT", f"{path}/start")[0] == 202
    kubectl.wait_until(lambda: release.processor.stream()["state"] == "running", 60, "the processor runs again")
    assert release.await_records().duplicates == 0

    assert console.request("DELETE", path)[0] == 202
    kubectl.wait_until(lambda: kubectl.find("statefulset", release.name) is None, 60, "the workload is deleted")


def test_the_job_publishes_the_processor(console: Console) -> None:
    kubectl = console.release.helm.kubectl
    document = kubectl.wait_until(lambda: published(kubectl), 60, "the job has published its document")

    assert [(entry["name"], entry["sql"]) for entry in document["processors"]] == [
        (console.release.name, console.release.sql)
    ]
