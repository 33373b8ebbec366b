"""The console as a release, in pods: its job finds a processor, its API shows, stops and deletes it."""

import base64
import gzip
import json
from typing import Any

import pytest

from devkit.broker import Broker
from devkit.cluster_console import Console, install_console
from devkit.kubectl import Kubectl
from devkit.release_with_traffic import ReleaseWithTraffic
from tests.cluster.conftest import HelmFactory


@pytest.fixture
def console(namespace: Kubectl, kafka: Broker, image: str, newest_helm: HelmFactory) -> Console:
    release = ReleaseWithTraffic(newest_helm(namespace), kafka, image)
    release.install()
    return install_console(release, actions={"stop": True, "start": True, "delete": True}, logs={"enabled": True})


def workload(release: ReleaseWithTraffic) -> dict[str, Any]:
    return dict(json.loads(release.helm.kubectl.run("get", "statefulset", release.name, "-o", "json")))


def published(kubectl: Kubectl) -> dict[str, Any]:
    """The document in its ConfigMap; empty before the job has run."""
    config_map = json.loads(kubectl.run("get", "configmap", "watch-processors", "-o", "json"))
    packed = config_map.get("binaryData", {}).get("processors.json.gz")
    return json.loads(gzip.decompress(base64.b64decode(packed))) if packed else {}


def test_a_processor_is_found_shown_stopped_and_deleted(console: Console) -> None:
    release, kubectl = console.release, console.release.helm.kubectl
    uid = release.processor.uid()
    kubectl.wait_until(
        lambda: [s["state"] for s in console.streams()] == ["running"], 60, "the console shows it running"
    )

    processor = console.request("GET", f"/api/v1/streams/{console.streams()[0]['id']}")[1]
    assert (processor["name"], processor["sql"], processor["release"]) == (release.name, release.sql, release.name)
    assert workload(release)["metadata"]["labels"]["lenses-id"] == processor["id"]
    assert release.processor.uid() == uid, "the pod was not replaced"

    path = f"/api/v1/streams/{processor['id']}"
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
