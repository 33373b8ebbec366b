"""The brokers' addresses in SQL_BOOTSTRAP_SERVERS: `[PROTO://]host:port`, several with commas."""

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
_SERVER = re.compile(r"(?:(?P<protocol>[A-Za-z_]+)://)?(?P<address>[^\s,/:]+:\d{1,5})\Z")


def broker_addresses(servers: str, protocol: str) -> tuple[str, str]:
    """The addresses as `host:port,...`, and the one security protocol of all brokers.

    Args:
        servers: the variable's value.
        protocol: SECURITY_PROTOCOL; empty where the addresses, or the default, say it.

    Raises:
        LsqlError: ENV_MISSING, ENV_INVALID.
    """
    if not servers.strip():
        raise LsqlError("ENV_MISSING", name=_VARIABLE, example="kafka:9092")
    addresses: list[str] = []
    protocols: set[str] = {*protocol.split()}
    for server in servers.split(","):
        found = _SERVER.match(server.strip())
        named = (found["protocol"] or "").upper() if found else ""
        if not found or (named and named not in PROTOCOLS):
            expected = _EXPECTED("SERVERS", protocols=", ".join(PROTOCOLS))
            raise LsqlError("ENV_INVALID", name=_VARIABLE, value=servers, expected=expected)
        addresses.append(found["address"])
        protocols |= {named} - {""}
    if len(protocols) > 1:
        expected = _EXPECTED("ONE_PROTOCOL", found=", ".join(sorted(protocols)))
        raise LsqlError("ENV_INVALID", name=_VARIABLE, value=servers, expected=expected)
    return ",".join(addresses), next(iter(protocols), "PLAINTEXT")
