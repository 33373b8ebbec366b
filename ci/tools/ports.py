"""Free ports of this machine, for the cluster and for the programs that tests start."""

import fcntl
import os
import random
import socket
from functools import cache
from pathlib import Path

PORTS = range(12_000, 32_000)
TRIES = 100

_reserved: set[int] = set()


def free_port(count: int = 1) -> int:
    """Returns the first of `count` consecutive TCP ports of 127.0.0.1 that are free and reserved by nobody.

    They stay reserved until this process ends: the program that listens there starts later, and may restart. They are
    below the range that the system assigns to outgoing connections, so none of these can take them meanwhile.
    """
    for first in random.SystemRandom().sample(PORTS, TRIES):
        if all(_reserve(port) and _is_free(port) for port in range(first, first + count)):
            return first
    raise OSError(f"none of {TRIES} ports tried between {PORTS.start} and {PORTS.stop} is free")


def _reserve(port: int) -> bool:
    """Locks the byte `port` of a file that all processes share; the system unlocks it when this process ends."""
    if port in _reserved:
        return False
    try:
        fcntl.lockf(_reservations(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except OSError:
        return False
    _reserved.add(port)
    return True


@cache
def _reservations() -> int:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lsql-runner"
    folder.mkdir(parents=True, exist_ok=True)
    return os.open(folder / "ports.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
