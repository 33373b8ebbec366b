"""The host names under which an app answers.

The page of another site can let its own name point to the address of the app (DNS rebinding). For the browser, page and
app are then the same site, and the page may send requests and read the responses. Their Host header has the name of the
page.
"""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from lsql_runner.errors import LsqlError

RESOLVER = Path("/etc/resolv.conf")
SHOWN_CHARS = 200
"""An error has at most this many characters of a Host header."""

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^\[\]:\s]+)(:\d*)?")
_NAMESPACE = re.compile(r"(?P<namespace>[a-z0-9-]+)\.(?P<services>svc\.(?P<domain>.+))")


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The names that the Host header of a request may have, beside IP addresses and `localhost`.

    Attributes:
        patterns: names in lower case, `*.example.com` for all names below example.com, `*` for every name.
        setting: the setting of the app that has them.
        value: the value of the chart that has them.
    """

    patterns: tuple[str, ...] = ()
    setting: str = "LSQL_ALLOWED_HOSTS"
    value: str = "api.allowedHosts"

    def check(self, header: str | None) -> None:
        """Allow a Host header, or raise. Programs may send none; browsers always send one.

        Raises:
            LsqlError: HOST_NOT_ALLOWED.
        """
        if header is not None and not self._allows(header):
            raise LsqlError(
                "HOST_NOT_ALLOWED", host=header[:SHOWN_CHARS] or "empty", setting=self.setting, value=self.value
            )

    def _allows(self, header: str) -> bool:
        match = _HOST.fullmatch(header)
        if match is None:
            return False
        name = match["name"].lower().removesuffix(".")
        return name == "localhost" or _is_address(name) or any(_matches(name, pattern) for pattern in self.patterns)


def with_own_names(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """The patterns, and the names of this machine."""
    try:
        resolver = RESOLVER.read_text(encoding="utf-8", errors="replace")
    except OSError:
        resolver = ""
    return (*patterns, *own_names(socket.gethostname(), resolver))


def own_names(machine: str, resolver: str) -> tuple[str, ...]:
    """The names of a machine. For a pod, these are also the names of its namespace in the DNS of the cluster.

    Only the cluster defines names below `<namespace>.svc.<domain of the cluster>`, so no other site has one of them.

    Args:
        machine: its host name.
        resolver: the text of /etc/resolv.conf. The kubelet writes the namespace and the domain of the cluster into it:
            `search <namespace>.svc.<domain> svc.<domain> <domain>`.
    """
    lines = [line.split() for line in resolver.lower().splitlines()]
    searched = next((words[1:] for words in reversed(lines) if words[:1] == ["search"]), [])
    names = [machine.lower()]
    for entry in searched:
        match = _NAMESPACE.fullmatch(entry.removesuffix("."))
        if match and {match["services"], match["domain"]} <= {other.removesuffix(".") for other in searched}:
            names += [f"*.{match['namespace']}.svc", f"*.{match[0]}"]
    return tuple(names)


def _is_address(name: str) -> bool:
    try:
        ip_address(name[1:-1] if name.startswith("[") else name)
    except ValueError:
        return False
    return True


def _matches(name: str, pattern: str) -> bool:
    return pattern in ("*", name) or (pattern.startswith("*.") and name.endswith(pattern[1:]))
