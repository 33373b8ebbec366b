"""Pods, processes and brokers fail, and no record is lost. After every test the release runs."""

import time
from collections.abc import Iterator

import pytest

from devkit.broker import Broker
from devkit.cluster import Cluster
from devkit.cluster_feed import Fed, at_least_once
from devkit.kubectl import Kubectl
from tests.cluster.conftest import HelmFactory, fresh_namespace

OUTAGE_S = 120
LOOK_S = 1


@pytest.fixture(scope="module")
def broker(cluster: Cluster) -> Iterator[Broker]:
    """A broker of this module's own: it goes away for a time."""
    with Broker(host=cluster.host) as own:
        yield own


@pytest.fixture(scope="module")
def fed(kubectl: Kubectl, broker: Broker, image: str, newest_helm: HelmFactory) -> Iterator[Fed]:
    with fresh_namespace(kubectl) as namespace:
        made = Fed(newest_helm(namespace), broker, image)
        made.install()
        made.arrive()
        yield made


def test_a_deleted_pod_hands_over_in_good_order(fed: Fed) -> None:
    old = fed.processor.uid()

    with fed.traffic:
        fed.helm.kubectl.delete("pod", fed.processor.pod()["metadata"]["name"])
        fed.processor.await_other_pod(old)

    assert fed.arrive().doubled == 0


@pytest.mark.parametrize("program", ["java", "lsql"])
def test_a_killed_process_takes_the_container_with_it_and_loses_nothing(fed: Fed, program: str) -> None:
    restarts = fed.processor.restarts()

    with fed.traffic:
        fed.processor.signal(program)
        fed.processor.await_restart(restarts)

    assert at_least_once(fed.arrive())


def test_a_killed_container_loses_nothing(own_cluster: Cluster, fed: Fed) -> None:
    restarts = fed.processor.restarts()

    with fed.traffic:
        own_cluster.kill_container(fed.processor.pod())
        fed.processor.await_restart(restarts)

    assert at_least_once(fed.arrive())


def test_a_broker_that_is_away_for_two_minutes_costs_no_restart_and_no_record(fed: Fed, broker: Broker) -> None:
    pod, restarts = fed.processor.uid(), fed.processor.restarts()

    with fed.traffic:
        broker.stop()
        back_at = time.monotonic() + OUTAGE_S
        fed.helm.kubectl.wait_until(lambda: not fed.processor.is_ready(), OUTAGE_S, "it says that it is not ready")
        while time.monotonic() < back_at:
            assert fed.processor.restarts() == restarts
            time.sleep(LOOK_S)
        broker.start()
        fed.processor.await_ready()

    assert (fed.processor.uid(), fed.processor.restarts()) == (pod, restarts)
    assert at_least_once(fed.arrive())
