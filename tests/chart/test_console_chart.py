"""The chart lsql-console: equal objects from both Helms, and a valid configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from devkit.helm import CONSOLE_CHART, HELMS, Object, objects_of, only_object, pod_specs, run, tool
from lsql_runner.console.settings import ConsoleSettings, read_settings

FILES = sorted(CONSOLE_CHART.glob("ci/*-values.yaml"))


def render(*options: str, helm: str = HELMS[-1]) -> list[Object]:
    return objects_of(run([tool(helm), "template", "watch", CONSOLE_CHART, "--namespace=home", *options]))


def configured(objects: list[Object], folder: Path) -> ConsoleSettings:
    """The configuration as the job and the console read it."""
    [config_map] = [o for o in objects if o["kind"] == "ConfigMap" and "config.yaml" in o.get("data", {})]
    path = folder / "config.yaml"
    path.write_text(config_map["data"]["config.yaml"])
    return read_settings(path)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_both_helms_render_the_same_objects(file: Path) -> None:
    first, second = (render(f"--values={file}", helm=helm) for helm in HELMS)

    assert first == second


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_configuration_of_every_values_file_is_read(file: Path, tmp_path: Path) -> None:
    values = yaml.safe_load(file.read_text())

    settings = configured(render(f"--values={file}"), tmp_path)

    assert settings.auth.mode == values.get("auth", {}).get("mode", "none")
    assert {name: on for name, on in settings.actions.model_dump().items() if on} == values.get("actions", {})
    assert (settings.document.namespace, settings.document.name) == ("home", "watch-processors")


def test_every_value_is_in_the_configuration(tmp_path: Path) -> None:
    values: dict[str, Any] = {
        "namespaces": ["a", "b"],
        "deletedKeepHours": 5,
        "runners": {"timeoutSeconds": 3, "parallel": 4, "passSeconds": 50},
        "console": {"pollSeconds": 7},
        "logs": {"enabled": True, "lines": 9},
        "workers": {"maximum": 6},
        "dryRunEvents": True,
        "logLevel": "DEBUG",
    }
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump(values))

    settings = configured(render(f"--values={file}"), tmp_path)

    assert (settings.namespaces, settings.deleted_keep_hours, settings.poll_seconds) == (("a", "b"), 5, 7)
    assert settings.runners.model_dump(by_alias=True) == values["runners"]
    assert settings.logs.model_dump() == values["logs"]
    assert (settings.workers.maximum, settings.dry_run_events) == (6, True)
    assert settings.log_level == "DEBUG"


def test_no_action_is_enabled_by_default(tmp_path: Path) -> None:
    assert not any(configured(render(), tmp_path).actions.model_dump().values())


def test_pods_satisfy_the_restricted_level() -> None:
    specs = dict(pod_specs(render(f"--values={CONSOLE_CHART / 'ci/tokens-values.yaml'}")))

    assert {"Deployment/watch", "Job/watch-recover-now"} <= set(specs)
    for name, spec in specs.items():
        assert spec["securityContext"]["runAsNonRoot"], name
        for container in spec["containers"]:
            assert container["securityContext"]["readOnlyRootFilesystem"], name
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}, name


def test_no_object_is_cluster_wide() -> None:
    kinds = {manifest["kind"] for manifest in render("--set=namespaces={a,b}")}

    assert not [kind for kind in kinds if kind.startswith("Cluster")]


def test_the_cookie_is_secure_by_default(tmp_path: Path) -> None:
    assert configured(render(f"--values={CONSOLE_CHART / 'ci/tokens-values.yaml'}"), tmp_path).auth.token.secure_cookie


def test_the_port_of_the_pod_is_that_of_the_program(tmp_path: Path) -> None:
    objects = render()

    ports = only_object(objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]["ports"]
    assert [port["containerPort"] for port in ports] == [configured(objects, tmp_path).port]
