"""The test cluster has what the other tests rely on: DNS, volumes, admission, Services."""

import pytest

from devkit.broker import Broker
from devkit.cluster_pods import USER, await_running, claim, pod
from devkit.kubectl import Kubectl, KubectlFailed

WAIT = "import signal; signal.pause()"
SERVE = "import http.server as h; h.test(h.SimpleHTTPRequestHandler, port=8000, bind='0.0.0.0')"


def test_a_pod_finds_services_by_name_and_reaches_them(namespace: Kubectl, image: str) -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8000}]},
    }
    namespace.create(service, pod("web", image, SERVE), pod("client", image, WAIT))
    await_running(namespace, "web")
    await_running(namespace, "client")
    url = f"http://web.{namespace.namespace}.svc.cluster.local"
    code = f"import urllib.request as u; print(u.urlopen({url!r}, timeout=3).status)"

    assert namespace.wait_until(lambda: namespace.exec("client", "python", "-c", code), 30, "an answer") == "200\n"


def test_a_pod_reaches_the_broker_of_this_machine(namespace: Kubectl, image: str, kafka: Broker) -> None:
    host, port = kafka.bootstrap.rsplit(":", 1)
    namespace.create(pod("client", image, WAIT))
    await_running(namespace, "client")

    namespace.exec("client", "python", "-c", f"import socket; socket.create_connection(({host!r}, {port}), 3)")


def test_a_volume_belongs_to_the_group_of_the_pod_and_survives_it(namespace: Kubectl, image: str) -> None:
    namespace.create(claim("data", "16Mi"))
    namespace.create(pod("first", image, f"open('/data/kept', 'w').write('kept'); {WAIT}", "data"))
    await_running(namespace, "first")
    read = "import os; print(open('/data/kept').read(), os.stat('/data').st_gid)"
    assert namespace.exec("first", "python", "-c", read) == f"kept {USER}\n"

    namespace.delete("pod", "first")
    namespace.create(pod("second", image, WAIT, "data"))
    await_running(namespace, "second")
    assert namespace.exec("second", "python", "-c", read) == f"kept {USER}\n"


def test_a_tiny_volume_is_full_at_its_size(own_cluster: object, namespace: Kubectl, image: str) -> None:
    namespace.create(claim("data", "16Mi", "tiny"), pod("writer", image, WAIT, "data"))
    await_running(namespace, "writer")
    write = "open('/data/big', 'wb').write(bytes({} << 20))"

    namespace.exec("writer", "python", "-c", write.format(8))
    with pytest.raises(KubectlFailed, match="No space left on device"):
        namespace.exec("writer", "python", "-c", write.format(17))


def test_a_volume_is_deleted_with_its_claim(own_cluster: object, namespace: Kubectl) -> None:
    namespace.create(claim("data", "16Mi", "tiny"))
    volume = namespace.wait_until(
        lambda: namespace.get("pvc", "data")["spec"].get("volumeName"), 30, "the claim is bound"
    )
    namespace.delete("pvc", "data")

    namespace.wait_until(lambda: namespace.find("pv", volume) is None, 30, "the volume is gone")


def test_the_restricted_level_refuses_a_pod_that_runs_as_root(namespace: Kubectl, image: str) -> None:
    with pytest.raises(KubectlFailed, match="violates PodSecurity"):
        namespace.create(pod("root", image, WAIT, as_root=True))


def test_a_failed_wait_shows_the_namespace(namespace: Kubectl, image: str) -> None:
    namespace.create(pod("talker", image, f"print('here I am', flush=True); {WAIT}"))
    await_running(namespace, "talker")

    with pytest.raises(AssertionError, match="here I am"):
        namespace.wait_until(lambda: False, 0, "a condition that is never met")
