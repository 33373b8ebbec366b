"""Starts and stops the cluster, a second node, and the enforcement of NetworkPolicies."""

import shutil

from ci.cluster import addons, control_plane, images, machine, network_policy, node, node_faults
from ci.cluster.certificates import make_keys
from ci.cluster.layout import NODE1, NODES, RUN, TOOLS, Node, Ports
from ci.cluster.prerequisites import faults
from ci.cluster.processes import ClusterFailed, Executable
from ci.tools.ports import free_port

# In the order in which they end: first those that could start a pod again.
SHARED_PROGRAMS = (
    addons.VOLUMES,
    node.KUBE_PROXY,
    control_plane.CONTROLLERS,
    control_plane.SCHEDULER,
    addons.COREDNS,
    control_plane.API_SERVER,
    control_plane.ETCD,
)


class CannotRun(Exception):
    """This machine cannot run the cluster. The message lists the reasons, each with a way out."""


def check_machine() -> None:
    """Raise CannotRun if this machine does not meet a requirement, or the programs are not built."""
    problems = faults()
    if not TOOLS.is_dir():
        problems.append("the cluster's programs are not built. Run: .venv/bin/python -m ci.tools.cluster_tools")
    if problems:
        raise CannotRun("\n  - ".join(["this machine cannot run the test cluster:", *problems]))


def is_up() -> bool:
    """Whether all processes run and the API responds."""
    return all(program.pid for program in _programs(NODE1)) and control_plane.api_is_ready()


def up() -> bool:
    """Boot a new cluster; returns when it accepts pods, or False if one already runs."""
    check_machine()
    if is_up():
        return False
    down()
    shutil.rmtree(RUN, ignore_errors=True)
    RUN.mkdir(parents=True)
    ports = Ports(api=free_port(), etcd=free_port(), etcd_peer=free_port())
    make_keys(ports.api_url)
    machine.add_address(NODE1)
    machine.reject_other_services()
    control_plane.start_api(ports)
    node.configure(NODE1)
    node.start_containerd(NODE1)
    images.load_pause(NODE1)
    control_plane.await_api()
    control_plane.start_controllers()
    node.start_kubelet(NODE1)
    node.start_proxy()
    addons.start_addons()
    node.await_node(NODE1)
    _await_service_account()
    addons.await_dns()
    return True


def down() -> None:
    """Stop all processes at once, because only images are kept, and clean up. Logs remain."""
    for each in NODES:
        node.kubelet(each).kill()
    for program in (network_policy.ENFORCER, *SHARED_PROGRAMS):
        program.kill()
    for each in NODES:
        _end_containers(each)
    machine.clean_up()


def add_node(added: Node, *names: str) -> None:
    """Start a node with these images of podman; returns when it accepts pods."""
    _demand_cluster()
    if added.folder.exists():
        remove_node(added)
    machine.add_address(added)
    machine.add_cgroup_root(added)
    node.configure(added)
    node.start_containerd(added)
    node_faults.remove_containers(added)  # of a run that was killed
    images.load_pause(added)
    for name in names:
        images.load(name, added)
    node.start_kubelet(added)
    node.await_node(added)


def remove_node(removed: Node) -> None:
    """Remove a node with its pods from the cluster and this machine, except images and logs.

    It may be powered off, or not exist.
    """
    node.kubelet(removed).kill()
    if removed.folder.exists() and not node.containerd(removed).pid:
        node.start_containerd(removed)
    _end_containers(removed)
    machine.clean_up_node(removed)
    if remains := machine.remains(removed):  # a mount is perhaps a volume of others
        raise ClusterFailed(f"of {removed.name} remain {remains}")
    shutil.rmtree(removed.folder, ignore_errors=True)
    control_plane.kubectl(
        *("delete", "pods", "--all-namespaces", f"--field-selector=spec.nodeName={removed.name}"),
        *("--grace-period=0", "--force", "--wait=false"),
    )
    control_plane.kubectl("delete", "node", removed.name, "--ignore-not-found")


def enforce_policies() -> None:
    """Enforce NetworkPolicies for the pods of the first node; returns when those that exist are enforced."""
    _demand_cluster()
    network_policy.start()


def ignore_policies() -> None:
    """Enforce NetworkPolicies no longer, as after `up`."""
    network_policy.stop()


def status() -> dict[str, int | None]:
    """The process id of each program; None if it does not run."""
    others = [program for each in NODES[1:] for program in (node.containerd(each), node.kubelet(each))]
    others = [program for program in (network_policy.ENFORCER, *others) if program.pid]
    return {program.name: program.pid for program in (*reversed(_programs(NODE1)), *others)}


def _programs(first: Node) -> tuple[Executable, ...]:
    """The programs of a cluster with one node, in the order in which they end."""
    return (node.kubelet(first), *SHARED_PROGRAMS, node.containerd(first))


def _demand_cluster() -> None:
    if not is_up():
        raise ClusterFailed("the cluster is not up. Run: python -m ci.cluster up")


def _await_service_account() -> None:
    """Wait for the default service account, without which no pod is admitted."""

    def exists() -> bool:
        return bool(control_plane.kubectl("-n", "default", "get", "sa", "default", "--ignore-not-found", "-o", "name"))

    control_plane.CONTROLLERS.wait_until(exists, 30, "the default service account exists")


def _end_containers(ended: Node) -> None:
    """End containerd and its containers."""
    if node.containerd(ended).pid:
        node_faults.remove_containers(ended)
    node_faults.kill_containers(ended)
    node.containerd(ended).kill()
