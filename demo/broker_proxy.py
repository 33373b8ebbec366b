"""A TCP proxy of the broker, which accepts connections of the processor before the broker is ready.

The processor starts at the same time as the broker. It connects at once, and is served when its source topic exists.
The broker's own port would first refuse connections, and then serve them before the topic exists.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from threading import Thread

HOST = "127.0.0.1"
CHUNK_BYTES = 65_536


class BrokerProxy:
    """A port that accepts connections at once. They wait until `open`, and are then forwarded to the broker."""

    def __init__(self) -> None:
        self._listener = socket.create_server((HOST, 0))
        self.address = f"{HOST}:{self._listener.getsockname()[1]}"

    def open(self, broker: str) -> None:
        """Forward connections to the broker at `broker` (host:port), in threads."""
        host, port = broker.rsplit(":", 1)
        Thread(target=self._accept, args=((host, int(port)),), name="proxy", daemon=True).start()

    def close(self) -> None:
        """Accept no more connections; open ones end with the broker or the client."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self, broker: tuple[str, int]) -> None:
        with suppress(OSError):  # the port is closed
            while True:
                client, _ = self._listener.accept()
                Thread(target=_forward, args=(client, broker), name="proxy-client", daemon=True).start()


def _forward(client: socket.socket, broker: tuple[str, int]) -> None:
    """Copy in both directions until client and broker have ended."""
    with client, suppress(OSError), socket.create_connection(broker) as server:
        back = Thread(target=_copy, args=(server, client), name="proxy-broker", daemon=True)
        back.start()
        _copy(client, server)
        back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Copy until the source ends, then end the target too."""
    with suppress(OSError):
        while data := source.recv(CHUNK_BYTES):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
