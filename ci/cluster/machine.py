"""Finds and removes the kernel state of a cluster and of its nodes: mounts, rules, addresses, routes, cgroups."""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from ipaddress import IPv4Network
from pathlib import Path

from ci.cluster.layout import CNI_NETWORK, NODES, PATH, RUN, SERVICE_RANGE, Node, environment
from ci.cluster.processes import command, succeeds

CGROUPS = Path("/sys/fs/cgroup")
CGROUP_S = 5
"""A cgroup is busy until its last process has been waited for."""
TOOLS = ("iptables", "ip6tables")
TABLES = ("nat", "filter", "mangle")
OWN_MARKS = ("KUBE-", CNI_NETWORK)
"""Texts in the rules of kube-proxy, kubelet and the pod networks; rules of other networks are kept."""
POLICY_MARKS = ("KUBE-ROUTER-", "KUBE-POD-FW-", "KUBE-NWPLCY-")
"""Texts in the rules that enforce NetworkPolicies, but not in the rules of kube-proxy."""
POLICY_SET = re.compile(r"(KUBE-SRC|KUBE-DST|TMP)-[A-Z2-7]{16}")
"""The names of the sets of addresses in these rules."""
SETS_S = 5
"""The kernel releases the sets of a removed rule with a delay."""


def add_address(node: Node) -> None:
    """Add a node's address to the machine."""
    if not _has_address(node):
        command(["ip", "addr", "add", f"{node.ip}/32", "dev", "lo"])


def add_cgroup_root(node: Node) -> None:
    """Create the cgroup that kubelet demands in each hierarchy, if it is not the root."""
    hierarchies = [CGROUPS] if (CGROUPS / "cgroup.controllers").exists() else CGROUPS.iterdir()
    for hierarchy in hierarchies:
        if hierarchy.is_mount() and not hierarchy.is_symlink():
            (hierarchy / node.cgroup_root.lstrip("/")).mkdir(exist_ok=True)


def cut_network(node: Node) -> None:
    """Lose all packets from and to a node's pods, silently.

    The route is for packets to pods that have no device any more: they would leave the machine.
    """
    command(["ip", "route", "replace", "blackhole", str(node.pod_addresses)])
    routes = json.loads(command(["ip", "-4", "-json", "route", "show"]))
    devices = {route["dev"] for route in routes if "dev" in route and _is_of(node, route["dst"])}
    command(["ip", "-batch", "-"], "".join(f"link set dev {device} down\n" for device in devices))


def reject_other_services() -> None:
    """Reject packets to addresses of Services that kube-proxy forwards nowhere.

    They would leave the machine, and some gateways answer every address: the API server would keep such a connection
    in place of one to a pod. `clean_up` finds the rules by their comment.
    """
    comment = f"{CNI_NETWORK}: no endpoints"
    for chain in ("OUTPUT", "FORWARD"):
        command(["iptables", "-I", chain, "-d", SERVICE_RANGE, "-m", "comment", "--comment", comment, "-j", "REJECT"])


def clean_up() -> None:
    """Remove all kernel state of a cluster, after its processes have ended."""
    for mount in mounts(RUN):
        succeeds(["umount", "--lazy", mount])
    for tool in TOOLS:
        for table in TABLES:
            _clean_table(tool, table)
    _remove_sets()
    for node in NODES:
        _remove_addresses(node)
        _remove_cgroups(node)


def clean_up_node(node: Node) -> None:
    """Remove the kernel state of one node, after its processes have ended. Other nodes and kube-proxy may go on."""
    for mount in mounts(node.folder):
        succeeds(["umount", "--lazy", mount])
    _remove_addresses(node)
    _remove_rules("nat", [node.network])
    _remove_cgroups(node)


def remove_policies() -> None:
    """Remove the rules and sets that enforce NetworkPolicies, after the program that writes them has ended."""
    _remove_rules("filter", POLICY_MARKS)
    _remove_sets()


def policies() -> list[str]:
    """What is left of these rules and sets."""
    rules = (rule for tool in TOOLS for rule in own_rules(_saved(tool, "filter"), POLICY_MARKS))
    return [*(f"rule {rule}" for rule in rules), *(f"set {name}" for name in _sets())]


def remains(node: Node | None = None) -> list[str]:
    """The kernel state that is left after `clean_up`, or after `clean_up_node`; empty unless there is a fault."""
    nodes = NODES if node is None else (node,)
    remains = [f"mount {mount}" for mount in mounts(RUN if node is None else node.folder)]
    remains += [f"cgroup {folder}" for each in nodes for folder in cgroups(each)]
    remains += [f"address {each.ip}" for each in nodes if _has_address(each)]
    remains += [f"route {route}" for each in nodes if (route := _blackhole(each))]
    marks = OWN_MARKS if node is None else (node.network,)
    rules = (rule for tool in TOOLS for table in TABLES for rule in own_rules(_saved(tool, table), marks))
    remains += [f"rule {rule}" for rule in rules]
    return remains if node else [*remains, *(f"set {name}" for name in _sets())]


def mounts(folder: Path) -> list[Path]:
    """The mounts below a folder, innermost first."""
    lines = Path("/proc/self/mounts").read_text().splitlines()
    targets = [Path(line.split()[1].replace("\\040", " ")) for line in lines]
    return sorted((target for target in targets if target.is_relative_to(folder)), reverse=True)


def cgroups(node: Node) -> list[Path]:
    """The cgroups of a node, innermost first: those that kubelet created for pods, and its root unless it is `/`."""
    name = node.cgroup_root.lstrip("/") or "kubepods"
    tops = [path for pattern in (name, f"*/{name}") for path in CGROUPS.glob(pattern) if not path.is_symlink()]
    return [Path(folder) for top in tops for folder, _, _ in os.walk(top, topdown=False)]


def own_rules(saved: list[str], marks: Sequence[str]) -> Iterator[str]:
    """The lines of iptables-save that have a mark, or a chain that such a line of a pod network names."""
    networks = [mark for mark in marks if mark.startswith(CNI_NETWORK)]
    lines = [line for line in saved if any(network in line for network in networks)]
    chains = {name for line in lines for name in re.findall(r"CNI-[0-9A-Za-z-]+", line)}
    chains = {name for name in chains if "HOSTPORT" not in name}  # these are shared by all networks
    own = re.compile("|".join(map(re.escape, [*marks, *sorted(chains)])))
    return (line for line in saved if own.search(line))


def _has_address(node: Node) -> bool:
    return f" {node.ip}/32 " in command(["ip", "-4", "addr", "show", "dev", "lo"])


def _blackhole(node: Node) -> str:
    return command(["ip", "-4", "route", "show", "type", "blackhole", "exact", str(node.pod_addresses)]).strip()


def _is_of(node: Node, destination: str) -> bool:
    return destination != "default" and IPv4Network(destination).subnet_of(node.pod_addresses)


def _remove_addresses(node: Node) -> None:
    succeeds(["ip", "addr", "del", f"{node.ip}/32", "dev", "lo"])
    succeeds(["ip", "route", "del", "blackhole", str(node.pod_addresses)])


def _remove_cgroups(node: Node) -> None:
    deadline = time.monotonic() + CGROUP_S
    while left := cgroups(node):
        for folder in left:
            with suppress(OSError):
                folder.rmdir()
        if time.monotonic() > deadline:
            return
        time.sleep(0.05)


def _clean_table(tool: str, table: str) -> None:
    saved = _saved(tool, table)
    own = set(own_rules(saved, OWN_MARKS))
    if own:
        kept = [line for line in saved if line not in own]
        command([f"{tool}-restore", "-T", table], "\n".join(kept) + "\n")


def _remove_rules(table: str, marks: Sequence[str]) -> None:
    """Remove the rules with a mark one by one, because kube-proxy may be changing others of the table."""
    for tool in TOOLS:
        own = list(own_rules(_saved(tool, table), marks))
        if own:
            command([f"{tool}-restore", "--noflush"], "\n".join([f"*{table}", *removal(own), "COMMIT"]) + "\n")


def _remove_sets() -> None:
    deadline = time.monotonic() + SETS_S
    while left := _sets():
        for name in left:
            succeeds(["ipset", "destroy", name])
        if time.monotonic() > deadline:
            return
        time.sleep(0.05)


def _sets() -> list[str]:
    if shutil.which("ipset", path=PATH) is None:
        return []  # it is installed for the tests of NetworkPolicies only
    return [name for name in command(["ipset", "list", "-name"]).split() if POLICY_SET.fullmatch(name)]


def removal(own: Sequence[str]) -> list[str]:
    """The lines of iptables-restore that remove rules and chains, which are lines of iptables-save."""
    chains = [line.split()[0].removeprefix(":") for line in own if line.startswith(":")]
    rules = [line for line in own if line.startswith("-A ") and line.split()[1] not in chains]
    return [
        *(line.replace("-A ", "-D ", 1) for line in rules),
        *(f"-F {chain}" for chain in chains),
        *(f"-X {chain}" for chain in chains),
    ]


def _saved(tool: str, table: str) -> list[str]:
    result = subprocess.run(
        [f"{tool}-save", "-t", table], capture_output=True, text=True, check=False, env=environment()
    )
    return result.stdout.splitlines()
