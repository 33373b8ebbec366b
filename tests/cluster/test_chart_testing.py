"""chart-testing installs and uninstalls the chart with each of its ci values files."""

import os
import subprocess
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.helm import CHART, HELMS, tool
from devkit.kubectl import Kubectl, program
from devkit.records import Record

TOPIC = "ct_vehicles"
INSTALL_S = 800


@pytest.mark.thorough  # test_accepted.py has the same files, and test_release.py starts pods
@pytest.mark.timeout(900)
def test_every_ci_values_file_can_be_installed(namespace: Kubectl, kafka: Broker, image: str, tmp_path: Path) -> None:
    (tmp_path / "helm").symlink_to(tool(HELMS[-1]))
    (tmp_path / "kubectl").symlink_to(Path(program()).resolve())
    kafka.create_topic(TOPIC)
    kafka.produce(TOPIC, [Record(b"one", b'{"speed": 12.5}')])
    registry, _, _ = image.partition("/")
    settings = f"--set=kafka.bootstrapServers={kafka.bootstrap} --set=image.registry={registry}"

    options = [
        f"--charts={CHART}",
        f"--namespace={namespace.namespace}",
        f"--helm-extra-set-args={settings}",
        "--helm-extra-args=--timeout=150s",
    ]
    env = {**os.environ, "KUBECONFIG": str(namespace.kubeconfig), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    result = subprocess.run(
        [tool("ct"), "install", *options], env=env, capture_output=True, text=True, check=False, timeout=INSTALL_S
    )

    said = result.stdout + result.stderr
    assert result.returncode == 0, said
    assert [path.name for path in CHART.glob("ci/*-values.yaml") if path.name not in said] == []
