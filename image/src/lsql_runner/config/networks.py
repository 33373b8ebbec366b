"""Networks in settings, such as those of a reverse proxy's pods."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Network = IPv4Network | IPv6Network


def networks(text: str) -> tuple[Network, ...]:
    """The networks in a text, which commas separate; an address is a network of one.

    Raises:
        ValueError: one of them is not a network.
    """
    return tuple(ip_network(word.strip()) for word in text.split(",") if word.strip())


def is_in(known: Iterable[Network], text: str) -> bool:
    """Whether an address is in one of the networks. An IPv4 address may be written as one of IPv6."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return any(address in network for network in known)
