"""Commands for the cluster.

`python -m ci.cluster up | down | status | load IMAGE... | add-node [IMAGE...] | remove-node`,
`python -m ci.cluster node stop | start | reboot | power-off [--name node2]`,
`python -m ci.cluster network-policies enforce | ignore`.
"""

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext

from ci.cluster import images, lifecycle, node_faults
from ci.cluster.layout import KUBECONFIG, LOCK, NODE1, NODE2, NODES, TOOLS
from ci.cluster.processes import ClusterFailed
from ci.tools.cache import cache_lock

NODE_ACTIONS = {
    "stop": node_faults.stop_node,
    "start": node_faults.start_node,
    "reboot": node_faults.reboot_node,
    "power-off": node_faults.power_off,
}

POLICY_ACTIONS = {"enforce": lifecycle.enforce_policies, "ignore": lifecycle.ignore_policies}


def up(_: argparse.Namespace) -> int:
    """Boot the cluster and print how to use it."""
    began = time.monotonic()
    booted = lifecycle.up()
    print(f"up in {time.monotonic() - began:.0f} s" if booted else "up already")
    print(f"export KUBECONFIG={KUBECONFIG} PATH={TOOLS}:$PATH")
    return 0


def down(_: argparse.Namespace) -> int:
    """Remove the cluster, if it runs."""
    lifecycle.down()
    print("down")
    return 0


def status(_: argparse.Namespace) -> int:
    """Show the processes; exit code 3 if the cluster is not usable."""
    for name, pid in lifecycle.status().items():
        print(f"{name:24} {pid or '-'}")
    is_up = lifecycle.is_up()
    print("usable" if is_up else "not usable")
    return 0 if is_up else 3


def load(arguments: argparse.Namespace) -> int:
    """Copy images from podman into the first node."""
    for name in arguments.image:
        print(f"{name}: {'loaded' if images.load(name) else 'already loaded'}")
    return 0


def add_node(arguments: argparse.Namespace) -> int:
    """Add a second node with these images of podman."""
    began = time.monotonic()
    lifecycle.add_node(NODE2, *arguments.image)
    print(f"{NODE2.name} added in {time.monotonic() - began:.0f} s")
    return 0


def remove_node(_: argparse.Namespace) -> int:
    """Remove the second node, if it exists."""
    lifecycle.remove_node(NODE2)
    print(f"{NODE2.name} removed")
    return 0


def on_node(arguments: argparse.Namespace) -> int:
    """Stop, start, reboot or power off a node."""
    (chosen,) = (each for each in NODES if each.name == arguments.name)
    NODE_ACTIONS[arguments.action](chosen)
    return 0


def network_policies(arguments: argparse.Namespace) -> int:
    """Enforce NetworkPolicies, or ignore them, as after `up`."""
    POLICY_ACTIONS[arguments.action]()
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="python -m ci.cluster", description="A Kubernetes on this machine, for tests.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=run.__doc__)
        command.set_defaults(run=run)
        return command

    add("up", up)
    add("down", down)
    add("status", status)
    add("load", load).add_argument("image", nargs="+", help="a full name, as localhost/app:1")
    add("add-node", add_node).add_argument("image", nargs="*", help="a full name, as localhost/app:1")
    add("remove-node", remove_node)
    command = add("node", on_node)
    command.add_argument("action", choices=NODE_ACTIONS)
    command.add_argument("--name", choices=[each.name for each in NODES], default=NODE1.name)
    add("network-policies", network_policies).add_argument("action", choices=POLICY_ACTIONS)
    return top


def main() -> int:
    """Run a command. A command that changes the cluster waits for other such commands, and for running tests."""
    arguments = parser().parse_args()
    try:
        with cache_lock(LOCK) if arguments.run is not status else nullcontext():
            return int(arguments.run(arguments))
    except lifecycle.CannotRun as error:
        print(error, file=sys.stderr)
        return 2
    except ClusterFailed as error:
        print(f"error: {error}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
