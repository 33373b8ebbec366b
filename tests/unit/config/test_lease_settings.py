"""The settings of a processor with a standby."""

import pytest

from lsql_runner.errors import LsqlError
from lsql_runner.lease.connection import SERVICE_ACCOUNT, LeaseConnection
from lsql_runner.start.dry_run import validate
from tests.unit.config.environment import SQL, refused, settings


def test_without_a_name_there_is_no_lease() -> None:
    assert settings().lease is None
    assert settings(LSQL_LEASE_SECONDS="10").lease is None


def test_the_lease_is_on_the_api_server_of_the_pod() -> None:
    configuration = settings(LSQL_LEASE="fleet/fast-vehicles")

    assert configuration.lease == LeaseConnection(namespace="fleet", name="fast-vehicles", credentials=SERVICE_ACCOUNT)
    assert (configuration.lease_seconds, configuration.lease_renew_seconds) == (3, 1.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LSQL_LEASE", "fast-vehicles"),
        ("LSQL_LEASE", "fleet/Fast"),
        ("LSQL_LEASE", "a/b/c"),
        ("LSQL_LEASE_SECONDS", "1"),
        ("LSQL_LEASE_RENEW_SECONDS", "0"),
        ("LSQL_LEASE_HOST", "fd00::1"),
    ],
)
def test_invalid_values_are_refused(name: str, value: str) -> None:
    assert refused(**{name: value}).params["name"] == name


def test_renewals_must_be_more_frequent_than_twice_in_a_lease() -> None:
    values = {"LSQL_LEASE": "fleet/fast-vehicles", "LSQL_LEASE_SECONDS": "4"}

    assert refused_lease(**values, LSQL_LEASE_RENEW_SECONDS="2") == "LSQL_LEASE_RENEW_SECONDS"
    assert settings(**values, LSQL_LEASE_RENEW_SECONDS="1.9").lease is not None


def test_a_lease_is_refused_with_workers() -> None:
    secret = {"LSQL_WORKERS_SECRET": "0123456789abcdef", "LSQL_WORKERS_HOST": "processor"}
    values = {"LSQL_LEASE": "fleet/fast-vehicles", **secret}

    assert refused_lease(**values) == "LSQL_LEASE"
    with pytest.raises(LsqlError) as caught:
        validate({"SQL": SQL, **values})
    assert (caught.value.code, caught.value.params["name"]) == ("ENV_INVALID", "LSQL_LEASE")


def test_the_state_of_processes_with_a_lease_may_be_at_a_uri() -> None:
    configuration = settings(LSQL_LEASE="fleet/fast-vehicles", LSQL_STATE_URI="s3a://states/fleet")

    assert configuration.lease is not None
    assert configuration.state_store is not None


def refused_lease(**values: str) -> object:
    """The name of the setting because of which there is no Lease."""
    configuration = settings(**values)
    with pytest.raises(LsqlError) as caught:
        configuration.lease  # noqa: B018
    assert caught.value.code == "ENV_INVALID"
    return caught.value.params["name"]
