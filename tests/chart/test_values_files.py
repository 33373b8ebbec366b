"""Every values file of the checkout renders to valid objects, equal with Helm 3 and Helm 4."""

import re
from pathlib import Path

import pytest
import yaml

from devkit.helm import CHART, HELMS, ROOT, Object, environment, pod_specs, render_file, values_files
from lsql_runner.config.settings import read_settings
from lsql_runner.console.workers import read_workers, without_component

FILES = [pytest.param(path, id=path.relative_to(ROOT).as_posix()) for path in values_files()]
CREDENTIALS = "/etc/lsql-runner/credentials/"
NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z")


@pytest.fixture(params=FILES)
def values_file(request: pytest.FixtureRequest) -> Path:
    path = request.param
    assert isinstance(path, Path)
    return path


@pytest.fixture
def objects(values_file: Path) -> list[Object]:
    return render_file(values_file)


def test_both_helms_render_the_same_objects_apart_from_the_random_token(values_file: Path) -> None:
    first, second = (
        {_key(manifest): manifest for manifest in render_file(values_file, helm) if not _has_random_token(manifest)}
        for helm in HELMS
    )
    assert first == second


def test_objects_have_unique_kinds_and_names(objects: list[Object]) -> None:
    keys = [_key(manifest) for manifest in objects]
    assert len(keys) == len(set(keys))


def test_names_and_label_values_are_valid(objects: list[Object]) -> None:
    names = [manifest["metadata"]["name"] for manifest in objects]
    assert [name for name in names if not NAME.match(name) or len(name) > 63] == []
    labels = [value for manifest in objects for value in manifest["metadata"]["labels"].values()]
    assert [value for value in labels if len(value) > 63] == []


def test_no_object_has_a_lenses_id(objects: list[Object]) -> None:
    assert "lenses-id" not in yaml.safe_dump(objects)


def test_selectors_match_only_the_processor(objects: list[Object]) -> None:
    workload = next(
        manifest
        for manifest in objects
        if manifest["kind"] in {"StatefulSet", "Deployment"} and not _is_worker(manifest)
    )
    own = workload["spec"]["template"]["metadata"]["labels"]
    others = [
        manifest["metadata"]["labels"]
        if manifest["kind"] == "Pod"
        else manifest["spec"]["template"]["metadata"]["labels"]
        for manifest in objects
        if manifest["kind"] in {"Pod", "Job"} or (manifest["kind"] == "Deployment" and _is_worker(manifest))
    ]
    services = [manifest["spec"]["selector"] for manifest in objects if manifest["kind"] == "Service"]
    for selector in [*services, workload["spec"]["selector"]["matchLabels"]]:
        assert selector.items() <= own.items()
        assert not any(selector.items() <= labels.items() for labels in others)
        assert not {"helm.sh/chart", "app.kubernetes.io/version"} & selector.keys()


def test_selectors_of_workers_match_only_workers(objects: list[Object]) -> None:
    workers = [manifest for manifest in objects if manifest["kind"] == "Deployment" and _is_worker(manifest)]
    others = [
        manifest["spec"]["template"]["metadata"]["labels"]
        for manifest in objects
        if manifest["kind"] in {"StatefulSet", "Deployment", "Job"} and not _is_worker(manifest)
    ]
    for manifest in workers:
        selector = manifest["spec"]["selector"]["matchLabels"]
        assert selector.items() <= manifest["spec"]["template"]["metadata"]["labels"].items()
        assert not any(selector.items() <= labels.items() for labels in others)


def test_the_console_finds_the_workers_of_a_processor_and_may_scale_them(objects: list[Object]) -> None:
    processors = [
        manifest
        for manifest in objects
        if manifest["kind"] in {"StatefulSet", "Deployment"} and not _is_worker(manifest)
    ]
    for manifest in objects:
        if manifest["kind"] == "Deployment" and _is_worker(manifest):
            workers = read_workers(manifest)
            assert workers is not None
            assert workers.processor in [without_component(_selector(processor).items()) for processor in processors]
            # The labels that the admission policy of the console requires of a Deployment that it scales.
            assert {"app", "app.kubernetes.io/instance", "app.kubernetes.io/component"} <= _selector(manifest).keys()


def _selector(workload: Object) -> dict[str, str]:
    return dict(workload["spec"]["selector"]["matchLabels"])


def test_pods_satisfy_the_restricted_level(objects: list[Object]) -> None:
    for name, spec in pod_specs(objects):
        assert spec["automountServiceAccountToken"] is False, name
        assert spec["securityContext"]["runAsNonRoot"] is True, name
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        for container in [*spec.get("initContainers", []), *spec["containers"]]:
            rights = container["securityContext"]
            assert rights["allowPrivilegeEscalation"] is False, name
            assert rights["readOnlyRootFilesystem"] is True, name
            assert rights["capabilities"] == {"drop": ["ALL"]}, name


def test_no_permission_is_granted_but_that_for_one_lease_with_a_standby(objects: list[Object]) -> None:
    granted = {manifest["kind"]: manifest for manifest in objects if "rbac" in manifest["apiVersion"]}
    leases = [manifest["metadata"]["name"] for manifest in objects if manifest["kind"] == "Lease"]
    assert set(granted) == ({"Role", "RoleBinding"} if leases else set())
    if leases:
        rule = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "update"]}
        assert granted["Role"]["rules"] == [{**rule, "resourceNames": leases}]


def test_the_environment_is_valid_for_the_runner(objects: list[Object], tmp_path: Path) -> None:
    runners = [container for _, spec in pod_specs(objects) for container in spec["containers"] if "env" in container]
    assert runners
    for container in runners:
        variables = environment(container)
        for name, value in variables.items():
            if value.startswith(CREDENTIALS):
                file = tmp_path / value.removeprefix(CREDENTIALS)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("content of the Secret".replace(" ", "-"))
                variables[name] = str(file)
        is_worker = container.get("args") == ["lsql", "worker"]
        settings = read_settings(variables, needs_program=not is_worker)
        if is_worker:
            assert settings.workers is not None
            continue
        assert (settings.autoscaling is None) == (variables.get("LSQL_AUTOSCALING_ENABLED") != "true")
        assert settings.connection.servers == variables["SQL_BOOTSTRAP_SERVERS"]
        assert settings.app_id == variables["SQL_APP_ID"]
        assert settings.declared or not settings.topics


def test_the_validation_has_the_environment_of_the_processor(objects: list[Object]) -> None:
    specs = {name.split("/")[0]: spec for name, spec in pod_specs(objects)}
    if "Job" not in specs:
        return
    workload = specs.get("StatefulSet") or specs["Deployment"]
    processor, validation = workload["containers"][0], specs["Job"]["containers"][0]
    # Before an install, the Secrets of the chart with the token of the API and with the secret of the workers do not
    # exist; the token is optional. It computes no number of workers either, and does not use the Lease.
    prefixes: tuple[str, ...] = ("LSQL_API_", "LSQL_AUTOSCALING_", "LSQL_LEASE")
    if any(_has_random_token(manifest) and manifest["metadata"]["name"].endswith("-workers") for manifest in objects):
        prefixes += ("LSQL_WORKERS_SECRET_FILE",)
    left_out = [row for row in processor["env"] if row["name"].startswith(prefixes)]
    token = [row for row in validation["env"] if row["name"] == "LSQL_API_TOKEN"]
    assert all(row["valueFrom"]["secretKeyRef"]["optional"] for row in token)
    assert [row for row in validation["env"] if row not in token] == [
        row for row in processor["env"] if row not in left_out
    ]
    assert validation["image"] == processor["image"]
    mounts = [mount for mount in processor["volumeMounts"] if mount["name"] not in ("credentials", "lease")]
    assert [mount for mount in validation["volumeMounts"] if mount["name"] != "credentials"] == mounts


def test_values_files_for_a_cluster_need_no_custom_resources() -> None:
    installed = [path for path in values_files() if path.parent == CHART / "ci"]
    kinds = {manifest["apiVersion"] for path in installed for manifest in render_file(path)}
    assert kinds <= {"v1", "apps/v1", "batch/v1", "networking.k8s.io/v1", "policy/v1"}


def _has_random_token(manifest: Object) -> bool:
    return manifest["kind"] == "Secret" and str(manifest["metadata"]["name"]).endswith(("-api", "-workers"))


def _is_worker(manifest: Object) -> bool:
    return bool(manifest["metadata"]["labels"]["app.kubernetes.io/component"] == "worker")


def _key(manifest: Object) -> tuple[str, str]:
    return manifest["kind"], manifest["metadata"]["name"]
