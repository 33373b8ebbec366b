"""The settings of workers."""

import pytest

from lsql_runner.config.jvm_options import jvm_options_for, memory_of_tasks
from lsql_runner.container.budget import budget, worker_budget
from lsql_runner.errors import LsqlError
from lsql_runner.jvm.workers import Workers
from tests.unit.config.environment import refused, settings

SECRET = "0123456789abcdef"


def test_without_a_secret_there_are_no_workers() -> None:
    assert settings().workers is None
    assert not settings(LSQL_WORKERS_MEMORY="1Gi").has_workers


def test_with_a_secret_workers_register_at_the_host() -> None:
    configuration = settings(LSQL_WORKERS_SECRET=SECRET, LSQL_WORKERS_HOST="processor")

    assert configuration.workers == Workers(host="processor", port=7077, secret=SECRET, encryption=True)


def test_a_host_requires_a_secret_but_says_that_there_are_workers() -> None:
    configuration = settings(LSQL_WORKERS_HOST="processor")

    assert configuration.has_workers
    configuration.check_workers()
    with pytest.raises(LsqlError) as caught:
        configuration.workers  # noqa: B018
    assert (caught.value.code, caught.value.params["name"]) == ("ENV_MISSING", "LSQL_WORKERS_SECRET")


def test_the_memory_of_tasks_is_that_of_the_smallest_worker_if_it_is_known() -> None:
    own = budget(4_096)
    small = settings(LSQL_WORKERS_SECRET=SECRET, LSQL_WORKERS_HOST="processor", LSQL_WORKERS_MEMORY="768Mi")
    unknown = settings(LSQL_WORKERS_SECRET=SECRET, LSQL_WORKERS_HOST="processor")

    assert memory_of_tasks(small, own) == worker_budget(768)
    assert memory_of_tasks(unknown, own) == own
    assert memory_of_tasks(settings(LSQL_WORKERS_MEMORY="768Mi"), own) == own  # of a processor without workers
    assert jvm_options_for(small, own).state_stores_mib == worker_budget(768).state_stores_mib
    assert jvm_options_for(small, own).heap_mib == own.heap_mib


def test_port_and_encryption_can_be_set() -> None:
    workers = settings(
        LSQL_WORKERS_SECRET=SECRET,
        LSQL_WORKERS_HOST="processor",
        LSQL_WORKERS_PORT="9000",
        LSQL_WORKERS_ENCRYPTION="false",
    ).workers

    assert workers is not None
    assert (workers.port, workers.encryption) == (9000, False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LSQL_WORKERS_SECRET", "short"),
        ("LSQL_WORKERS_HOST", "a host"),
        ("LSQL_WORKERS_HOST", "fd00::1"),
        ("LSQL_WORKERS_HOST", "host:7077"),
        ("LSQL_WORKERS_PORT", "65534"),
        ("LSQL_WORKERS_ENCRYPTION", "some"),
        ("LSQL_WORKERS_MEMORY", "much"),
        ("LSQL_WORKERS_THREADS", "1025"),
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
