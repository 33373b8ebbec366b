"""Builds kube-router, which enforces NetworkPolicies in the test cluster: a pinned Go module.

Run as `python -m ci.tools.network_policy`, after set-up. ci/network-policy/go.mod and go.sum pin it; it is built from
source into the cache that clones share. kube-router needs only iptables and ipset of the kernel: kube-network-policies
needs NFT_QUEUE, which not every kernel has, and other programs bring a network of their own.
"""

from pathlib import Path

from ci.tools.cache import ROOT, cached_folder, hash_of
from ci.tools.go import check_go, go_build, required_go

MODULE = ROOT / "ci/network-policy"
PINS = [MODULE / "go.mod", MODULE / "go.sum"]
PROGRAM = "github.com/cloudnativelabs/kube-router/v2/cmd/kube-router"


def build(folder: Path) -> None:
    """Fill a folder with the program."""
    check_go(required_go([(MODULE / "go.mod").read_text()]))
    go_build(MODULE, folder, {PROGRAM: []})


def main() -> None:
    """Build it, if the cache does not have it."""
    print("Enforcer of NetworkPolicies: ", end="", flush=True)
    key = hash_of([*PINS, Path(__file__).resolve()])
    print("done" if cached_folder("network-policy", key, build, lock="go") else "up to date", flush=True)


if __name__ == "__main__":
    main()
