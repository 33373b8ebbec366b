"""Enforces NetworkPolicies on demand: kube-router, of which only the packet filter runs.

It writes rules and sets for the addresses of the first node's pods into the kernel of this machine; packets from and to
other addresses pass. `stop` removes them.
"""

import shutil

from ci.cluster import machine
from ci.cluster.layout import KUBECONFIG, NODE1, PATH, SERVICE_RANGE
from ci.cluster.processes import ClusterFailed, Executable, command
from ci.tools.cache import VENV

PROGRAM = VENV / "share/lsql-runner/network-policy/kube-router"
ENFORCER = Executable("kube-router")
READY_S = 60


def start() -> None:
    """Start it, anew if it runs; returns when the policies that exist are enforced."""
    if not PROGRAM.exists():
        raise ClusterFailed("kube-router is not built. Run: .venv/bin/python -m ci.tools.network_policy")
    if shutil.which("ipset", path=PATH) is None:
        raise ClusterFailed("ipset is missing. Run: ci/tools/ipset.sh")
    stop()
    ENFORCER.start(
        [
            PROGRAM,
            "--run-firewall=true",
            "--run-router=false",
            "--run-service-proxy=false",
            "--health-port=0",
            f"--kubeconfig={KUBECONFIG}",
            f"--hostname-override={NODE1.name}",
            f"--service-cluster-ip-range={SERVICE_RANGE}",
            # Every pod may connect to these ports of the machine, and brokers of tests have random ones.
            "--service-node-port-range=1-2",
        ]
    )
    ENFORCER.wait_until(_is_enforced, READY_S, "NetworkPolicies are enforced")


def stop() -> None:
    """Stop it, if it runs, and remove its rules and sets."""
    ENFORCER.stop()
    machine.remove_policies()
    if rules := machine.policies():
        raise ClusterFailed(f"of {ENFORCER.name} remain {rules}")


def _is_enforced() -> bool:
    """Whether the rules of all pods were written: the last rule of the chain accepts what they let through."""
    rules = command(["iptables", "-S"]).splitlines()
    return any(rule.startswith("-A KUBE-ROUTER-FORWARD") and rule.endswith("-j ACCEPT") for rule in rules)
