"""Several releases beside each other in one namespace."""

import pytest

from devkit.broker import Broker
from devkit.cluster_feed import Fed
from devkit.kubectl import Kubectl
from tests.cluster.conftest import HelmFactory

RELEASES = 6


@pytest.mark.timeout(600)
def test_six_releases_in_one_namespace_know_nothing_of_each_other(
    namespace: Kubectl, kafka: Broker, image: str, newest_helm: HelmFactory
) -> None:
    helm = newest_helm(namespace)
    all_fed = [Fed(helm, kafka, image, name=f"part-{number}") for number in range(RELEASES)]
    for fed in all_fed:
        fed.values["resources"] = {"requests": {"cpu": "100m"}}
        fed.traffic.write(20)
        fed.helm.install_unawaited(fed.name, fed.values)

    outcomes = [fed.arrive(300) for fed in all_fed]

    assert [(outcome.doubled, outcome.strange) for outcome in outcomes] == [(0, ())] * RELEASES
    assert {fed.processor.stream()["appId"] for fed in all_fed} == {fed.name for fed in all_fed}

    helm.uninstall(all_fed[0].name)
    all_fed[1].traffic.write(10)
    assert all_fed[1].arrive().doubled == 0
    assert [len(fed.processor.pods()) for fed in all_fed] == [0, 1, 1, 1, 1, 1]
