"""Settings of sinks: addresses, credentials and certificates."""

from pathlib import Path

import pytest

from devkit.certificates import Authority
from lsql_runner.config.sink_connection import SinkConnection
from tests.unit.config.environment import refused, settings

AUTHORITY = Authority()


def test_the_variables_of_a_sink_give_its_connection(tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text("s3cret\n")

    configuration = settings(
        LSQL_SINK_ORDER_CACHE_URL="rediss://cache/2",
        LSQL_SINK_SHOP_URL=" jdbc:postgresql://db:5432/shop?sslmode=verify-full ",
        LSQL_SINK_SHOP_USER="runner",
        LSQL_SINK_SHOP_PASSWORD_FILE=str(secret),
    )

    assert configuration.sinks == (
        SinkConnection(name="order_cache", kind="redis", url="rediss://cache/2"),
        SinkConnection(
            name="shop",
            kind="postgresql",
            url="jdbc:postgresql://db:5432/shop?sslmode=verify-full",
            user="runner",
            password="s3cret",
        ),
    )
    assert configuration.files == (secret,)
    assert "s3cret" not in repr(configuration)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "db:5432",
        "jdbc:mysql://db/shop",
        "jdbc:postgresql:shop",
        "jdbc:postgresql://db",
        "jdbc:postgresql://runner:s3cret@db/shop",
        "jdbc:postgresql://db/shop?user=runner&password=s3cret",
        "jdbc:postgresql://db/shop?ssl=true&sslpassword=s3cret",
        "redis://runner:s3cret@cache",
        "redis://cache/zero",
    ],
)
def test_an_invalid_address_and_an_address_with_credentials_are_refused(url: str) -> None:
    error = refused(LSQL_SINK_SHOP_URL=url)

    assert error.code == ("URL_WITH_CREDENTIALS" if "s3cret" in url else "ENV_INVALID" if url else "ENV_MISSING")
    assert error.params["name"] == "LSQL_SINK_SHOP_URL"
    assert "s3cret" not in str(error)


@pytest.mark.parametrize(
    "url", ["redis://[fd00::1]:6379/1", "rediss://[::1]", "jdbc:postgresql://[fd00::1]:5432,[fd00::2]/shop"]
)
def test_the_server_of_a_sink_may_be_an_ipv6_address(url: str) -> None:
    assert settings(LSQL_SINK_SHOP_URL=url).sinks[0].url == url


def test_a_sink_may_have_certificates_with_which_its_server_is_verified(tmp_path: Path) -> None:
    ca = tmp_path / "ca.crt"
    ca.write_text(AUTHORITY.certificate)

    configuration = settings(
        LSQL_SINK_SHOP_URL="jdbc:postgresql://db/shop?sslmode=verify-full&ssl=true", LSQL_SINK_SHOP_CA_FILE=str(ca)
    )

    assert (configuration.sinks[0].ca, configuration.files) == (AUTHORITY.certificate.rstrip("\n"), (ca,))


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("redis://cache", "ENCRYPTED"),
        ("jdbc:postgresql://db/shop?sslmode=require", "VERIFIED"),
        ("jdbc:postgresql://db/shop?sslmode=verify-full&sslmode=disable", "VERIFIED"),
        ("jdbc:postgresql://db/shop?ssl=false", "VERIFIED"),
        ("jdbc:postgresql://db/shop?sslfactory=org.postgresql.ssl.NonValidatingFactory", "VERIFIED"),
    ],
)
def test_an_address_that_would_not_be_verified_is_refused_if_a_ca_is_set(url: str, code: str) -> None:
    error = refused(LSQL_SINK_SHOP_URL=url, LSQL_SINK_SHOP_CA=AUTHORITY.certificate)

    assert (error.code, error.params["name"]) == ("ENV_INVALID", "LSQL_SINK_SHOP_URL")
    assert getattr(error.params["expected"], "code", "") == code


@pytest.mark.parametrize("ca", ["nothing", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"])
def test_a_ca_that_is_no_certificate_is_refused(ca: str) -> None:
    error = refused(LSQL_SINK_SHOP_URL="rediss://cache", LSQL_SINK_SHOP_CA=ca)

    assert (error.code, error.params["name"], error.params["value"]) == ("ENV_INVALID", "LSQL_SINK_SHOP_CA", "***")


def test_a_password_without_an_address_is_refused() -> None:
    assert refused(LSQL_SINK_SHOP_PASSWORD="s3cret").code == "ENV_MISSING"


def test_an_unknown_variable_of_a_sink_is_refused() -> None:
    assert refused(LSQL_SINK_SHOP_TABLE="x").code == "ENV_UNKNOWN"
