"""The brokers' addresses in SQL_BOOTSTRAP_SERVERS: `[PROTO://]host:port`, separated by commas.

The host is a name, an IPv4 address, or an IPv6 address in brackets.
"""

from __future__ import annotations

import re

from lsql_runner.errors import DetailTable, LsqlError

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_VARIABLE = "SQL_BOOTSTRAP_SERVERS"
_EXPECTED = DetailTable(
    {
        "SERVERS": "[PROTO://]host:port, several separated by commas, where PROTO is one of {protocols}",
        "ONE_PROTOCOL": "the same protocol for all brokers instead of {found}",
    }
)
_SERVER = re.compile(r"(?:(?P<protocol>[A-Za-z_]+)://)?(?P<address>(?:[^\s,/:\[\]]+|\[[0-9A-Fa-f:.]+\]):\d{1,5})\Z")


def broker_addresses(servers: str, protocol: str) -> tuple[str, str]:
    """The addresses as `host:port,...`, and the security protocol of all brokers.

    Args:
        servers: the value of SQL_BOOTSTRAP_SERVERS.
        protocol: the value of SECURITY_PROTOCOL; if it is empty, the protocol of the addresses, or PLAINTEXT, is used.

    Raises:
        LsqlError: ENV_MISSING, ENV_INVALID.
    """
    if not servers.strip():
        raise LsqlError("ENV_MISSING", name=_VARIABLE, example="kafka:9092")
    addresses: list[str] = []
    protocols: set[str] = {*protocol.split()}
    for server in servers.split(","):
        match = _SERVER.match(server.strip())
        named = (match["protocol"] or "").upper() if match else ""
        if not match or (named and named not in PROTOCOLS):
            expected = _EXPECTED("SERVERS", protocols=", ".join(PROTOCOLS))
            raise LsqlError("ENV_INVALID", name=_VARIABLE, value=servers, expected=expected)
        addresses.append(match["address"])
        protocols |= {named} - {""}
    if len(protocols) > 1:
        expected = _EXPECTED("ONE_PROTOCOL", found=", ".join(sorted(protocols)))
        raise LsqlError("ENV_INVALID", name=_VARIABLE, value=servers, expected=expected)
    return ",".join(addresses), next(iter(protocols), "PLAINTEXT")
