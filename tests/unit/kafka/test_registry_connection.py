"""Addresses and certificates of a schema registry: which are valid, and that errors show no secrets."""

import pytest

from devkit.certificates import Authority
from lsql_runner.errors import LsqlError
from lsql_runner.kafka.registry_connection import RegistryConnection, RegistryTls, registry_urls, tls_context


def refused(tls: RegistryTls) -> LsqlError:
    with pytest.raises(LsqlError) as caught:
        tls_context(RegistryConnection(("https://registry",), tls=tls))
    return caught.value


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("http://registry:8081", ("http://registry:8081",)),
        ("https://registry/", ("https://registry",)),
        ("http://a:8080/apis/ccompat/v7 , http://b", ("http://a:8080/apis/ccompat/v7", "http://b")),
        ("http://[::1]:8081", ("http://[::1]:8081",)),
    ],
)
def test_addresses_have_a_scheme_a_host_and_an_optional_path(text: str, urls: tuple[str, ...]) -> None:
    assert registry_urls(text) == urls


@pytest.mark.parametrize(
    "text",
    [
        "registry:8081",
        "ftp://registry",
        "http://",
        "http://a,,http://b",
        "http://a:port",
        "http://a:99999",
        "http://a:0",
        "http://a/?b",
        "http://a/#b",
        "http://a b",
        "http://[::1",
    ],
)
def test_invalid_addresses_are_refused(text: str) -> None:
    with pytest.raises(LsqlError) as caught:
        registry_urls(text)

    assert (caught.value.code, caught.value.params["value"]) == ("ENV_INVALID", text)


def test_credentials_in_an_address_are_refused_and_not_shown() -> None:
    with pytest.raises(LsqlError) as caught:
        registry_urls("http://a,https://app:hush-hush@b")

    assert caught.value.code == "URL_WITH_CREDENTIALS"
    assert "hush-hush" not in str(caught.value)


def test_a_connection_does_not_show_its_secrets() -> None:
    secrets = RegistryTls(key="hush-hush", key_password="hush-hush")

    assert "hush-hush" not in repr(RegistryConnection(("https://b",), "app", "hush-hush", secrets))


@pytest.mark.parametrize("ca", ["no PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "ü"])
def test_an_authority_that_is_not_a_certificate_is_refused(ca: str) -> None:
    error = refused(RegistryTls(ca=ca))

    assert (error.code, error.params["name"]) == ("ENV_INVALID", "LSQL_SCHEMA_REGISTRY_CA")


def test_text_between_authorities_is_ignored() -> None:
    one, other = (Authority().certificate for _ in range(2))
    connection = RegistryConnection(("https://registry",), tls=RegistryTls(ca=f"# Raíz\n{one}\n# Größe\n{other}"))

    assert tls_context(connection).cert_store_stats()["x509_ca"] == 2


def test_a_certificate_needs_its_key_and_the_reverse() -> None:
    own = Authority().issue("runner.example")

    assert refused(RegistryTls(certificate=own.chain)).params["name"] == "LSQL_SCHEMA_REGISTRY_KEY"
    assert refused(RegistryTls(key=own.key)).params["name"] == "LSQL_SCHEMA_REGISTRY_CERTIFICATE"


def test_the_key_of_another_certificate_is_refused() -> None:
    one, other = (Authority().issue("runner.example") for _ in range(2))

    error = refused(RegistryTls(certificate=one.chain, key=other.key))

    assert (error.code, error.params["name"]) == ("ENV_INVALID", "LSQL_SCHEMA_REGISTRY_KEY")


@pytest.mark.parametrize("password", ["", "another"])
def test_a_key_with_a_wrong_password_is_refused(password: str) -> None:
    own = Authority().issue("runner.example")

    error = refused(RegistryTls("", own.chain, own.encrypted_key("right"), password))

    assert (error.code, error.params["name"]) == ("ENV_INVALID", "LSQL_SCHEMA_REGISTRY_KEY")
