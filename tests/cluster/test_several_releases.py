"""Several releases in one namespace."""

import pytest

from devkit.broker import Broker
from devkit.kubectl import Kubectl
from devkit.release_with_traffic import ReleaseWithTraffic
from tests.cluster.conftest import HelmFactory

RELEASES = 6


@pytest.mark.timeout(600)
def test_six_releases_in_one_namespace_are_independent(
    namespace: Kubectl, kafka: Broker, image: str, newest_helm: HelmFactory
) -> None:
    helm = newest_helm(namespace)
    releases = [ReleaseWithTraffic(helm, kafka, image, name=f"release-{number}") for number in range(RELEASES)]
    for release in releases:
        release.values["resources"] = {"requests": {"cpu": "100m"}}
        release.traffic.write(20)
        release.helm.install_without_wait(release.name, release.values)

    reports = [release.await_records(300) for release in releases]

    assert [(report.duplicates, report.unexpected) for report in reports] == [(0, ())] * RELEASES
    assert {release.processor.stream()["appId"] for release in releases} == {release.name for release in releases}

    helm.uninstall(releases[0].name)
    releases[1].traffic.write(10)
    assert releases[1].await_records().duplicates == 0
    assert [len(release.processor.pods()) for release in releases] == [0, 1, 1, 1, 1, 1]
