"""Settings of the REST API: its address, its host names, and who may stop and start a processor."""

from pathlib import Path

import pytest

from lsql_runner.config.host_names import host_patterns
from lsql_runner.errors import LsqlError
from tests.unit.config.environment import refused, settings


@pytest.mark.parametrize(
    ("given", "address"),
    [("127.0.0.1", "127.0.0.1"), ("0::1", "::1"), (" :: ", "::"), ("::ffff:10.1.2.3", "10.1.2.3")],
)
def test_the_api_can_listen_on_one_address(given: str, address: str) -> None:
    assert settings(LSQL_BIND_ADDRESS=given).bind_address == address


def test_the_api_listens_on_all_addresses_by_default() -> None:
    assert settings().bind_address == "::"


@pytest.mark.parametrize("address", ["fe80::1%eth0", "fe80::1", "::1%lo"])
def test_an_address_to_listen_on_has_no_zone(address: str) -> None:
    assert getattr(refused(LSQL_BIND_ADDRESS=address).params["expected"], "code", "") == "ADDRESS_WITHOUT_ZONE"


@pytest.mark.parametrize(
    ("hosts", "code"),
    [
        ("https://p.example:8443/page", "NAME_NOT_URL"),
        ("p.example/page", "NAME_NOT_URL"),
        ("p.example:8083", "NAME_NOT_PORT"),
        ("p.example,-x", "NAME"),
        ("p..example", "NAME"),
        ("a.*.example", "NAME"),
        ("*example", "NAME"),
        ("[::1]", "NAME"),
        ("bücher.example", "NAME"),
    ],
)
def test_what_is_not_a_host_name_is_refused(hosts: str, code: str) -> None:
    expected = refused(LSQL_ALLOWED_HOSTS=hosts).params["expected"]

    assert getattr(expected, "code", "") == code
    if code != "NAME":
        assert "so p.example instead of" in str(expected)


def test_host_names_are_in_lower_case() -> None:
    assert host_patterns(settings(LSQL_ALLOWED_HOSTS="P.Example., *.q.example ,my_host,*").allowed_hosts) == (
        "p.example",
        "*.q.example",
        "my_host",
        "*",
    )


@pytest.mark.parametrize(
    ("environment", "mode"),
    [
        ({}, "none"),
        ({"LSQL_API_TOKEN": "0123456789abcdef"}, "token"),
        ({"LSQL_API_TOKEN": "0123456789abcdef", "LSQL_API_ACTIONS": "none"}, "none"),
        ({"LSQL_API_TOKEN": "0123456789abcdef", "LSQL_API_ACTIONS": "open"}, "open"),
        ({"LSQL_API_ACTIONS": "open"}, "open"),
    ],
)
def test_nobody_may_act_without_a_token_unless_actions_are_open(environment: dict[str, str], mode: str) -> None:
    assert settings(**environment).actions_mode == mode


def test_the_mode_token_requires_a_token() -> None:
    with pytest.raises(LsqlError) as caught:
        settings(LSQL_API_ACTIONS="token").actions_mode  # noqa: B018

    assert (caught.value.code, caught.value.params["name"]) == ("ENV_MISSING", "LSQL_API_TOKEN")


def test_a_token_may_be_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("0123456789abcdef\n")

    configuration = settings(LSQL_API_TOKEN_FILE=str(file))

    assert (configuration.api_token, configuration.files) == ("0123456789abcdef", (file,))


@pytest.mark.parametrize("token", ["short-token-123", "0123456789 abcdef", "0123456789abcdéf"])
def test_a_weak_or_invalid_token_is_refused_and_not_shown(token: str) -> None:
    error = refused(LSQL_API_TOKEN=token)

    assert (error.code, error.params["name"], error.params["value"]) == ("ENV_INVALID", "LSQL_API_TOKEN", "***")
