"""The recovery job and the console with the permissions of their chart, and ids across upgrades and rollbacks.

Needs only an API server: no test waits for a pod, and no processor responds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from lightkube import Client, KubeConfig
from lightkube.config.kubeconfig import SingleConfig
from lightkube.config.models import User

from devkit.cluster_release import Helm
from devkit.console_fixtures import FakeRunners, settings
from devkit.helm import ROOT
from devkit.kubectl import Kubectl, KubectlFailed
from lsql_runner.console.cluster import MANAGER, ClusterError, WorkloadEvent
from lsql_runner.console.document import Document
from lsql_runner.console.lightkube_cluster import LightkubeCluster
from lsql_runner.console.recover import RecoveryResult, recover
from lsql_runner.console.storage import decode
from tests.cluster.conftest import HelmFactory

CONSOLE = ROOT / "charts/lsql-console"
NAME = "fast-vehicles"
WORKERS = f"{NAME}-workers"
VALUES = {
    "sql": "INSERT INTO fast SELECT STREAM * FROM vehicles WHERE speed > 10",
    "kafka": {"bootstrapServers": "kafka:9092"},
    "validation": {"enabled": False},
    "user": "ada",
    "pipeline": "traffic",
}


class Release:
    """A release of lsql-console. Its job and console run in the test, with the tokens of their accounts."""

    def __init__(self, kubectl: Kubectl, stack: ExitStack) -> None:
        self.kubectl = kubectl
        self._stack = stack
        document = {"namespace": kubectl.namespace, "name": "watch-processors"}
        self.settings = settings(namespaces=[kubectl.namespace], document=document)

    def account(self, component: str) -> LightkubeCluster:
        """The cluster, with the permissions of the service account of `recovery` or `console`."""
        token = self.kubectl.run("create", "token", f"watch-{component}").strip()
        config = KubeConfig.from_file(str(self.kubectl.kubeconfig)).get()
        assert config is not None
        single = SingleConfig(config.context_name, config.context, config.cluster, User(token=token), config.fname)
        client = Client(config=single, field_manager=MANAGER)
        self._stack.callback(client.close)
        return LightkubeCluster(client)

    def recover(self) -> RecoveryResult:
        """Run the job once."""
        silent = FakeRunners({NAME: None})
        return recover(self.account("recovery"), silent.fetch_reports, self.settings, lambda: datetime.now(UTC))

    def published(self, component: str = "console") -> Document:
        """The document of the job, read with the permissions of a component."""
        stored = self.settings.document
        document = decode(self.account(component).config_map(stored.namespace, stored.name).content)
        assert document is not None
        return document


@pytest.fixture
def release(namespace: Kubectl) -> Iterator[Release]:
    with ExitStack() as stack:
        yield Release(namespace, stack)


def install_console(helm: Helm, **values: Any) -> None:
    replace(helm, chart=CONSOLE).run("install", "watch", CONSOLE, "--values=-", "--no-hooks", stdin=json.dumps(values))


def deploy(helm: Helm, action: str, **changes: Any) -> None:
    """Install or upgrade the release of the processor."""
    helm.run(action, NAME, helm.chart, "--values=-", stdin=json.dumps({**VALUES, **changes}))


def metadata(kubectl: Kubectl, kind: str = "statefulset") -> dict[str, Any]:
    fields: dict[str, Any] = kubectl.get(kind, NAME)["metadata"]
    return fields


@pytest.mark.parametrize("kind", ["StatefulSet", "Deployment"])
def test_an_id_survives_upgrade_and_rollback_and_restarts_no_pod(
    release: Release, helm: HelmFactory, kind: str
) -> None:
    chart_helm = helm(release.kubectl)
    install_console(chart_helm)
    deploy(chart_helm, "install", workload={"kind": kind})
    before = metadata(release.kubectl, kind)
    assert "lenses-id" not in before["labels"]

    outcome = release.recover()

    after = metadata(release.kubectl, kind)
    given = after["labels"]["lenses-id"]
    assert (outcome.adopted, outcome.complete, given) == (1, True, before["uid"])
    assert after["generation"] == before["generation"]

    deploy(chart_helm, "upgrade", workload={"kind": kind}, sql="INSERT INTO fast SELECT STREAM * FROM vehicles")
    upgraded = metadata(release.kubectl, kind)
    assert (upgraded["labels"]["lenses-id"], upgraded["generation"]) == (given, before["generation"] + 1)
    chart_helm.run("rollback", NAME, "1")
    assert metadata(release.kubectl, kind)["labels"]["lenses-id"] == given
    assert release.recover().adopted == 0


def test_a_release_that_is_installed_again_has_its_former_id(release: Release, newest_helm: HelmFactory) -> None:
    chart_helm = newest_helm(release.kubectl)
    install_console(chart_helm)
    deploy(chart_helm, "install")
    release.recover()
    given = metadata(release.kubectl)["labels"]["lenses-id"]
    chart_helm.run("uninstall", NAME, "--cascade=background")
    assert [entry.state for entry in release.recover().document.processors] == ["deleted"]

    deploy(chart_helm, "install")
    release.recover()

    assert metadata(release.kubectl)["labels"]["lenses-id"] == given


def test_processors_of_the_chart_have_no_violations_and_the_document_survives_an_upgrade(
    release: Release, helm: HelmFactory
) -> None:
    chart_helm = helm(release.kubectl)
    install_console(chart_helm)
    deploy(chart_helm, "install")
    release.recover()

    replace(chart_helm, chart=CONSOLE).run("upgrade", "watch", CONSOLE, "--no-hooks", "--set=deletedKeepHours=1")

    [entry] = release.published().processors
    assert (entry.name, entry.release, entry.created, entry.user, entry.pipeline) == (
        NAME,
        NAME,
        "inside",
        "ada",
        "traffic",
    )
    assert (entry.violations, entry.sql, entry.app_id) == ((), VALUES["sql"], NAME)


def test_the_console_has_only_read_permissions(release: Release, newest_helm: HelmFactory) -> None:
    chart_helm = newest_helm(release.kubectl)
    install_console(chart_helm)
    deploy(chart_helm, "install")
    release.recover()
    console = release.account("console")
    here = release.kubectl.namespace
    version = metadata(release.kubectl)["resourceVersion"]
    uid = metadata(release.kubectl)["uid"]
    stored = console.config_map(here, "watch-processors")

    assert [w["metadata"]["name"] for w in console.workloads(here, "StatefulSet")] == [NAME]
    for refused in (
        lambda: console.label(here, "StatefulSet", NAME, version, "lenses-id", "other"),
        lambda: console.delete_workload(here, "StatefulSet", NAME, uid),
        lambda: console.scale_deployment(here, NAME, uid, 0),
        lambda: console.autoscalers(here),
        lambda: console.write_config_map(here, "watch-processors", stored.version, {"a": b""}),
        lambda: console.config_map(here, "watch"),
        lambda: console.create_event(
            WorkloadEvent(
                namespace=here,
                kind="StatefulSet",
                name=NAME,
                uid=uid,
                type="Normal",
                reason="Stopped",
                action="Stop",
                text="x",
            )
        ),
        lambda: console.pods(here, {"app": NAME}),
        lambda: console.secret_value(here, f"{NAME}-api", "token"),
        lambda: list(console.workloads("default", "Deployment")),
    ):
        with pytest.raises(ClusterError, match="cannot"):
            refused()


def test_enabled_actions_are_permitted(release: Release, newest_helm: HelmFactory) -> None:
    chart_helm = newest_helm(release.kubectl)
    everything = {"stop": True, "start": True, "scale": True, "delete": True}
    tokens = {"mode": "token", "token": {"existingSecret": "tokens"}}
    secrets = {"tokenSecrets": [f"{NAME}-api"]}
    install_console(chart_helm, actions=everything, auth=tokens, logs={"enabled": True}, runners=secrets)
    deploy(chart_helm, "install")
    console = release.account("console")
    here, uid = release.kubectl.namespace, metadata(release.kubectl)["uid"]

    console.create_event(
        WorkloadEvent(
            namespace=here,
            kind="StatefulSet",
            name=NAME,
            uid=uid,
            type="Normal",
            reason="Deleted",
            action="Delete",
            text="ada requested delete: done.",
        )
    )
    release.kubectl.create(workers_deployment())
    console.scale_deployment(here, WORKERS, release.kubectl.get("deployment", WORKERS)["metadata"]["uid"], 2)
    assert release.kubectl.get("deployment", WORKERS)["spec"]["replicas"] == 2
    assert console.autoscalers(here) == []
    assert console.pods(here, {"app": "nothing"}) == []
    assert len(console.secret_value(here, f"{NAME}-api", "token")) == 48
    with pytest.raises(ClusterError, match="cannot get"):
        console.secret_value(here, "another", "token")
    console.delete_workload(here, "StatefulSet", NAME, uid)

    assert release.kubectl.find("statefulset", NAME) is None
    assert [event["reason"] for event in release.kubectl.list("events") if event["source"].get("component") == MANAGER]


def test_the_job_may_write_no_other_configmap(release: Release, newest_helm: HelmFactory) -> None:
    install_console(newest_helm(release.kubectl))
    job = release.account("recovery")
    here = release.kubectl.namespace

    with pytest.raises(ClusterError, match="cannot get"):
        job.config_map(here, "watch")
    with pytest.raises(ClusterError, match="cannot create"):
        job.write_config_map(here, "another", None, {"a": b""})


OTHER = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "metadata": {"name": "database"},
    "spec": {
        "replicas": 0,
        "selector": {"matchLabels": {"app": "database"}},
        "template": {
            "metadata": {"labels": {"app": "database"}},
            "spec": {"containers": [{"name": "database", "image": "database"}]},
        },
    },
}
"""A workload that is not a processor. It has no pods."""


def workers_deployment(name: str = WORKERS, component: str = "worker") -> dict[str, Any]:
    """A Deployment with the labels of workers, or of another component. It has no pods."""
    labels = {"app": NAME, "app.kubernetes.io/instance": NAME, "app.kubernetes.io/component": component}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "worker", "image": "none"}]}}
    spec = {"replicas": 0, "paused": True, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def test_the_admission_policy_limits_the_accounts_to_what_they_do(release: Release, newest_helm: HelmFactory) -> None:
    chart_helm = newest_helm(release.kubectl)
    tokens = {"mode": "token", "token": {"existingSecret": "tokens"}}
    install_console(chart_helm, admissionPolicy={"enabled": True}, actions={"delete": True, "scale": True}, auth=tokens)
    try:
        deploy(chart_helm, "install")
        release.kubectl.create(OTHER)
        job = f"--as=system:serviceaccount:{release.kubectl.namespace}:watch-recovery"

        def refusal(name: str, change: dict[str, Any]) -> str:
            """What the API server says to a patch of the recovery job's account; nothing if it accepts it."""
            patch = f"--patch={json.dumps(change)}"
            try:
                release.kubectl.run("patch", "statefulset", name, job, "--dry-run=server", "--type=merge", patch)
            except KubectlFailed as error:
                return error.output
            return ""

        labels = {"metadata": {"labels": {"lenses-id": "a"}}}
        release.kubectl.wait_until(lambda: refusal("database", labels), 60, "the API server enforces the policy")

        assert "is not a processor" in refusal("database", labels)
        for change in (
            {"spec": {"replicas": 0}},
            {"metadata": {"annotations": {"a": "b"}}},
            {"metadata": {"labels": {"lenses-id": "a", "team": "b"}}},
            {"metadata": {"labels": {"lenses-id": "a", "lenses": None}}},
            {"metadata": {"labels": {"lenses": "other"}}},
            {"spec": {"template": {"spec": {"containers": [{"name": "runner", "image": "other"}]}}}},
        ):
            assert "Only the label lenses-id of a processor may be changed" in refusal(NAME, change), change
        assert refusal(NAME, labels) == ""

        assert release.recover().adopted == 1
        assert "is set once, and never changed" in refusal(NAME, labels)
        assert "is set once, and never changed" in refusal(NAME, {"metadata": {"labels": {"lenses-id": None}}})

        deploy(chart_helm, "upgrade", user="grace")  # other accounts are not limited
        console, here = release.account("console"), release.kubectl.namespace
        with pytest.raises(ClusterError, match="is not a processor"):
            console.delete_workload(
                here, "StatefulSet", "database", release.kubectl.get("statefulset", "database")["metadata"]["uid"]
            )
        console.delete_workload(here, "StatefulSet", NAME, metadata(release.kubectl)["uid"])
        assert release.kubectl.find("statefulset", NAME) is None

        release.kubectl.create(workers_deployment())
        release.kubectl.create(workers_deployment("web", component="web"))
        uids = {name: release.kubectl.get("deployment", name)["metadata"]["uid"] for name in (WORKERS, "web")}
        console.scale_deployment(here, WORKERS, uids[WORKERS], 1)
        assert release.kubectl.get("deployment", WORKERS)["spec"]["replicas"] == 1
        with pytest.raises(ClusterError, match="does not run the workers of a processor"):
            console.scale_deployment(here, "web", uids["web"], 1)
    finally:
        chart_helm.run("uninstall", "watch")  # the policy is not in the namespace
