"""Addresses of clients and networks of proxies, in IPv4, IPv6, and IPv4 as IPv6."""

import pytest

from lsql_runner.config.networks import is_in, network, networks, plain_address
from lsql_runner.errors import DetailError


@pytest.mark.parametrize(
    ("text", "plain"), [("::ffff:10.1.2.3", "10.1.2.3"), ("10.1.2.3", "10.1.2.3"), ("FD00::0:1", "fd00::1")]
)
def test_ipv4_as_ipv6_is_ipv4(text: str, plain: str) -> None:
    assert str(plain_address(text)) == plain


@pytest.mark.parametrize("proxies", ["10.1.0.0/16", "::ffff:10.1.0.0/112", "fd00::/8, 10.1.0.0/16"])
@pytest.mark.parametrize("address", ["10.1.2.3", "::ffff:10.1.2.3"])
def test_an_address_is_in_its_network_in_both_notations(proxies: str, address: str) -> None:
    assert is_in(networks(proxies), address)


@pytest.mark.parametrize("address", ["10.2.0.1", "::ffff:10.2.0.1", "fe80::1", "", "proxy"])
def test_other_addresses_are_not(address: str) -> None:
    assert not is_in(networks("10.1.0.0/16, fd00::/8"), address)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("10.0.0.1/24", "NETWORK"),
        ("proxy", "NETWORK"),
        ("[::1]", "NETWORK"),
        ("fe80::1%eth0", "NETWORK_WITHOUT_ZONE"),
    ],
)
def test_what_is_not_a_network_is_refused(text: str, code: str) -> None:
    with pytest.raises(DetailError) as caught:
        network(text)

    assert caught.value.reason.code == code
