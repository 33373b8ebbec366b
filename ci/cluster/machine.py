"""Finds and removes the kernel state of a cluster: mounts, iptables rules, addresses, cgroups."""

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ci.cluster.layout import CNI_NETWORK, NODE_IP, RUN, SERVICE_RANGE, environment
from ci.cluster.processes import command, succeeds

CGROUPS = Path("/sys/fs/cgroup")
CGROUP_S = 5
"""A cgroup is busy until its last process has been waited for."""
TABLES = ("nat", "filter", "mangle")


def add_address() -> None:
    """Add the node's address to the machine."""
    if f" {NODE_IP}/32 " not in command(["ip", "-4", "addr", "show", "dev", "lo"]):
        command(["ip", "addr", "add", f"{NODE_IP}/32", "dev", "lo"])


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
    for mount in mounts():
        succeeds(["umount", "--lazy", mount])
    succeeds(["ip", "addr", "del", f"{NODE_IP}/32", "dev", "lo"])
    for tool in ("iptables", "ip6tables"):
        for table in TABLES:
            _clean_table(tool, table)
    _remove_cgroups()


def remains() -> list[str]:
    """The kernel state that is still there after `clean_up`; empty unless there is a fault."""
    found = [f"mount {mount}" for mount in mounts()]
    found += [f"cgroup {folder}" for folder in cgroups()]
    found += [f"address {NODE_IP}"] * (NODE_IP in command(["ip", "-4", "addr", "show", "dev", "lo"]))
    rules = (rule for tool in ("iptables", "ip6tables") for table in TABLES for rule in _own_rules(_saved(tool, table)))
    return [*found, *(f"rule {rule}" for rule in rules)]


def mounts() -> list[Path]:
    """The mounts below the folder of a run, innermost first."""
    lines = Path("/proc/self/mounts").read_text().splitlines()
    targets = [Path(line.split()[1].replace("\\040", " ")) for line in lines]
    return sorted((target for target in targets if target.is_relative_to(RUN)), reverse=True)


def cgroups() -> list[Path]:
    """The cgroups that kubelet created for pods, innermost first."""
    tops = [path for pattern in ("kubepods", "*/kubepods") for path in CGROUPS.glob(pattern) if not path.is_symlink()]
    return [Path(folder) for top in tops for folder, _, _ in os.walk(top, topdown=False)]


def _remove_cgroups() -> None:
    deadline = time.monotonic() + CGROUP_S
    while left := cgroups():
        for folder in left:
            with suppress(OSError):
                folder.rmdir()
        if time.monotonic() > deadline:
            return
        time.sleep(0.05)


def _clean_table(tool: str, table: str) -> None:
    saved = _saved(tool, table)
    own = set(_own_rules(saved))
    if own:
        kept = [line for line in saved if line not in own]
        command([f"{tool}-restore", "-T", table], "\n".join(kept) + "\n")


def _own_rules(saved: list[str]) -> Iterator[str]:
    """The chains and rules of kube-proxy and of the pod network; those of other networks are kept."""
    chains = {name for line in saved if CNI_NETWORK in line for name in re.findall(r"CNI-[0-9A-Za-z-]+", line)}
    chains = {name for name in chains if "HOSTPORT" not in name}  # these are shared by all networks
    marks = re.compile("|".join(["KUBE-", re.escape(CNI_NETWORK), *map(re.escape, sorted(chains))]))
    return (line for line in saved if marks.search(line))


def _saved(tool: str, table: str) -> list[str]:
    result = subprocess.run(
        [f"{tool}-save", "-t", table], capture_output=True, text=True, check=False, env=environment()
    )
    return result.stdout.splitlines()
