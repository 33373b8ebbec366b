"""A failed Helm command is an error with its output."""

from pathlib import Path

import pytest

from devkit.cluster_release import Helm, HelmFailed
from devkit.kubectl import Kubectl


class DescribedNamespace(Kubectl):
    def describe(self) -> str:
        return "no pods"


def test_a_failed_install_shows_its_output_once_and_the_namespace(tmp_path: Path) -> None:
    program = tmp_path / "helm3"
    program.write_text("#!/bin/sh\necho 'values are wrong' >&2\nexit 1\n")
    program.chmod(0o755)
    helm = Helm(program, DescribedNamespace(tmp_path / "kubeconfig"), tmp_path)

    with pytest.raises(HelmFailed) as failed:
        helm.install("fast", {})

    assert str(failed.value).startswith("helm3 install fast")
    assert str(failed.value).count("values are wrong") == 1
    assert failed.value.output.endswith("no pods")
