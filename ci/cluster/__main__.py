"""Commands for the cluster: `python -m ci.cluster up | down | status | load IMAGE... | node stop|start|reboot`."""

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext

from ci.cluster import images, lifecycle, node
from ci.cluster.layout import KUBECONFIG, LOCK, TOOLS
from ci.cluster.processes import ClusterFailed
from ci.tools.cache import cache_lock

NODE_ACTIONS = {"stop": node.stop_node, "start": node.start_node, "reboot": node.reboot_node}


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
    """Copy images from podman into the cluster."""
    for name in arguments.image:
        print(f"{name}: {'loaded' if images.load(name) else 'already loaded'}")
    return 0


def on_node(arguments: argparse.Namespace) -> int:
    """Stop, start or reboot the node."""
    NODE_ACTIONS[arguments.action]()
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
    add("node", on_node).add_argument("action", choices=NODE_ACTIONS)
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
