"""IP addresses and networks in settings, and of clients."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from lsql_runner.errors import DetailError, DetailTable

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
EVERY_ADDRESS = "::"
"""As an address to listen on: all addresses of the machine, IPv6 and IPv4."""

_MAPPED = IPv6Network("::ffff:0:0/96")
_EXPECTED = DetailTable(
    {
        "ADDRESS": "an IPv4 or IPv6 address, such as 127.0.0.1 or ::1, without brackets and port",
        "ADDRESS_WITHOUT_ZONE": "an address without a zone (%eth0), so not a link-local one (fe80::/10)",
        "NETWORK": "an address or a network, such as 10.1.2.0/24 or fd00::/8",
        "NETWORK_WITHOUT_ZONE": "an address or a network without a zone (%eth0)",
    }
)


def plain_address(text: str) -> Address:
    """An address; an IPv4 address that is written as one of IPv6, `::ffff:10.1.2.3`, as IPv4.

    Raises:
        ValueError: it is not an address.
    """
    address = ip_address(text)
    return (isinstance(address, IPv6Address) and address.ipv4_mapped) or address


def bind_address(text: str) -> str:
    """An address to listen on.

    Raises:
        DetailError: it is not an address, or it is one with a zone.
    """
    try:
        address = plain_address(text.strip())
    except ValueError:
        raise DetailError(_EXPECTED("ADDRESS")) from None
    # Without its zone, the name of an interface, the kernel refuses a link-local address.
    if isinstance(address, IPv6Address) and (address.scope_id or address.is_link_local):
        raise DetailError(_EXPECTED("ADDRESS_WITHOUT_ZONE"))
    return str(address)


def network(text: str) -> Network:
    """A network; an address is a network of one.

    Raises:
        DetailError: it is not a network, or its address has a zone.
    """
    if "%" in text:
        raise DetailError(_EXPECTED("NETWORK_WITHOUT_ZONE"))
    try:
        parsed = ip_network(text.strip())
    except ValueError:
        raise DetailError(_EXPECTED("NETWORK")) from None
    if isinstance(parsed, IPv6Network) and parsed.subnet_of(_MAPPED):
        return IPv4Network((int(parsed.network_address) & 0xFFFFFFFF, parsed.prefixlen - 96))
    return parsed


def networks(text: str) -> tuple[Network, ...]:
    """The networks in a text, which commas separate.

    Raises:
        DetailError: one of them is not a network.
    """
    return tuple(network(word) for word in text.split(",") if word.strip())


def is_in(known: Iterable[Network], text: str) -> bool:
    """Whether a text is an address in one of the networks."""
    try:
        address = plain_address(text)
    except ValueError:
        return False
    return any(address in network for network in known)
