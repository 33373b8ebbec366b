"""Free ports of this machine, for the cluster and for the programs that tests start."""

import random
import socket


def free_port() -> int:
    """Returns a TCP port of 127.0.0.1 that is free now.

    The port is below the range that the system assigns to outgoing connections. So no outgoing connection can take it
    before the program starts, or while it restarts.
    """
    candidates = random.SystemRandom().sample(range(12_000, 32_000), 100)
    for port in candidates:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("none of 100 ports tried between 12000 and 32000 is free")
