"""The TCP ports on which a process and its descendants listen, from /proc, as `ss -ltnp` shows them."""

from __future__ import annotations

import os
import socket
import struct
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from ci.tools.child_processes import children_of

_LISTEN = "0A"


@dataclass(frozen=True, slots=True)
class Listening:
    """A port on which a process listens."""

    address: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        address = ip_address(self.address)
        return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def listening(pid: int) -> set[Listening]:
    """The ports of a process and of its descendants."""
    inodes = {inode for process in _family(pid) for inode in _sockets(process)}
    sockets = set()
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == _LISTEN and words[9] in inodes:
                address, _, port = words[1].partition(":")
                sockets.add(Listening(_address(address), int(port, 16)))
    return sockets


def _family(pid: int) -> list[int]:
    family = [pid]
    for process in family:
        family += children_of(process)
    return family


def _sockets(pid: int) -> list[str]:
    targets = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):  # the process has closed it
            targets.append(os.readlink(entry))
    return [target[8:-1] for target in targets if target.startswith("socket:[")]


def _address(text: str) -> str:
    """An address as the kernel writes it: words of 32 bits in the order of bytes of the machine."""
    words = [int(text[at : at + 8], 16) for at in range(0, len(text), 8)]
    raw = struct.pack(f"={len(words)}I", *words)
    return socket.inet_ntop(socket.AF_INET if len(raw) == 4 else socket.AF_INET6, raw)
