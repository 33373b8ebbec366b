"""The settings of workers."""

import pytest

from lsql_runner.errors import LsqlError
from lsql_runner.jvm.workers import Workers
from tests.unit.config.environment import refused, settings

SECRET = "0123456789abcdef"


def test_without_a_secret_there_are_no_workers() -> None:
    assert settings().workers is None
    assert settings(LSQL_WORKERS_HOST="processor").workers is None


def test_with_a_secret_workers_register_at_the_host() -> None:
    found = settings(LSQL_WORKERS_SECRET=SECRET, LSQL_WORKERS_HOST="processor")

    assert found.workers == Workers(host="processor", port=7077, secret=SECRET, encryption=True)


def test_port_and_encryption_can_be_set() -> None:
    found = settings(
        LSQL_WORKERS_SECRET=SECRET,
        LSQL_WORKERS_HOST="processor",
        LSQL_WORKERS_PORT="9000",
        LSQL_WORKERS_ENCRYPTION="false",
    ).workers

    assert found is not None
    assert (found.port, found.encryption) == (9000, False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LSQL_WORKERS_SECRET", "short"),
        ("LSQL_WORKERS_HOST", "a host"),
        ("LSQL_WORKERS_HOST", "fd00::1"),
        ("LSQL_WORKERS_HOST", "host:7077"),
        ("LSQL_WORKERS_PORT", "65534"),
        ("LSQL_WORKERS_ENCRYPTION", "some"),
    ],
)
def test_invalid_values_are_refused(name: str, value: str) -> None:
    assert refused(**{name: value}).params["name"] == name


def test_an_error_does_not_show_the_secret() -> None:
    assert refused(LSQL_WORKERS_SECRET="tooshort").params["value"] == "***"


def test_a_worker_requires_a_secret() -> None:
    with pytest.raises(LsqlError) as caught:
        settings(LSQL_WORKERS_HOST="processor").of_worker  # noqa: B018

    assert (caught.value.code, caught.value.params["name"]) == ("ENV_MISSING", "LSQL_WORKERS_SECRET")


def test_a_secret_requires_a_host() -> None:
    with pytest.raises(LsqlError) as caught:
        settings(LSQL_WORKERS_SECRET=SECRET).workers  # noqa: B018

    assert (caught.value.code, caught.value.params["name"]) == ("ENV_MISSING", "LSQL_WORKERS_HOST")
